//! Effects of a failure on a network whose routers have daemons: how long their tables change, and what packets meet
//! meanwhile.
//!
//! RFC 6412 has the terms: after a convergence event the control plane converges (RFC 4098, too), and a flow has a loss of
//! connectivity period. Here a table's last change is that of the kernel's, with which packets are forwarded.

use anyhow::Result;
use plan::Plan;
use records::reader::{self, Index, Open, Rows};
use rustc_hash::FxHashMap;
use serde::Serialize;
use units::{Duration, Time};

use crate::Active;
use crate::flow::seconds;

/// Effects of an event that makes routers look for other routes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rerouting {
    /// When it was.
    pub at_s: f64,
    /// Events, such as `core down` or `r1 bgpd killed`.
    pub events: Vec<String>,
    /// From the event to the last change of any router's table before the next event; `None` if none changed.
    pub converged_s: Option<f64>,
    /// Changes of tables until then.
    pub changes: usize,
    /// The routers whose tables changed.
    pub routers: usize,
    /// Packets of flows that crossed a link between the event and the last change and never reached their host, because a link
    /// was down or a router did not pass them on: drops of queues don't count. `None` if packets are not recorded.
    pub lost_packets: Option<u64>,
    /// Such packets, lost or not, that crossed a link twice; `None` if packets are not recorded.
    pub looped_packets: Option<u64>,
    /// For each flow that was active, the longest time without an arrival that began before the last change and ended after
    /// the event, s; `None` if packets are not recorded.
    pub outages_s: Option<Vec<Outage>>,
}

/// The time in which nothing of a flow arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// The flow's id.
    pub flow: String,
    /// How long.
    pub outage_s: f64,
    /// Whether anything arrived afterwards.
    pub recovered: bool,
}

/// An event, and how long it had effects.
#[derive(Clone, Debug)]
struct Episode {
    at: Time,
    events: Vec<String>,
    /// Changes of routing tables: when the last one came, how many there were, and whose.
    last: Option<Time>,
    changes: usize,
    routers: Vec<u16>,
}

impl Episode {
    fn until(&self) -> Time {
        self.last.unwrap_or(self.at)
    }

    fn has(&self, from: Time, to: Time) -> bool {
        from <= self.until() && self.at <= to
    }
}

