//! The interface of a router that leads to the machine's network.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result};
use ipnet::{IpNet, Ipv4Net};
use messages::Failure;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use plan::{Outside, Plan};

use crate::host::{self, ETH0, Role};
use crate::netlink::{Batch, Netlink};
use crate::sysctl::Sysctls;
use crate::{Lab, requests};

/// The most bytes of an IP packet at the interface, as outside of most labs.
const MTU: u32 = 1500;

impl Lab {
    /// Gives the router that leads to the machine's network an interface, up and with the default route, and returns a
    /// socket at the other end of its veth pair: whoever holds it reads and writes Ethernet frames there. `None`: the plan
    /// has no such router.
    ///
    /// # Errors
    /// The kernel refuses a request.
    pub fn open_outside(&self, plan: &Plan) -> Result<Option<OwnedFd>> {
        let Some(outside) = plan.outside() else { return Ok(None) };
        let name = plan.nodes[outside.router].name();
        let index = self.hosts().iter().position(|host| host.name == name).context("a router is a node of the lab")?;
        let router = &self.hosts()[index];
        let ports = self.hosts().iter().map(|host| host.interfaces.len()).sum();
        let (ifindex, core_ifindex) = (ETH0 + router.interfaces.len() as i32, host::core_ifindex(ports));
        let end =
            |ifindex, role| requests::End { ifindex, name: Outside::INTERFACE, mac: host::mac(role, ports), mtu: MTU };
        let pair =
            requests::new_veth(&end(core_ifindex, Role::Core), &end(ifindex, Role::Host), router.netns.as_raw_fd());
        let mut core = Netlink::open()?;
        let mut batch = Batch::default();
        batch.push(format!("creating {} of {name}", Outside::INTERFACE), pair, NLM_F_CREATE | NLM_F_EXCL);
        core.execute(batch)?;
        // The carrier of frames neither fills in checksums nor cuts segments.
        self.features.switch_offloads_off(&core, Outside::INTERFACE)?;
        let socket = packet_socket(core_ifindex)
            .map_err(|why| Failure::new(format!("opening a packet socket at {} of {name}", Outside::INTERFACE), why))?;
        self.in_host(index, || {
            self.features.switch_offloads_off(&Netlink::open()?, Outside::INTERFACE)?;
            configure(&outside, ifindex)
        })?;
        Ok(Some(socket))
    }
}

/// Brings the interface up in the calling thread's network namespace.
fn configure(outside: &Outside, ifindex: i32) -> Result<()> {
    let mut sysctls = Sysctls::default();
    // The network stack at the other end asks by ARP for each address behind the router.
    sysctls.set(&format!("net.ipv4.conf.{}.proxy_arp", Outside::INTERFACE), "1")?;
    sysctls.set(&format!("net.ipv4.conf.{}.rp_filter", Outside::INTERFACE), "0")?;
    let new = NLM_F_CREATE | NLM_F_EXCL;
    let mut batch = Batch::default();
    batch.push(format!("bringing {} up", Outside::INTERFACE), requests::set_up(ifindex), 0);
    let own = Ipv4Net::new(outside.own(), outside.subnet.prefix_len()).context("an address of its subnet")?;
    batch.push(format!("adding {own} to {}", Outside::INTERFACE), requests::new_address(ifindex, IpNet::V4(own)), new);
    let way = [(IpAddr::V4(outside.gateway()), ifindex)];
    batch.push("adding the default route", requests::new_route(Outside::EVERYWHERE, &way), new);
    Netlink::open()?.execute(batch)
}

/// A socket for the frames that come to one interface, and not for those that leave by it.
fn packet_socket(ifindex: i32) -> io::Result<OwnedFd> {
    let checked = |code: libc::c_int| if code < 0 { Err(io::Error::last_os_error()) } else { Ok(code) };
    let on: libc::c_int = 1;
    // SAFETY: structures of numbers, whose sizes the calls get. Without a protocol it hears nothing before it is bound.
    unsafe {
        let socket = checked(libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0))?;
        let socket = OwnedFd::from_raw_fd(socket);
        checked(libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_IGNORE_OUTGOING,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        ))?;
        let mut place: libc::sockaddr_ll = std::mem::zeroed();
        place.sll_family = libc::AF_PACKET as u16;
        place.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        place.sll_ifindex = ifindex;
        let length = size_of_val(&place) as libc::socklen_t;
        checked(libc::bind(socket.as_raw_fd(), (&raw const place).cast(), length))?;
        Ok(socket)
    }
}
