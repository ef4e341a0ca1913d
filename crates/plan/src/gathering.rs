//! The fewest routes that send packets as many routes do.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The fewest routes that lead every address where `routes` lead it, by the longest prefix, and no other address
/// anywhere. Next hops are numbers. A node's `own` addresses never need a route: larger prefixes may cover them.
///
/// This is the Optimal Routing Table Constructor (Draves, King, Venkatachary, Zill: "Constructing Optimal IP Routing
/// Tables", INFOCOM 1999), but that no route covers an address that had none.
pub(crate) fn gathered(routes: &[(IpNet, u32)], own: &[IpNet]) -> Vec<(IpNet, u32)> {
    let mut kept = Vec::new();
    for is_ipv4 in [true, false] {
        let of_family = |to: &IpNet| to.addr().is_ipv4() == is_ipv4;
        let known = routes.iter().filter(|(to, _)| of_family(to)).map(|(to, via)| (Prefix::of(to), Hops::One(*via)));
        let free = own.iter().filter(|to| of_family(to)).map(|to| (Prefix::of(to), Hops::Any));
        let mut all: Vec<(Prefix, Hops)> = known.chain(free).collect();
        // What covers others comes before them.
        all.sort_by_key(|(prefix, _)| *prefix);
        Block::new(Prefix::ALL, &all, &Hops::Open)
            .choose(None, &mut |prefix, via| kept.push((prefix.net(is_ipv4), via)));
    }
    kept
}

/// A prefix of either family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix {
    /// The address, whose first bit is the highest here.
    bits: u128,
    length: u8,
}

impl Prefix {
    const ALL: Prefix = Prefix { bits: 0, length: 0 };

    fn of(net: &IpNet) -> Prefix {
        let bits = match net {
            IpNet::V4(net) => u128::from(u32::from(net.network())) << 96,
            IpNet::V6(net) => u128::from(net.network()),
        };
        Prefix { bits, length: net.prefix_len() }
    }

    fn net(self, is_ipv4: bool) -> IpNet {
        let sound = "as long as one that it was made of, or shorter";
        match is_ipv4 {
            true => IpNet::V4(Ipv4Net::new(((self.bits >> 96) as u32).into(), self.length).expect(sound)),
            false => IpNet::V6(Ipv6Net::new(self.bits.into(), self.length).expect(sound)),
        }
    }

    /// The longest prefix of both.
    fn common(self, other: Prefix) -> Prefix {
        let length = ((self.bits ^ other.bits).leading_zeros() as u8).min(self.length).min(other.length);
        let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
        Prefix { bits: self.bits & mask, length }
    }

    fn halves(self) -> [Prefix; 2] {
        let length = self.length + 1;
        [0, 1u128 << (128 - length)].map(|bit| Prefix { bits: self.bits | bit, length })
    }
}

/// The next hops that the route to a prefix may have, if the fewest routes are to be needed inside.
#[derive(Clone)]
enum Hops {
    /// Any: no packet is sent there.
    Any,
    /// None: some address inside has no route.
    Open,
    One(u32),
    /// Two or more.
    Several(Vec<u32>),
}

impl Hops {
    fn all(&self) -> &[u32] {
        match self {
            Hops::One(hop) => std::slice::from_ref(hop),
            Hops::Several(hops) => hops,
            Hops::Any | Hops::Open => &[],
        }
    }

    /// Returns the hops of a prefix with these halves: the ones that both may have; if there are none, all that either
    /// may have.
    fn of(low: &Hops, high: &Hops) -> Hops {
        match (low, high) {
            (Hops::Open, _) | (_, Hops::Open) => return Hops::Open,
            (Hops::Any, hops) | (hops, Hops::Any) => return hops.clone(),
            (Hops::One(one), Hops::One(other)) if one == other => return Hops::One(*one),
            _ => {}
        }
        let mut found: Vec<u32> = low.all().iter().copied().filter(|hop| high.all().contains(hop)).collect();
        if found.is_empty() {
            found = [low.all(), high.all()].concat();
        }
        if let [only] = *found { Hops::One(only) } else { Hops::Several(found) }
    }
}

/// A prefix, with its parts if they differ.
struct Block {
    prefix: Prefix,
    hops: Hops,
    parts: Vec<Block>,
}

