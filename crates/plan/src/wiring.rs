use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

use crate::{Interface, Node, Plan};

/// An end of a link of a lab network: an interface, or one side of a switch. Indices into the plan's nodes and the node's
/// interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct End {
    /// The node.
    pub node: usize,
    /// Its interface; `None` at a switch.
    pub interface: Option<usize>,
}

/// The cables of a lab network, each a pair of links, and the broadcast domains that switches make of them. Bridges are nodes
/// with interfaces here, at which a domain ends; routes and paths see them as switches.
#[derive(Clone, Debug)]
pub struct Wiring {
    /// Where each link begins.
    pub from: Vec<End>,
    /// Where each link ends.
    pub to: Vec<End>,
    /// The link of the other direction, by link.
    pub back: Vec<u32>,
    /// The broadcast domain of each link. Domains have the order of their first links.
    pub domain: Vec<u32>,
    /// The interfaces of each domain, in the order of the nodes.
    pub members: Vec<Vec<End>>,
    /// The link that leaves each interface, by node.
    pub leaving: Vec<Vec<u32>>,
}

impl Wiring {
    /// The wiring of a plan whose nodes have interfaces.
    ///
    /// # Errors
    /// A link that doesn't lead from an interface or a switch to another, or that none leads back from; an interface
    /// without a link, or with several; a loop of switches.
    pub fn new(plan: &Plan) -> Result<Wiring> {
        let nodes = plan.node_indices();
        let end = |link: &str, node: &str, interface: Option<&str>| -> Result<End> {
            let index = *nodes.get(node).with_context(|| format!("link {link}: unknown node {node}"))?;
            let known = plan.nodes[index].interfaces();
            match (&plan.nodes[index], interface) {
                (Node::Switch { .. }, None) => Ok(End { node: index, interface: None }),
                (Node::Switch { .. }, Some(name)) => bail!("link {link}: the switch {node} has no interface {name}"),
                (_, Some(name)) => {
                    let interface = known.iter().position(|known| known.name == name);
                    ensure!(interface.is_some(), "link {link}: {node} has no interface {name}");
                    Ok(End { node: index, interface })
                }
                (_, None) => bail!("link {link}: the plan does not say which interface of {node} it is at"),
            }
        };
        let side = |which: fn(&crate::Link) -> (&String, &Option<String>)| -> Result<Vec<End>> {
            let of = |link| {
                let (node, interface) = which(link);
                end(&link.name, node, interface.as_deref())
            };
            plan.links.iter().map(of).collect()
        };
        let from = side(|link| (&link.from, &link.from_interface))?;
        let to = side(|link| (&link.to, &link.to_interface))?;
        let back = pairs(plan, &from, &to)?;
        let leaving = leaving(plan, &from)?;
        let (domain, members) = domains(plan, &from, &to, &back)?;
        Ok(Wiring { from, to, back, domain, members, leaving })
    }

    /// The same where bridges are switches, whose domains reach as far as frames do: one for each VLAN, without the links that
    /// the spanning tree blocks. Nodes have the plan's indices; links do not.
    ///
    /// # Errors
    /// Those of [`new`](Wiring::new), and a loop that no spanning tree breaks.
    pub fn through_bridges(plan: &Plan) -> Result<Wiring> {
        Wiring::new(&plan.unfolded()?.plan)
    }

    /// The island of each domain, by the number of one of its domains: nodes join the domains in which they have interfaces.
    pub fn islands(&self) -> Vec<usize> {
        fn root(roots: &mut [usize], mut of: usize) -> usize {
            while roots[of] != of {
                roots[of] = roots[roots[of]];
                of = roots[of];
            }
            of
        }
        let mut roots: Vec<usize> = (0..self.members.len()).collect();
        let mut first = HashMap::new();
        for (domain, members) in self.members.iter().enumerate() {
            for end in members {
                let (a, b) = (root(&mut roots, domain), root(&mut roots, *first.entry(end.node).or_insert(domain)));
                roots[a] = b;
            }
        }
        (0..roots.len()).map(|domain| root(&mut roots, domain)).collect()
    }

    /// The broadcast domain of an interface.
    pub fn domain_of(&self, end: End) -> Option<u32> {
        Some(self.domain[self.leaving[end.node][end.interface?] as usize])
    }