/// Finds what came of each event of a run, in the order of time; `None` if no router has daemons. `active`:
/// of each flow. `go_on` is asked again and again: an error of it ends the work.
///
/// # Errors
/// A table cannot be read. `go_on` fails.
pub(crate) fn read(
    open: Open,
    plan: &Plan,
    active: &[Active],
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Option<Vec<Rerouting>>> {
    if !reader::has_table(open, "routes") {
        return Ok(None);
    }
    let mut episodes = episodes(plan);
    read_routes(open, plan, &mut episodes)?;
    let has_packets = reader::has_table(open, "packets");
    let packets = if has_packets { Some(read_packets(open, plan, &episodes, go_on)?) } else { None };
    let of = |(index, episode): (usize, &Episode)| Rerouting {
        at_s: seconds(episode.at - Time::ZERO),
        events: episode.events.clone(),
        converged_s: episode.last.map(|last| seconds(last - episode.at)),
        changes: episode.changes,
        routers: episode.routers.len(),
        lost_packets: packets.as_ref().map(|packets| packets.lost(index)),
        looped_packets: packets.as_ref().map(|packets| packets.looped(index)),
        outages_s: packets.as_ref().map(|packets| packets.outages(active, episode)),
    };
    Ok(Some(episodes.iter().enumerate().map(of).collect()))
}

/// The events that routers have to do with: links that go down or up, daemons that are killed or started.
fn episodes(plan: &Plan) -> Vec<Episode> {
    let mut up: FxHashMap<&str, bool> = plan.links.iter().map(|link| (link.name.as_str(), link.up)).collect();
    let mut found: Vec<(Time, String)> = Vec::new();
    for event in &plan.events {
        let link = &event.link;
        if up.insert(&link.name, link.up) != Some(link.up) {
            found.push((event.at_ns, format!("{} {}", link.name, if link.up { "up" } else { "down" })));
        }
    }
    for event in &plan.daemon_events {
        let what = if event.up { "started" } else { "killed" };
        found.push((event.at_ns, format!("{} {} {what}", event.router, event.daemon)));
    }
    found.sort_by_key(|&(at, _)| at);
    let mut episodes: Vec<Episode> = Vec::new();
    for (at, what) in found {
        match episodes.last_mut() {
            Some(same) if same.at == at => same.events.push(what),
            _ => episodes.push(Episode { at, events: vec![what], last: None, changes: 0, routers: Vec::new() }),
        }
    }
    episodes
}

fn read_routes(open: Open, plan: &Plan, episodes: &mut [Episode]) -> Result<()> {
    let names = Index::of(plan.nodes.iter().map(plan::Node::name));
    reader::read_table(open, "routes", &["time_ns", "router"], |rows: &Rows| {
        let (time, router) = (rows.values::<i64>(0)?, rows.words(1, &names)?);
        for at in 0..rows.len() {
            let (Some(time), Some(router)) = (time.get(at).map(Time), router.get(at)) else { continue };
            let behind = episodes.partition_point(|episode| episode.at <= time);
            let Some(episode) = behind.checked_sub(1).map(|index| &mut episodes[index]) else { continue };
            episode.last = Some(time);
            episode.changes += 1;
            if !episode.routers.contains(&router) {
                episode.routers.push(router);
            }
        }
        Ok(())
    })
}

/// A row of `packets` that belongs to a flow and is no copy.
struct Passage {
    link: usize,
    flow: usize,
    packet: u64,
    /// When it reached the link, and when it is due at its end.
    arrival: Time,
    delivery: Option<Time>,
    /// True if the packet reached the link's end.
    is_delivered: bool,
    /// True if the packet was dropped since the link was down.
    is_dropped_down: bool,
}

/// The packets of flows in the episodes.
struct Packets<'a> {
    plan: &'a Plan,
    episodes: &'a [Episode],
    near: Near,
    /// The receiver and the sender of each flow.
    hosts: Vec<[usize; 2]>,
    /// The nodes that each link joins.
    links: Vec<[usize; 2]>,
    /// Packets that crossed a link in an episode.
    met: FxHashMap<u64, Met>,
    /// When something of each flow arrived.
    arrivals: Vec<Vec<Time>>,
}

/// A packet in an episode.
struct Met {
    episode: usize,
    /// The host that it is for; `None` of one that was on its way already.
    host: Option<usize>,
    links: Vec<usize>,
    has_looped: bool,
    /// When it reached the last of its links, and whether it got no further than that.
    last: Time,
    is_lost: bool,
}

