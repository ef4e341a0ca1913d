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
        let of = |at: u32| NAMES.get((self.0 >> (at * BITS)) as usize & ((1 << BITS) - 1)).copied().unwrap_or_default();
        let names: Vec<&str> = (0..u32::BITS / BITS).rev().map(of).filter(|name| !name.is_empty()).collect();
        (!names.is_empty()).then(|| names.join(" "))
    }
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
}
