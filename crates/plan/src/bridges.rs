//! Bridges that no kernel would build as the plan means them.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use units::Duration;

use crate::{Interface, Node, Plan, Stp, Vlans};

impl Plan {
    /// Bridges have names of namespaces, ports without addresses, and VLANs at all ports or none.
    pub(crate) fn check_bridges(&self) -> Result<()> {
        let ports = || self.nodes.iter().filter(|node| node.is_bridge()).flat_map(Node::interfaces);
        let with_vlans = ports().filter(|port| port.vlans.is_some()).count();
        ensure!([0, ports().count()].contains(&with_vlans), "some ports of bridges have VLANs, and others have none");
        for node in &self.nodes {
            let Node::Bridge { name, interfaces, stp } = node else {
                let tagged = node.interfaces().iter().find(|one| one.vlans.is_some());
                ensure!(tagged.is_none(), "{} has VLANs at an interface, and is no bridge", node.name());
                continue;
            };
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            ensure!(name.len() <= 15 && name.chars().all(plain), "{name} is not a name of a bridge");
            ensure!(interfaces.len() <= 1023, "{name} has {} ports, and Linux has 1023", interfaces.len());
            interfaces.iter().try_for_each(|port| check_port(name, port))?;
            stp.iter().try_for_each(|stp| check_stp(name, stp))?;
        }
        Ok(())
    }

    /// True if bridges sort frames by VLANs: some frames on links have tags.
    pub fn has_vlans(&self) -> bool {
        self.nodes.iter().flat_map(Node::interfaces).any(|one| one.vlans.is_some())
    }
}

fn check_port(bridge: &str, port: &Interface) -> Result<()> {
    let name = &port.name;
    ensure!(port.addresses.is_empty(), "{bridge}: its port {name} has an address");
    let mut known = HashSet::new();
    for vlan in port.vlans.iter().flat_map(Vlans::all) {
        ensure!((1..=Vlans::LARGEST).contains(&vlan), "{bridge}: {vlan} is no number of a VLAN, at port {name}");
        ensure!(known.insert(vlan), "{bridge}: its port {name} has the VLAN {vlan} twice");
    }
    Ok(())
}

/// Linux takes these times alone (IEEE 802.1D-1998 table 8-3), in hundredths of a second.
fn check_stp(bridge: &str, stp: &Stp) -> Result<()> {
    let times = [
        ("hello", stp.hello_ns, 1, 10),
        ("forward delay", stp.forward_delay_ns, 2, 30),
        ("maximum age", stp.max_age_ns, 6, 40),
    ];
    for (what, time, least, most) in times {
        let seconds = |number| Duration::from_secs(number);
        let known = (seconds(least)..=seconds(most)).contains(&time) && time.as_nanos() % 10_000_000 == 0;
        ensure!(known, "{bridge}: its {what} is no time from {least} to {most} s");
    }
    Ok(())
}