impl<'a> Packets<'a> {
    fn new(plan: &'a Plan, episodes: &'a [Episode]) -> Packets<'a> {
        let nodes = plan.node_indices();
        let two = |a: &str, b: &str| [nodes[a], nodes[b]];
        Packets {
            plan,
            episodes,
            near: Near::of(plan),
            hosts: plan.flows.iter().map(|flow| two(&flow.to, &flow.from)).collect(),
            links: plan.links.iter().map(|link| two(&link.from, &link.to)).collect(),
            met: FxHashMap::default(),
            arrivals: vec![Vec::new(); plan.flows.len()],
        }
    }

    fn take(&mut self, row: &Passage) {
        let ([receiver, sender], [from, to]) = (self.hosts[row.flow], self.links[row.link]);
        let delivery = row.delivery.filter(|_| row.is_delivered);
        if let Some(delivery) = delivery.filter(|_| self.near.is_near(to, receiver)) {
            self.arrivals[row.flow].push(delivery);
        }
        let episode = self.episodes.iter().position(|one| one.has(row.arrival, delivery.unwrap_or(row.arrival)));
        if let Some(episode) = episode {
            let host = match (self.near.is_near(from, sender), self.near.is_near(from, receiver)) {
                (true, _) => Some(receiver),
                (_, true) => Some(sender),
                _ => None,
            };
            let new = Met { episode, host, links: Vec::new(), has_looped: false, last: row.arrival, is_lost: false };
            self.met.entry(row.packet).or_insert(new);
        }
        let Some(met) = self.met.get_mut(&row.packet) else { return };
        met.has_looped |= met.links.contains(&row.link);
        met.links.push(row.link);
        if row.arrival >= met.last {
            met.last = row.arrival;
            let is_at = |host: usize| self.near.is_near(to, host);
            let is_home = met.host.map_or(is_at(receiver) || is_at(sender), is_at);
            met.is_lost = row.is_dropped_down || (row.is_delivered && !is_home);
        }
    }

    /// All rows were taken.
    fn finish(mut self) -> Packets<'a> {
        self.arrivals.iter_mut().for_each(|times| times.sort_unstable());
        self
    }

    fn lost(&self, episode: usize) -> u64 {
        self.met.values().filter(|packet| packet.episode == episode && packet.is_lost).count() as u64
    }

    fn looped(&self, episode: usize) -> u64 {
        self.met.values().filter(|packet| packet.episode == episode && packet.has_looped).count() as u64
    }

    fn outages(&self, active: &[Active], episode: &Episode) -> Vec<Outage> {
        let flows = self.plan.flows.iter().zip(active).zip(&self.arrivals);
        let outage = |((flow, active), arrivals): ((&plan::Flow, &Active), &Vec<Time>)| {
            let is_active = active.has_begun && (active.start..active.stop).contains(&episode.at);
            let (outage, recovered) = is_active.then(|| longest(arrivals, episode, active.stop)).flatten()?;
            Some(Outage { flow: flow.id.clone(), outage_s: seconds(outage), recovered })
        };
        flows.filter_map(outage).collect()
    }
}

/// The longest time between two arrivals, of those times that touch the episode, and whether the second arrival was before
/// `end`; `None` if nothing arrived before. `arrivals` are in the order of time.
fn longest(arrivals: &[Time], episode: &Episode, end: Time) -> Option<(Duration, bool)> {
    let first = arrivals.partition_point(|&time| time <= episode.at).checked_sub(1)?;
    let starts = (first..arrivals.len()).take_while(|&at| arrivals[at] <= episode.until());
    let gap = |at: usize| match arrivals.get(at + 1) {
        Some(&next) => (next - arrivals[at], true),
        None => ((end - arrivals[at]).max(Duration::ZERO), false),
    };
    starts.map(gap).max_by_key(|&(gap, _)| gap)
}

fn read_packets<'a>(
    open: Open,
    plan: &'a Plan,
    episodes: &'a [Episode],
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Packets<'a>> {
    let ids = Index::of(plan.flows.iter().map(|flow| flow.id.as_str()));
    let names = Index::of(plan.links.iter().map(|link| link.name.as_str()));
    let fates = Index::of(link::Fate::NAMES);
    let mut found = Packets::new(plan, episodes);
    let columns = ["link", "flow", "packet", "arrival_ns", "delivery_ns", "fate", "duplicate"];
    reader::read_table(open, "packets", &columns, |rows: &Rows| {
        go_on()?;
        let (link, flow, packet) = (rows.words(0, &names)?, rows.words(1, &ids)?, rows.values::<u64>(2)?);
        let (arrival, delivery) = (rows.values::<i64>(3)?, rows.values::<i64>(4)?);
        let (fate, copy) = (rows.words(5, &fates)?, rows.values::<bool>(6)?);
        for at in (0..rows.len()).filter(|&at| copy.get(at) != Some(true)) {
            let (Some(link), Some(flow)) = (link.get(at), flow.get(at)) else { continue };
            found.take(&Passage {
                link: link.into(),
                flow: flow.into(),
                packet: packet.get(at).unwrap_or(0),
                arrival: Time(arrival.get(at).unwrap_or(0)),
                delivery: delivery.get(at).map(Time),
                is_delivered: fate.get(at) == Some(link::Fate::Delivered as u16),
                is_dropped_down: fate.get(at) == Some(link::Fate::DroppedDown as u16),
            });
        }
        Ok(())
    })?;
    Ok(found.finish())
}

/// The nodes from which packets can reach a host by links of which no packet is recorded: who has come there has arrived, as
/// far as records tell.
struct Near(FxHashMap<usize, Vec<bool>>);

