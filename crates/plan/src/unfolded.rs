//! Bridges as switches: what they make of a network once their spanning tree is there.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use crate::wiring::End;
use crate::{Node, Plan, Vlans, Wiring};

/// The VLAN of a bridge that looks at no tags.
const ALL: u16 = 0;

/// A plan whose bridges are switches, one for each VLAN, without the links that the spanning tree blocks. Nodes keep their
/// indices; switches of further VLANs come behind them.
pub(crate) struct Unfolded<'a> {
    pub plan: Cow<'a, Plan>,
    /// The plan's own link that each link is, or carries one VLAN of; `None`: they are the same.
    pub origin: Option<Vec<u32>>,
}

impl Plan {
    /// The plan as routes and paths see it.
    ///
    /// # Errors
    /// Those of [`Wiring::new`].
    pub(crate) fn unfolded(&self) -> Result<Unfolded<'_>> {
        if !self.nodes.iter().any(Node::is_bridge) {
            return Ok(Unfolded { plan: Cow::Borrowed(self), origin: None });
        }
        let wiring = Wiring::new(self)?;
        let blocked = self.blocked(&wiring);
        let mut nodes = self.nodes.clone();
        let switches = split(&mut nodes);
        let (mut links, mut origin) = (Vec::new(), Vec::new());
        for (index, link) in self.links.iter().enumerate().filter(|(index, _)| !blocked[*index]) {
            let [from, to] = [wiring.from[index], wiring.to[index]];
            for (here, there) in crossings(self.port(from), self.port(to)) {
                let mut copy = link.clone();
                if let Some(vlan) = here {
                    (copy.from, copy.from_interface) = (switches[&(from.node, vlan)].clone(), None);
                }
                if let Some(vlan) = there {
                    (copy.to, copy.to_interface) = (switches[&(to.node, vlan)].clone(), None);
                }
                links.push(copy);
                origin.push(index as u32);
            }
        }
        let plan = Plan { nodes, links, ..self.clone() };
        Ok(Unfolded { plan: Cow::Owned(plan), origin: Some(origin) })
    }

    fn port(&self, end: End) -> Port<'_> {
        match (&self.nodes[end.node], end.interface) {
            (Node::Bridge { interfaces, .. }, Some(interface)) => Port::Bridge(interfaces[interface].vlans.as_ref()),
            _ => Port::Other,
        }
    }
}

/// The end of a link.
enum Port<'a> {
    /// At a bridge, with these VLANs.
    Bridge(Option<&'a Vlans>),
    /// At a node that knows no VLANs.
    Other,
}

/// Make switches of bridges: the name of each by the bridge's index and the VLAN.
fn split(nodes: &mut Vec<Node>) -> HashMap<(usize, u16), String> {
    let mut names = HashMap::new();
    let mut more = Vec::new();
    for (index, node) in nodes.iter_mut().enumerate() {
        let Node::Bridge { name, interfaces, .. } = node else { continue };
        let of_ports = interfaces.iter().filter_map(|one| one.vlans.as_ref()).flat_map(Vlans::all);
        let mut vlans: BTreeSet<u16> = of_ports.collect();
        if vlans.is_empty() {
            vlans.insert(ALL);
        }
        for (place, vlan) in vlans.into_iter().enumerate() {
            // No node of a scenario has such a name.
            let own = if place == 0 { name.clone() } else { format!("{name}@{vlan}") };
            if place > 0 {
                more.push(Node::Switch { name: own.clone() });
            }
            names.insert((index, vlan), own);
        }
        *node = Node::Switch { name: std::mem::take(name) };
    }
    nodes.extend(more);
    names
}

/// The VLANs in which frames cross a link: at the bridge that sends, and at the one that receives.
fn crossings(from: Port<'_>, to: Port<'_>) -> Vec<(Option<u16>, Option<u16>)> {
    // `None`: frames without a tag are dropped.
    let untagged = |vlans: Option<&Vlans>| vlans.map_or(Some(ALL), |vlans| vlans.untagged);
    match (from, to) {
        (Port::Other, Port::Other) => vec![(None, None)],
        (Port::Bridge(own), Port::Other) => untagged(own).map(|vlan| (Some(vlan), None)).into_iter().collect(),
        (Port::Other, Port::Bridge(own)) => untagged(own).map(|vlan| (None, Some(vlan))).into_iter().collect(),
        (Port::Bridge(Some(own)), Port::Bridge(Some(other))) => {
            let arrives = |vlan| match own.untagged == Some(vlan) {
                true => other.untagged,
                false => other.all().find(|known| *known == vlan),
            };
            own.all().filter_map(|vlan| Some((Some(vlan), Some(arrives(vlan)?)))).collect()
        }
        (Port::Bridge(_), Port::Bridge(_)) => vec![(Some(ALL), Some(ALL))],
    }
}
