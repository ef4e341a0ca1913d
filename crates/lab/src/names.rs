//! The names of hosts, for programs.
//!
//! A lab has no name server, unless it reaches the machine's network. A program that asks the machine's own would send
//! packets into the network that lead nowhere, and wait for seconds: Python's `http.server` looks up its own address before
//! it listens.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use nix::mount::{MsFlags, mount};

/// Nobody listens there, so whoever asks knows at once.
const NO_SERVER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Let programs find each host by its name, and other names by the name server, if there is one: over `/etc/hosts` and `/etc/resolv.conf` lie files of the
/// sandbox's `/run`. A machine without such a file has no server to ask, either; one that refuses the mount keeps its own.
pub(crate) fn publish<'a>(hosts: impl Iterator<Item = (IpAddr, &'a str)>, server: Option<IpAddr>) {
    let mut names = "127.0.0.1 localhost\n".to_owned();
    for (address, name) in hosts {
        names += &format!("{address} {name}\n");
    }
    let server = format!("nameserver {}\n", server.unwrap_or(NO_SERVER));
    for (text, own, machines) in [(names, "/run/hosts", "/etc/hosts"), (server, "/run/resolv.conf", "/etc/resolv.conf")]
    {
        if Path::new(machines).exists() && fs::write(own, text).is_ok() {
            let _ = mount(Some(own), machines, None::<&str>, MsFlags::MS_BIND, None::<&str>);
        }
    }
}