impl Near {
    fn of(plan: &Plan) -> Near {
        let nodes = plan.node_indices();
        let unrecorded = plan.transparent_links();
        let pairs: Vec<(usize, usize)> = plan
            .links
            .iter()
            .zip(unrecorded)
            .filter(|&(_, is_unrecorded)| is_unrecorded)
            .map(|(link, _)| (nodes[link.from.as_str()], nodes[link.to.as_str()]))
            .collect();
        let near = |host: usize| {
            // Whoever has the address of the host is as good as the host.
            let alike = |&node: &usize| plan.nodes[node].address() == plan.nodes[host].address();
            let mut rest: Vec<usize> = (0..plan.nodes.len()).filter(alike).collect();
            let mut near = vec![false; plan.nodes.len()];
            rest.iter().for_each(|&node| near[node] = true);
            while let Some(node) = rest.pop() {
                for &(from, _) in pairs.iter().filter(|&&(from, to)| to == node && !plan.nodes[from].is_host()) {
                    if !std::mem::replace(&mut near[from], true) {
                        rest.push(from);
                    }
                }
            }
            near
        };
        let hosts = plan.flows.iter().flat_map(|flow| [&flow.from, &flow.to]).map(|host| nodes[host.as_str()]);
        let mut found = FxHashMap::default();
        for host in hosts {
            found.entry(host).or_insert_with(|| near(host));
        }
        Near(found)
    }

