//! The names of hosts, for programs.
//!
//! A lab has no name server. A program that asks the machine's own would send packets into the network that lead
//! nowhere, and wait for seconds: Python's `http.server` looks up its own address before it listens.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use nix::mount::{MsFlags, mount};

/// Nobody listens there, so whoever asks knows at once.
const NO_SERVER: &str = "nameserver 127.0.0.1\n";

/// Let programs find each host by its name, and nothing else: over `/etc/hosts` and `/etc/resolv.conf` lie files of the
/// sandbox's `/run`. A machine without such a file has no server to ask, either; one that refuses the mount keeps its own.
pub(crate) fn publish<'a>(hosts: impl Iterator<Item = (IpAddr, &'a str)>) {
    let mut names = "127.0.0.1 localhost\n".to_owned();
    for (address, name) in hosts {
        names += &format!("{address} {name}\n");
    }
    for (text, own, machines) in
        [(names.as_str(), "/run/hosts", "/etc/hosts"), (NO_SERVER, "/run/resolv.conf", "/etc/resolv.conf")]
    {
        if Path::new(machines).exists() && fs::write(own, text).is_ok() {
            let _ = mount(Some(own), machines, None::<&str>, MsFlags::MS_BIND, None::<&str>);
        }
    }
}
