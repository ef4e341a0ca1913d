use plan::Link;
use rustc_hash::FxHashMap;

use crate::Port;

/// Where the links of a plan begin and end among the ports. Large networks have thousands of both.
pub(crate) struct Ports<'a> {
    /// By host and interface.
    places: FxHashMap<(&'a str, &'a str), usize>,
    /// The first of each host.
    first: FxHashMap<&'a str, usize>,
}

impl<'a> Ports<'a> {
    pub(crate) fn new(ports: &'a [Port]) -> Ports<'a> {
        let mut found = Ports { places: FxHashMap::default(), first: FxHashMap::default() };
        for (index, port) in ports.iter().enumerate() {
            found.places.insert((&*port.host, &*port.interface), index);
            found.first.entry(&*port.host).or_insert(index);
        }
        found
    }

    /// The place of the port that sends into the link; none if that is a switch.
    pub(crate) fn at_the_start_of(&self, link: &Link) -> Option<usize> {
        self.at(&link.from, link.from_interface.as_deref())
    }

    /// The place of the port that the link delivers to; none if that is a switch.
    pub(crate) fn at_the_end_of(&self, link: &Link) -> Option<usize> {
        self.at(&link.to, link.to_interface.as_deref())
    }

    /// The first port of a host.
    pub(crate) fn of_host(&self, host: &str) -> Option<usize> {
        self.at(host, None)
    }

    fn at(&self, host: &str, interface: Option<&str>) -> Option<usize> {
        match interface {
            Some(interface) => self.places.get(&(host, interface)).copied(),
            None => self.first.get(host).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_at_interfaces_or_at_the_only_one_of_a_host() {
        let port = |host: &str, interface: &str| Port {
            host: host.into(),
            interface: interface.into(),
            mac: [0; 6],
            gateway_mac: None,
            ifindex: 1,
        };
        let all = [port("h1", "eth0"), port("r1", "eth0"), port("r1", "eth1")];
        let ports = Ports::new(&all);
        let mut link = Link { to_interface: Some("eth1".into()), ..Link::transparent("a", "h1", "r1") };
        assert_eq!((ports.at_the_start_of(&link), ports.at_the_end_of(&link)), (Some(0), Some(2)));
        link.to = "s1".into();
        link.to_interface = None;
        assert_eq!(ports.at_the_end_of(&link), None);
        assert_eq!(ports.of_host("r1"), Some(1));
    }
}