    fn is_near(&self, node: usize, host: usize) -> bool {
        self.0.get(&host).is_some_and(|near| near[node])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    const MS: i64 = 1_000_000;

    /// h1 - r1, r2 - h2 by cables; r1 - r2 and r1 - r3 - r2 by links that are recorded. `near` goes down at 100 ms.
    pub(crate) fn plan() -> Plan {
        let mut nodes = Vec::new();
        let mut port = 0;
        let mut interface = |name: &str, address: &str| {
            port += 1;
            json!({"name": name, "mac": format!("02:00:00:00:00:{port:02x}"), "addresses": [address]})
        };
        for (name, address) in [("h1", "10.0.1.1"), ("h2", "10.0.2.1")] {
            let own = interface("eth0", &format!("{address}/24"));
            nodes.push(json!({"kind": "host", "name": name, "address": address, "sysctl": {}, "interfaces": [own]}));
        }
        for (name, id, addresses) in [
            ("r1", 1, ["10.0.1.2/24", "10.0.12.1/24", "10.0.13.1/24"].as_slice()),
            ("r2", 2, ["10.0.2.2/24", "10.0.12.2/24", "10.0.23.2/24"].as_slice()),
            ("r3", 3, ["10.0.13.3/24", "10.0.23.3/24"].as_slice()),
        ] {
            let own: Vec<_> =
                (0..).zip(addresses).map(|(at, address)| interface(&format!("eth{at}"), address)).collect();
            nodes.push(json!({"kind": "router", "name": name, "address": format!("10.255.0.{id}"), "sysctl": {},
                "interfaces": own, "routing": {"config": "", "daemons": ["ospfd"], "expect": []}}));
        }
        let mut links = Vec::new();
        for (name, [a, at], [b, there], delay) in [
            ("first", ["h1", "eth0"], ["r1", "eth0"], 0),
            ("last", ["r2", "eth0"], ["h2", "eth0"], 0),
            ("near", ["r1", "eth1"], ["r2", "eth1"], MS),
            ("far1", ["r1", "eth2"], ["r3", "eth0"], MS),
            ("far2", ["r3", "eth1"], ["r2", "eth2"], MS),
        ] {
            for (name, [from, out], [to, into]) in
                [(name.to_owned(), [a, at], [b, there]), (format!("{name}-reverse"), [b, there], [a, at])]
            {
                let mut link = json!(plan::Link::transparent(&name, from, to));
                (link["from_interface"], link["to_interface"]) = (json!(out), json!(into));
                link["delay_ns"] = json!(delay);
                links.push(link);
            }
        }
        let mut down = links[4].clone();
        down["up"] = json!(false);
        let flow = json!({"id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 900 * MS, "port": 5001,
            "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}});
        let plan = json!({"name": "reroute", "duration_ns": 1000 * MS, "seed": 1, "flows": [flow], "nodes": nodes,
            "links": links, "events": [{"at_ns": 100 * MS, "link": down}],
            "daemon_events": [{"at_ns": 500 * MS, "router": "r3", "daemon": "ospfd", "up": false}],
            "record": {"sample_interval_ns": 1, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    fn first_until(plan: &Plan, last_ms: i64) -> Vec<Episode> {
        let mut found = episodes(plan);
        found[0].last = Some(Time(last_ms * MS));
        found
    }

    /// A packet reaches the links one after the other, 1 ms each; at the last it is dropped if that is down.
    fn send(packets: &mut Packets<'_>, number: u64, ms: i64, links: &[&str], is_down: bool) {
        for (at, name) in (0..).zip(links) {
            let is_dropped_down = is_down && at as usize + 1 == links.len();
            packets.take(&Passage {
                link: packets.plan.links.iter().position(|link| link.name == *name).unwrap(),
                flow: 0,
                packet: number,
                arrival: Time((ms + at) * MS),
                delivery: (!is_dropped_down).then_some(Time((ms + at + 1) * MS)),
                is_delivered: !is_dropped_down,
                is_dropped_down,
            });
        }
    }

    #[test]
    fn links_that_fail_and_daemons_that_die_are_events() {
        let found: Vec<_> = episodes(&plan()).into_iter().map(|one| (one.at.as_nanos() / MS, one.events)).collect();
        assert_eq!(found, [(100, vec!["near down".to_owned()]), (500, vec!["r3 ospfd killed".to_owned()])]);
    }

    #[test]
    fn packets_that_a_dead_link_or_a_router_swallows_are_lost() {
        let (plan, before) = (plan(), 90);
        let episodes = first_until(&plan, 200);
        let mut packets = Packets::new(&plan, &episodes);
        send(&mut packets, 1, before, &["near"], false);
        send(&mut packets, 2, 110, &["near"], true);
        send(&mut packets, 3, 120, &["far1"], false);
        send(&mut packets, 4, 130, &["far1", "far2"], false);
        send(&mut packets, 5, 140, &["far2-reverse", "far1-reverse"], false);
        send(&mut packets, 6, 150, &["far1", "far1-reverse", "far1", "far2"], false);
        send(&mut packets, 7, 300, &["near"], true);
        let packets = packets.finish();
        assert_eq!((packets.lost(0), packets.looped(0)), (2, 1));
        assert_eq!((packets.lost(1), packets.looped(1)), (0, 0));
    }

    #[test]
    fn an_outage_is_the_longest_pause_that_began_before_routes_settled() {
        let plan = plan();
        let episodes = first_until(&plan, 200);
        let mut packets = Packets::new(&plan, &episodes);
        for (number, ms) in [10, 80, 97, 150, 198, 330, 700].into_iter().enumerate() {
            send(&mut packets, number as u64, ms, &["near"], false);
        }
        let packets = packets.finish();
        let active = [Active { start: Time(0), stop: Time(900 * MS), has_begun: true }];
        // From 199 to 331 ms. The pause until 701 ms began later; after the second event it counts.
        let outage = |outage_s: f64| vec![Outage { flow: "f1".into(), outage_s, recovered: true }];
        assert_eq!(packets.outages(&active, &episodes[0]), outage(0.132));
        assert_eq!(packets.outages(&active, &episodes[1]), outage(0.37));
    }

    #[test]
    fn who_hears_nothing_again_has_an_outage_until_its_end() {
        let plan = plan();
        let episodes = first_until(&plan, 200);
        let mut packets = Packets::new(&plan, &episodes);
        send(&mut packets, 1, 99, &["near"], false);
        let packets = packets.finish();
        let active = [Active { start: Time(0), stop: Time(900 * MS), has_begun: true }];
        let said = &packets.outages(&active, &episodes[0])[0];
        assert_eq!((said.outage_s, said.recovered), (0.8, false));
    }
}