impl Block {
    /// The block of `prefix`. `inside` are the prefixes in it, in order; packets to other addresses go `around`.
    fn new<'a>(prefix: Prefix, mut inside: &'a [(Prefix, Hops)], mut around: &'a Hops) -> Block {
        if let (Hops::Open, Some((first, _)), Some((last, _))) = (around, inside.first(), inside.last()) {
            let least = first.common(*last);
            if least != prefix {
                return Block { prefix, hops: Hops::Open, parts: vec![Block::new(least, inside, around)] };
            }
        }
        while let Some(((_, hops), rest)) = inside.split_first().filter(|((to, _), _)| *to == prefix) {
            (around, inside) = (hops, rest);
        }
        if inside.is_empty() {
            return Block { prefix, hops: around.clone(), parts: Vec::new() };
        }
        let [low, high] = prefix.halves();
        let (below, above) = inside.split_at(inside.partition_point(|(to, _)| *to < high));
        let (low, high) = (Block::new(low, below, around), Block::new(high, above, around));
        Block { prefix, hops: Hops::of(&low.hops, &high.hops), parts: vec![low, high] }
    }

    /// Adds the routes that are needed where a larger prefix leads to `known`.
    fn choose(&self, known: Option<u32>, add: &mut impl FnMut(Prefix, u32)) {
        let may_have = self.hops.all();
        let here = match (known, may_have) {
            (Some(hop), _) if may_have.contains(&hop) => known,
            (_, &[first, ..]) => {
                add(self.prefix, first);
                Some(first)
            }
            _ => known,
        };
        self.parts.iter().for_each(|part| part.choose(here, add));
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn nets(routes: &[(&str, u32)]) -> Vec<(IpNet, u32)> {
        routes.iter().map(|(to, via)| (to.parse().unwrap(), *via)).collect()
    }

    fn check(routes: &[(&str, u32)], own: &[&str], wanted: &[(&str, u32)]) {
        let own: Vec<IpNet> = own.iter().map(|net| net.parse().unwrap()).collect();
        assert_eq!(gathered(&nets(routes), &own), nets(wanted), "{routes:?} with {own:?}");
    }

    #[test]
    fn prefixes_that_lead_the_same_way_are_one() {
        check(&[("10.0.0.0/30", 1), ("10.0.0.4/30", 1)], &[], &[("10.0.0.0/29", 1)]);
        check(&[("10.0.0.0/30", 1), ("10.0.0.4/30", 2)], &[], &[("10.0.0.0/29", 1), ("10.0.0.4/30", 2)]);
        check(&[("fd00::/65", 1), ("fd00:0:0:0:8000::/65", 1)], &[], &[("fd00::/64", 1)]);
        check(&[], &[], &[]);
    }

    #[test]
    fn an_exception_is_a_route_of_its_own() {
        let four = [("10.0.0.0/30", 1), ("10.0.0.4/30", 1), ("10.0.0.8/30", 2), ("10.0.0.12/30", 1)];
        check(&four, &[], &[("10.0.0.0/28", 1), ("10.0.0.8/30", 2)]);
        // Prefixes that lie in others.
        check(&[("10.0.0.0/24", 1), ("10.0.0.7/32", 2)], &[], &[("10.0.0.0/24", 1), ("10.0.0.7/32", 2)]);
        check(&[("10.0.0.0/24", 1), ("10.0.0.7/32", 1)], &[], &[("10.0.0.0/24", 1)]);
    }

    #[test]
    fn no_address_gets_a_route_that_had_none() {
        let apart = [("10.0.0.0/30", 1), ("10.0.0.8/30", 1)];
        check(&apart, &[], &apart);
        // But the node's own do.
        check(&apart, &["10.0.0.4/30", "10.0.0.12/30"], &[("10.0.0.0/28", 1)]);
        check(&[("0.0.0.0/1", 1), ("128.0.0.0/1", 2)], &[], &[("0.0.0.0/0", 1), ("128.0.0.0/1", 2)]);
    }

    #[test]
    fn every_address_is_led_as_before_by_no_more_routes() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let hop = |routes: &[(IpNet, u32)], to: IpAddr| {
            let fitting = routes.iter().filter(|(net, _)| net.contains(&to));
            fitting.max_by_key(|(net, _)| net.prefix_len()).map(|(_, via)| *via)
        };
        for _ in 0..300 {
            let (count, hops) = (draw(60), 1 + draw(4));
            let mut routes: Vec<(IpNet, u32)> = Vec::new();
            for _ in 0..count {
                let (place, length) = (draw(256) as u32, 24 + draw(9) as u8);
                let net = Ipv4Net::new((0x0a00_0000 + place).into(), length).unwrap().trunc();
                if routes.iter().all(|(known, _)| *known != IpNet::V4(net)) {
                    routes.push((net.into(), draw(hops) as u32));
                }
            }
            let own: Ipv4Net = Ipv4Net::new((0x0a00_0000 + draw(256) as u32).into(), 32).unwrap();
            let found = gathered(&routes, &[own.into()]);
            assert!(found.len() <= routes.len(), "{routes:?} became {found:?}");
            for place in (0..257).filter(|place| 0x0a00_0000 + place != u32::from(own.addr())) {
                let to = IpAddr::V4((0x0a00_0000 + place).into());
                assert_eq!(hop(&found, to), hop(&routes, to), "{to} of {routes:?} in {found:?}");
            }
        }
    }
}