    /// The interface at an end.
    pub fn interface<'a>(&self, plan: &'a Plan, end: End) -> Option<&'a Interface> {
        plan.nodes[end.node].interfaces().get(end.interface?)
    }
}

/// The link of the other direction, by link.
fn pairs(plan: &Plan, from: &[End], to: &[End]) -> Result<Vec<u32>> {
    let mut known: HashMap<(End, End), usize> = HashMap::new();
    for (index, ends) in from.iter().copied().zip(to.iter().copied()).enumerate() {
        let (link, (start, end)) = (&plan.links[index], ends);
        ensure!(start != end, "link {}: it ends where it begins", link.name);
        if let Some(other) = known.insert(ends, index) {
            let other = &plan.links[other].name;
            if start.interface.is_none() && end.interface.is_none() {
                bail!(looped(&link.name));
            }
            bail!("links {other} and {} connect the same interface to the same place", link.name);
        }
    }
    let back = |index: usize| {
        let found = known.get(&(to[index], from[index])).copied();
        let link = &plan.links[index];
        found
            .map(|back| back as u32)
            .with_context(|| format!("link {}: no link leads back, from {} to {}", link.name, link.to, link.from))
    };
    (0..from.len()).map(back).collect()
}

/// The link that leaves each interface.
fn leaving(plan: &Plan, from: &[End]) -> Result<Vec<Vec<u32>>> {
    const NONE: u32 = u32::MAX;
    let mut leaving: Vec<Vec<u32>> = plan.nodes.iter().map(|node| vec![NONE; node.interfaces().len()]).collect();
    for (index, end) in from.iter().enumerate() {
        let Some(interface) = end.interface else { continue };
        let known = std::mem::replace(&mut leaving[end.node][interface], index as u32);
        if known != NONE {
            let (node, name) = (plan.nodes[end.node].name(), &plan.nodes[end.node].interfaces()[interface].name);
            let (a, b) = (&plan.links[known as usize].name, &plan.links[index].name);
            bail!("interface {name} of {node} has two cables: links {a} and {b}");
        }
    }
    for (node, links) in plan.nodes.iter().zip(&leaving) {
        if let Some(interface) = links.iter().position(|&link| link == NONE) {
            bail!("interface {} of {} has no cable", node.interfaces()[interface].name, node.name());
        }
    }
    Ok(leaving)
}

/// The domain of each link, and the interfaces of each domain.
fn domains(plan: &Plan, from: &[End], to: &[End], back: &[u32]) -> Result<(Vec<u32>, Vec<Vec<End>>)> {
    // Switches and interfaces are joined by cables. A switch takes the place of its node, interfaces those behind.
    let mut offset = plan.nodes.len();
    let mut offsets = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        offsets.push(offset);
        offset += node.interfaces().len();
    }
    let place = |end: End| end.interface.map_or(end.node, |interface| offsets[end.node] + interface);
    let mut joined: Vec<usize> = (0..offset).collect();
    for (index, (start, end)) in from.iter().zip(to).enumerate() {
        if (back[index] as usize) < index {
            continue;
        }
        let (a, b) = (root(&mut joined, place(*start)), root(&mut joined, place(*end)));
        // An interface has one cable, so only switches can close a loop.
        ensure!(a != b, "{}", looped(&plan.links[index].name));
        joined[a] = b;
    }
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let mut domain = Vec::with_capacity(from.len());
    for start in from {
        let (root, next) = (root(&mut joined, place(*start)), numbers.len() as u32);
        domain.push(*numbers.entry(root).or_insert(next));
    }
    let mut members = vec![Vec::new(); numbers.len()];
    for (node, known) in plan.nodes.iter().enumerate() {
        for interface in 0..known.interfaces().len() {
            let end = End { node, interface: Some(interface) };
            members[numbers[&root(&mut joined, place(end))] as usize].push(end);
        }
    }
    Ok((domain, members))
}

pub(crate) fn root(joined: &mut [usize], mut place: usize) -> usize {
    while joined[place] != place {
        joined[place] = joined[joined[place]];
        place = joined[place];
    }
    place
}

fn looped(link: &str) -> String {
    format!(
        "link {link} closes a loop of switches, in which broadcasts would go round for ever: leave it out, or make one of \
         the switches a router, or a bridge with a spanning tree"
    )
}
