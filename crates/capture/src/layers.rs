//! Tunnels and tags around an IP packet.

/// A tunnel or tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Layer {
    Vlan = 1,
    ServiceVlan,
    Mpls,
    Pppoe,
    Ip4InIp,
    Ip6InIp,
    Gre,
    Erspan,
    Vxlan,
    Geneve,
    Gtp,
}

const NAMES: [&str; 12] =
    ["", "802.1Q", "802.1ad", "MPLS", "PPPoE", "IPv4-in-IP", "IPv6-in-IP", "GRE", "ERSPAN", "VXLAN", "Geneve", "GTP-U"];
/// Bit `n` is set if layer `n` has an identifier.
const NUMBERED: u32 = 1 << Layer::Vlan as u32
    | 1 << Layer::ServiceVlan as u32
    | 1 << Layer::Mpls as u32
    | 1 << Layer::Pppoe as u32
    | 1 << Layer::Gre as u32
    | 1 << Layer::Vxlan as u32
    | 1 << Layer::Geneve as u32
    | 1 << Layer::Gtp as u32;
/// Bits of a layer.
const BITS: u32 = 4;

/// Up to eight tunnels and tags, the outermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers(u32);

impl Layers {
    /// Add the next one within. Returns false if there are eight already.
    #[inline]
    pub(crate) fn push(&mut self, layer: Layer) -> bool {
        let has_room = self.0 >> (u32::BITS - BITS) == 0;
        if has_room {
            self.0 = self.0 << BITS | layer as u32;
        }
        has_room
    }

    /// Their names with spaces between; `None` if there is none.
    pub fn names(self) -> Option<String> {
        let names: Vec<&str> = self.numbers().map(|layer| NAMES[layer as usize]).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }

    /// Names and identifiers of a segment's `network`, as `802.1ad 100, 802.1Q 7`, the innermost two at most; `None` if it has
    /// none.
    pub fn network(self, network: u64) -> Option<String> {
        let numbered: Vec<u32> = self.numbers().filter(|layer| NUMBERED >> layer & 1 == 1).collect();
        let (inner, outer) = (network as u32, (network >> 32) as u32);
        let ids = if numbered.len() > 2 { vec![inner] } else { vec![inner, outer] };
        let with = numbered.iter().rev().zip(ids).filter(|&(_, id)| id != 0);
        let mut named: Vec<String> = with.map(|(&layer, id)| format!("{} {id}", NAMES[layer as usize])).collect();
        named.reverse();
        (!named.is_empty()).then(|| named.join(", "))
    }

    /// Numbers of the layers, the outermost first.
    fn numbers(self) -> impl Iterator<Item = u32> {
        (0..u32::BITS / BITS).rev().map(move |at| self.0 >> (at * BITS) & ((1 << BITS) - 1)).filter(|&layer| layer != 0)
    }
}

/// The network with identifier `id` within `network`: the innermost two identifiers as they are, those around them mixed into
/// the upper half.
#[inline]
pub(crate) fn within(network: u64, id: u32) -> u64 {
    let outer = match network >> 32 {
        0 => network,
        _ => network.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 | 1 << 31,
    };
    outer << 32 | u64::from(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_their_names_from_the_outermost_on() {
        let mut layers = Layers::default();
        assert_eq!(layers.names(), None);
        for layer in [Layer::ServiceVlan, Layer::Vlan, Layer::Pppoe, Layer::Gtp] {
            assert!(layers.push(layer));
        }
        assert_eq!(layers.names().as_deref(), Some("802.1ad 802.1Q PPPoE GTP-U"));
        assert!((0..4).all(|_| layers.push(Layer::Mpls)));
        assert!(!layers.push(Layer::Gre));
        assert_eq!(layers.names().as_deref(), Some("802.1ad 802.1Q PPPoE GTP-U MPLS MPLS MPLS MPLS"));
    }

    #[test]
    fn networks_have_the_identifiers_of_the_innermost_two() {
        let named = |all: &[(Layer, u32)]| {
            let mut layers = Layers::default();
            let network = all.iter().fold(0, |network, &(layer, id)| {
                layers.push(layer);
                if NUMBERED >> layer as u32 & 1 == 1 { within(network, id) } else { network }
            });
            (layers.network(network).unwrap_or_default(), network)
        };
        assert_eq!(named(&[(Layer::Ip4InIp, 0)]), (String::new(), 0));
        assert_eq!(named(&[(Layer::Vlan, 0)]).0, "");
        assert_eq!(named(&[(Layer::ServiceVlan, 100), (Layer::Vlan, 7)]).0, "802.1ad 100, 802.1Q 7");
        assert_eq!(named(&[(Layer::Vlan, 7), (Layer::Ip4InIp, 0), (Layer::Gre, 0)]).0, "802.1Q 7");
        let deep = |outer| named(&[(Layer::Vlan, outer), (Layer::Vlan, 2), (Layer::Vxlan, 3)]);
        assert_eq!(deep(1).0, "VXLAN 3");
        assert_ne!(deep(1).1, deep(9).1);
    }
}
