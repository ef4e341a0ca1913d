use std::net::Ipv4Addr;

use ipnet::{IpNet, Ipv4Net};

use crate::{Node, Plan};

/// The way of a lab network to the machine's network: an interface of a router, behind which a user-mode network stack
/// translates addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The router's index.
    pub router: usize,
    /// The subnet of the router's interface: shared address space (RFC 6598) that the lab network does not use.
    pub subnet: Ipv4Net,
}

impl Outside {
    /// The name of the router's interface.
    pub const INTERFACE: &str = "nat0";
    /// The destination of the route to it.
    pub const EVERYWHERE: IpNet = IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0));

    /// The next hop of the router.
    pub fn gateway(&self) -> Ipv4Addr {
        self.address(2)
    }

    /// The address at which a name server answers, for the machine's own.
    pub fn name_server(&self) -> Ipv4Addr {
        self.address(3)
    }

    /// The address of the router's interface.
    pub fn own(&self) -> Ipv4Addr {
        self.address(100)
    }

    /// The places of addresses in the subnet are those of slirp4netns.
    fn address(&self, place: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.subnet.network()) + place)
    }
}

impl Plan {
    /// The way to the machine's network; none if no router leads there.
    pub fn outside(&self) -> Option<Outside> {
        let router = self.nodes.iter().position(Node::has_nat)?;
        let all = Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10);
        let used = |subnet: &Ipv4Net| {
            let own = self.nodes.iter().flat_map(Node::interfaces).flat_map(|interface| &interface.addresses);
            own.chain(&self.anycast).any(|net| match net {
                IpNet::V4(net) => subnet.contains(&net.trunc()) || net.trunc().contains(subnet),
                IpNet::V6(_) => false,
            })
        };
        let subnet = all.subnets(24).expect("24 is longer than 10").find(|subnet| !used(subnet))?;
        Some(Outside { router, subnet })
    }
}
