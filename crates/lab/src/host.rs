//! A host of the lab: what is asked for, and what there is.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

/// A host to build.
#[derive(Clone, Debug)]
pub struct HostSpec {
    /// Also the name of its namespace and of its interface's core end: at most 15 characters.
    pub name: String,
    /// On `eth0`, as a /32.
    pub address: Ipv4Addr,
    /// Namespaced sysctls by name, e.g. `net.ipv4.tcp_rmem`.
    pub sysctl: BTreeMap<String, String>,
    /// Of `eth0`, in bytes of IP packet.
    pub mtu: u32,
}

impl HostSpec {
    /// A host with an MTU of 1500 bytes and the kernel's sysctls.
    pub fn new(name: impl Into<String>, address: Ipv4Addr) -> HostSpec {
        HostSpec { name: name.into(), address, sysctl: BTreeMap::new(), mtu: 1500 }
    }
}

/// A host of a running lab.
#[derive(Debug)]
pub struct Host {
    /// As specified; `ip netns exec NAME` works inside the sandbox.
    pub name: String,
    /// On `eth0`.
    pub address: Ipv4Addr,
    /// Of `eth0`. Frames for the host carry it as their destination.
    pub mac: [u8; 6],
    /// Where the host sends every frame; no interface has it. So the core's IP layer takes no notice of frames that
    /// packet sockets see.
    pub gateway_mac: [u8; 6],
    /// Index in the core's namespace of the veth end that leads to this host.
    pub core_ifindex: i32,
    /// The host's network namespace, for `setns`.
    pub netns: OwnedFd,
}
