//! A host of the lab: its specification, and the running host.

use std::collections::HashSet;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Result;
use ipnet::IpNet;
use messages::Failure;

use crate::{Doors, Own};

/// A host, a router or a bridge of a running lab.
#[derive(Debug)]
pub struct Host {
    /// The specified name; `ip netns exec NAME` works inside the sandbox.
    pub name: String,
    /// The address to which flows go; a router's id; none of a bridge.
    pub address: Option<Ipv4Addr>,
    /// Its interfaces beside `lo`; in a core network `eth0` alone.
    pub interfaces: Vec<Interface>,
    /// The host's network namespace, for `setns`.
    pub netns: OwnedFd,
    /// Its mounts and its hostname.
    pub own: Own,
    /// The CPUs on which its programs run; none: on all.
    pub cpus: Vec<u16>,
    /// The door to the control group of its programs, if they have a share of a CPU.
    pub share: Option<File>,
}

impl Host {
    /// The way in.
    pub fn doors(&self) -> Doors<'_> {
        Doors::new(self.netns.as_fd(), &self.own).on(&self.cpus).within(self.share.as_ref())
    }
}

/// An interface of a running lab.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name in its host.
    pub name: String,
    /// Its MAC address. Frames for the host carry it as their destination.
    pub mac: [u8; 6],
    /// MAC address to which a core network's host sends every frame; no interface has it. The core's IP layer therefore
    /// ignores frames that packet sockets see. `None` in a lab network: frames go to their neighbours.
    pub gateway_mac: Option<[u8; 6]>,
    /// Index in the host's namespace.
    pub(crate) ifindex: i32,
    /// Index in the core's namespace of the veth end that leads to this interface.
    pub core_ifindex: i32,
    /// The name of that end.
    pub(crate) core_name: String,
}

/// The next hop of every host: link-local, so it cannot be a host's address. No interface has it.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);

/// The index of `eth0` in every host. An interface and its peer have different indices: for equal ones the kernel may
/// take a second to notice that the link is up (linkwatch_urgent_event).
pub(crate) const ETH0: i32 = 1000;

/// The index of host `index`'s core end; above those that the kernel gives to tunnel devices of a new namespace.
pub(crate) fn core_ifindex(index: usize) -> i32 {
    ETH0 + 1 + index as i32
}

/// The three MAC addresses around a host, and those of the kernel's links.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Host = 1,
    Core = 2,
    Gateway = 3,
    Part = 4,
}

/// Locally administered, and the same in every run.
pub(crate) fn mac(role: Role, index: usize) -> [u8; 6] {
    let [.., high, middle, low] = (index as u32).to_be_bytes();
    [0x02, 0xdb, role as u8, high, middle, low]
}

/// Refuses names and addresses that the kernel would refuse later or, worse, interpret differently. Nodes share an address
/// only if it is in one of the subnets `anycast`.
pub(crate) fn check<'a>(nodes: impl Iterator<Item = (&'a str, Ipv4Addr)>, anycast: &[IpNet]) -> Result<()> {
    let (mut names, mut addresses) = (HashSet::new(), HashSet::new());
    for (name, address) in nodes {
        let refuse = |why: &str, hint: &str| Err(Failure::new(format!("host {name:?}"), why).hint(hint).into());
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if name.is_empty() || name.len() > 15 || !name.chars().all(plain) {
            return refuse("not a name of an interface", "use 1 to 15 letters, digits, `.`, `_` or `-`");
        }
        if [".", "..", "lo", "all", "default"].contains(&name) {
            return refuse("the kernel uses this name itself", "choose another name");
        }
        if !names.insert(name) {
            return refuse("two hosts have this name", "names are unique");
        }
        if address.is_unspecified()
            || address.is_loopback()
            || address.is_multicast()
            || address.is_broadcast()
            || address == GATEWAY
        {
            return refuse(&format!("{address} cannot be a host's address"), "use a private address, e.g. 10.0.0.1");
        }
        let is_shared = anycast.iter().any(|subnet| subnet.contains(&IpAddr::V4(address)));
        if !addresses.insert(address) && !is_shared {
            return refuse(&format!("another host has the address {address}"), "addresses are unique");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(hosts: &[(&str, Ipv4Addr)]) -> String {
        check(hosts.iter().copied(), &[]).expect_err("should be refused").to_string()
    }

    #[test]
    fn macs_are_local_unicast_and_distinct() {
        let macs: HashSet<_> = [Role::Host, Role::Core, Role::Gateway]
            .into_iter()
            .flat_map(|role| [0, 1, 255, 256, 70_000].map(|index| mac(role, index)))
            .collect();
        assert_eq!(macs.len(), 15);
        assert!(macs.iter().all(|mac| mac[0] & 3 == 2));
    }

    #[test]
    fn impossible_hosts_are_refused() {
        let host = |name: &'static str, last| (name, Ipv4Addr::new(10, 0, 0, last));
        assert!(check([host("s1", 1), host("r1", 2)].into_iter(), &[]).is_ok());
        assert!(refusal(&[host("a-name-too-long!", 1)]).contains("1 to 15 letters"));
        assert!(refusal(&[host("a/b", 1)]).contains("not a name of an interface"));
        assert!(refusal(&[host("all", 1)]).contains("uses this name itself"));
        assert!(refusal(&[host("s1", 1), host("s1", 2)]).contains("two hosts have this name"));
        assert!(refusal(&[("s1", GATEWAY)]).contains("cannot be a host's address"));
        let twice = [host("s1", 1), host("s2", 1)];
        assert!(refusal(&twice).contains("another host has the address 10.0.0.1"));
        assert!(check(twice.into_iter(), &["10.0.0.0/30".parse().expect("a subnet")]).is_ok());
    }
}
