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

/// The sandbox's file of names.
const HOSTS: &str = "/run/hosts";

/// Let programs find each host by its name, and other names by the name server, if there is one: over `/etc/hosts` and `/etc/resolv.conf` lie files of the
/// sandbox's `/run`. A machine without such a file has no server to ask, either; one that refuses the mount keeps its own.
pub(crate) fn publish<'a>(hosts: impl Iterator<Item = (IpAddr, &'a str)>, server: Option<IpAddr>) {
    let names = listed(hosts);
    let server = format!("nameserver {}\n", server.unwrap_or(NO_SERVER));
    for (text, own, machines) in [(names, HOSTS, "/etc/hosts"), (server, "/run/resolv.conf", "/etc/resolv.conf")] {
        if Path::new(machines).exists() && fs::write(own, text).is_ok() {
            let _ = mount(Some(own), machines, None::<&str>, MsFlags::MS_BIND, None::<&str>);
        }
    }
}

/// Let programs find these hosts from now on. All nodes see the same file.
pub(crate) fn renew<'a>(hosts: impl Iterator<Item = (IpAddr, &'a str)>) {
    // Where there is none, publishing it has failed before, and names are not known.
    if Path::new(HOSTS).exists() {
        let _ = fs::write(HOSTS, listed(hosts));
    }
}

fn listed<'a>(hosts: impl Iterator<Item = (IpAddr, &'a str)>) -> String {
    let own = std::iter::once("127.0.0.1 localhost\n".to_owned());
    own.chain(hosts.map(|(address, name)| format!("{address} {name}\n"))).collect()
}
