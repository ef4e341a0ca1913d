use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Ip, Mtu};

/// A place where packets start, end or change links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Node {
    /// Runs flows; has an address.
    Host {
        /// Unique among nodes; at most 15 characters.
        name: String,
        /// Unique among hosts. Flows go there; in a lab network one of its interfaces has it.
        address: Ipv4Addr,
        /// Namespaced sysctls, e.g. `net.ipv4.tcp_rmem`.
        sysctl: BTreeMap<String, String>,
        /// Its interfaces in a lab network; none in a core network.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        interfaces: Vec<Interface>,
        /// Its routes in a lab network, beside those to its interfaces' subnets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        routes: Vec<Route>,
        /// Directories of its own, empty at the start, in place of the machine's; only in a lab network.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        private: Vec<String>,
        /// The numbers of the CPUs on which its programs run; none: on all. Only in a lab network.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        cpus: Vec<u16>,
        /// The share of one CPU that its programs get together, in millionths; `None`: all that the machine gives. Only in a
        /// lab network.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu_ppm: Option<u32>,
    },
    /// Forwards, instantly: in a core network by the plan's paths; in a lab network as a bridge that learns.
    Switch {
        /// Unique among nodes.
        name: String,
    },
    /// A bridge of a kernel: it forwards frames as a switch does, with a spanning tree and VLANs of its own; only in a lab
    /// network.
    Bridge {
        /// Unique among nodes; at most 15 characters.
        name: String,
        /// Its ports, which have no addresses. The first one's MAC address is the bridge's own.
        interfaces: Vec<Interface>,
        /// `None`: it takes no part in a spanning tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stp: Option<Stp>,
    },
    /// Forwards IP packets, as its kernel does; only in a lab network.
    Router {
        /// Unique among nodes; at most 15 characters.
        name: String,
        /// Its router id. Its loopback interface has it, unless another of its interfaces does.
        address: Ipv4Addr,
        /// Namespaced sysctls, e.g. `net.ipv4.fib_multipath_hash_policy`.
        sysctl: BTreeMap<String, String>,
        /// Its interfaces.
        interfaces: Vec<Interface>,
        /// Its routes, beside those to its interfaces' subnets and those that its daemons find.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        routes: Vec<Route>,
        /// Directories of its own, empty at the start, in place of the machine's; only in a lab network.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        private: Vec<String>,
        /// The numbers of the CPUs on which its programs run; none: on all. Only in a lab network.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("default" = Vec::<u8>::new()))]
        cpus: Vec<u16>,
        /// The share of one CPU that its programs get together, in millionths; `None`: all that the machine gives. Only in a
        /// lab network.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cpu_ppm: Option<u32>,
        /// Its routing daemons; `None`: it has `routes` alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        routing: Option<Routing>,
        /// True if it leads to the machine's network, with address translation; only in a lab that stays.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nat: bool,
    },
}

/// An interface of a node in a lab network: an end of a cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// E.g. `eth0`: unique in its node; at most 15 characters.
    pub name: String,
    /// Unique among all interfaces, e.g. `02:db:00:01:00:00`.
    pub mac: Mac,
    /// The most bytes of an IP packet; `None`: the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Mtu>,
    /// Addresses with the lengths of their subnets' prefixes, e.g. `10.0.0.1/24`, `fd00::1/64`.
    #[schemars(with = "Vec<String>")]
    pub addresses: Vec<IpNet>,
    /// The VLANs of a bridge's port; `None`: the bridge looks at no tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlans: Option<Vlans>,
}

/// The VLANs of a bridge's port (IEEE 802.1Q), each by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vlans {
    /// VLAN of untagged frames, in both directions; `None`: they are dropped.
    pub untagged: Option<u16>,
    /// Tagged VLANs.
    pub tagged: Vec<u16>,
}

impl Vlans {
    /// The largest number (IEEE 802.1Q table 9-2).
    pub const LARGEST: u16 = 4094;

    /// All, the one without tags first.
    pub fn all(&self) -> impl Iterator<Item = u16> {
        self.untagged.into_iter().chain(self.tagged.iter().copied())
    }
}

/// A bridge's part in the spanning tree (IEEE 802.1D-1998), as Linux has it. The costs of its ports are those of the links
/// that leave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stp {
    /// The bridge with the least becomes the root; of equal ones that with the least MAC address.
    pub priority: u16,
    /// From one message of the root to the next.
    pub hello_ns: Duration,
    /// The time for which a port listens, and then that for which it learns, before it forwards.
    pub forward_delay_ns: Duration,
    /// A neighbour that is silent for longer is gone.
    pub max_age_ns: Duration,
}

/// A route of a node in a lab network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The destination's prefix, e.g. `0.0.0.0/0`.
    #[schemars(with = "String")]
    pub to: IpNet,
    /// The next hops, each in a subnet of the node's interfaces. Several share the traffic (ECMP).
    pub via: Vec<IpAddr>,
}

/// The routing daemons of a router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Routing {
    /// The text of `frr.conf`.
    pub config: String,
    /// The daemons beside `zebra`, e.g. `bgpd`.
    pub daemons: Vec<String>,
    /// The prefixes that the kernel's table must hold before routing counts as converged.
    #[schemars(with = "Vec<String>")]
    pub expect: Vec<IpNet>,
}

/// The source of the MAC addresses of a lab network's neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Neighbours {
    /// Permanent entries for all addresses of the same broadcast domain.
    #[default]
    Filled,
    /// ARP (RFC 826) and neighbour discovery (RFC 4861).
    Real,
}

impl Neighbours {
    /// True if it is the default.
    pub fn is_default(&self) -> bool {
        *self == Neighbours::default()
    }
}

/// A wait for routing to converge, before time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// The run fails if it takes longer.
    pub limit_ns: Duration,
}

impl Node {
    /// The node's name.
    pub fn name(&self) -> &str {
        match self {
            Node::Host { name, .. } | Node::Switch { name } | Node::Bridge { name, .. } | Node::Router { name, .. } => {
                name
            }
        }
    }

    /// The address of a host, or a router's id.
    pub fn address(&self) -> Option<Ipv4Addr> {
        match self {
            Node::Host { address, .. } | Node::Router { address, .. } => Some(*address),
            Node::Switch { .. } | Node::Bridge { .. } => None,
        }
    }

    /// The address of a host to which flows of a version of IP go: in IPv6 the first one of the interface that has its
    /// [`address`](Node::address), so that both versions take the same path, or else of any interface.
    pub fn address_of(&self, ip: Ip) -> Option<IpAddr> {
        let address = IpAddr::V4(self.address()?);
        if ip == Ip::V4 {
            return Some(address);
        }
        let (first, others): (Vec<_>, Vec<_>) =
            self.interfaces().iter().partition(|one| one.addresses.iter().any(|own| own.addr() == address));
        let all = first.into_iter().chain(others).flat_map(|interface| &interface.addresses);
        all.map(IpNet::addr).find(IpAddr::is_ipv6)
    }

    /// Its interfaces in a lab network.
    pub fn interfaces(&self) -> &[Interface] {
        match self {
            Node::Host { interfaces, .. } | Node::Bridge { interfaces, .. } | Node::Router { interfaces, .. } => {
                interfaces
            }
            Node::Switch { .. } => &[],
        }
    }

    /// Its routes in a lab network.
    pub fn routes(&self) -> &[Route] {
        match self {
            Node::Host { routes, .. } | Node::Router { routes, .. } => routes,
            Node::Switch { .. } | Node::Bridge { .. } => &[],
        }
    }

    /// Its own directories.
    pub fn private(&self) -> &[String] {
        match self {
            Node::Host { private, .. } | Node::Router { private, .. } => private,
            Node::Switch { .. } | Node::Bridge { .. } => &[],
        }
    }

    /// The CPUs on which its programs run; none: on all.
    pub fn cpus(&self) -> &[u16] {
        match self {
            Node::Host { cpus, .. } | Node::Router { cpus, .. } => cpus,
            Node::Switch { .. } | Node::Bridge { .. } => &[],
        }
    }

    /// The share of one CPU that its programs get, in millionths; `None`: all that the machine gives.
    pub fn cpu_ppm(&self) -> Option<u32> {
        match self {
            Node::Host { cpu_ppm, .. } | Node::Router { cpu_ppm, .. } => *cpu_ppm,
            Node::Switch { .. } | Node::Bridge { .. } => None,
        }
    }

    /// Namespaced sysctls by name; none of a switch or a bridge.
    pub fn sysctl(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        match self {
            Node::Host { sysctl, .. } | Node::Router { sysctl, .. } => sysctl,
            Node::Switch { .. } | Node::Bridge { .. } => &NONE,
        }
    }

    /// True for a host.
    pub fn is_host(&self) -> bool {
        matches!(self, Node::Host { .. })
    }

    /// True for a switch that is no bridge of a kernel.
    pub fn is_switch(&self) -> bool {
        matches!(self, Node::Switch { .. })
    }

    /// True for a bridge of a kernel.
    pub fn is_bridge(&self) -> bool {
        matches!(self, Node::Bridge { .. })
    }

    /// Its part in the spanning tree, if it has one.
    pub fn stp(&self) -> Option<Stp> {
        if let Node::Bridge { stp, .. } = self { *stp } else { None }
    }

    /// True for the router that leads to the machine's network.
    pub fn has_nat(&self) -> bool {
        matches!(self, Node::Router { nat: true, .. })
    }

    /// True for a router.
    pub fn is_router(&self) -> bool {
        matches!(self, Node::Router { .. })
    }
}

/// A MAC address; as text six bytes in hexadecimal with colons between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(try_from = "String", into = "String")]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// False for a group's address: multicast or broadcast.
    pub fn is_unicast(self) -> bool {
        self.0[0] & 1 == 0
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> String {
        mac.to_string()
    }
}

impl TryFrom<String> for Mac {
    type Error = String;
    fn try_from(text: String) -> Result<Mac, String> {
        let is_byte = |digits: &str| digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = |digits: &str| is_byte(digits).then(|| u8::from_str_radix(digits, 16).ok()).flatten();
        let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
        let mac = bytes.and_then(|bytes| bytes.try_into().ok()).map(Mac);
        mac.ok_or_else(|| format!("{text:?} is not a MAC address: six bytes such as 02:db:00:01:00:00"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_address_is_six_bytes() {
        let mac: Mac = serde_json::from_str("\"02:DB:00:01:00:ff\"").unwrap();
        assert_eq!((mac, mac.to_string().as_str()), (Mac([2, 0xdb, 0, 1, 0, 255]), "02:db:00:01:00:ff"));
        assert!(mac.is_unicast() && !Mac([0xff; 6]).is_unicast());
        for text in [
            "",
            "02:db:00:01:00",
            "02:db:00:01:00:ff:00",
            "02:db:00:01:00:fg",
            "2:db:00:01:00:0ff",
            "+1:00:00:00:00:00",
        ] {
            assert!(Mac::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
