use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use messages::{Event, FlowCounts, Health, LinkCounts, Meter, PROGRESS};
use plan::Plan;
use realtime::Gauges;
use records::found::{Datagrams, MOST};

/// The links that a lab can have besides those with which it begins.
const SPARE: usize = 4096;

/// The progress of flows and links while a run goes on.
///
/// The services publish counts in memory that they share with the supervisor, and never wait for it. The supervisor,
/// which has nothing else to do, makes events from these counts.
pub(crate) struct Live {
    /// The counts by flow of the plan.
    pub flows: Gauges<{ FlowCounts::WORDS }>,
    /// The counts by link of the plan; transparent links are never published.
    pub links: Gauges<{ LinkCounts::WORDS }>,
    /// How late the network was so far: one gauge, which an emulator in real time publishes.
    pub health: Gauges<{ Health::WORDS }>,
    /// The datagrams of flows that are found in a lab while it is recorded; none of a run.
    pub datagrams: Gauges<{ Datagrams::WORDS }>,
}

impl Live {
    /// Gauges without a publication. Call this before the services start.
    pub(crate) fn of(plan: &Plan) -> Result<Live> {
        let (found, spare) = if plan.changeable { (2 * usize::from(MOST), SPARE) } else { (0, 0) };
        let links = Gauges::new(plan.links.len() + spare);
        let (flows, health) = (Gauges::new(plan.flows.len()), Gauges::new(1));
        let datagrams = Gauges::new(found).context("sharing memory")?;
        Ok(Live {
            flows: flows.context("sharing memory")?,
            links: links.context("sharing memory")?,
            health: health.context("sharing memory")?,
            datagrams,
        })
    }

    /// Returns the counts that the emulator publishes.
    pub(crate) fn network(&self) -> emu::LiveGauges<'_> {
        emu::LiveGauges { links: &self.links, health: &self.health[0] }
    }
}

/// Makes events of what is published.
pub(crate) struct Ticker<'a> {
    live: &'a Live,
    /// The links that are published.
    opaque: Vec<usize>,
    meter: Meter,
    /// The time of the event before.
    last_ns: Option<i64>,
    due: Instant,
}

impl<'a> Ticker<'a> {
    pub(crate) fn new(plan: &Plan, live: &'a Live) -> Ticker<'a> {
        let transparent = plan.transparent_links();
        let opaque: Vec<usize> = (0..plan.links.len()).filter(|&link| !transparent[link]).collect();
        let flows = plan.flows.iter().map(|flow| flow.id.clone());
        let meter = Meter::new(flows, opaque.iter().map(|&link| plan.links[link].name.clone()));
        Ticker { live, opaque, meter, last_ns: None, due: Instant::now() }
    }

    /// The time until an event may be due.
    pub(crate) fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// The event that is due. `None` if nothing was published since the last one: the command must notice silence.
    pub(crate) fn event(&mut self) -> Option<Event> {
        let now = Instant::now();
        if now < self.due {
            return None;
        }
        self.due = (self.due + PROGRESS).max(now);
        let flows: Option<Vec<FlowCounts>> = self.live.flows.iter().map(|gauge| gauge.read().map(Into::into)).collect();
        let links = self.opaque.iter().map(|&link| self.live.links[link].read().map(Into::into));
        let (flows, links): (_, Vec<LinkCounts>) = (flows?, links.collect::<Option<_>>()?);
        let time_ns = flows.iter().map(|flow| flow.time_ns).chain(links.iter().map(|link| link.time_ns)).max()?;
        if self.last_ns.replace(time_ns).is_some_and(|last| last >= time_ns) {
            return None;
        }
        let (flows, links) = (self.meter.flows(flows.into_iter()), self.meter.links(links.into_iter()));
        let health = self.live.health[0].read().map(Health::from);
        Some(Event::Progress { time_ns, flows, links, health })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
        let link = |name: &str, from: &str, to: &str, delay_ns: i64| {
            let delay_ns = units::Duration(delay_ns);
            plan::Link { delay_ns, ..plan::Link::transparent(name, from, to) }
        };
        let flow = json!({"id": "f1", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": 5001,
            "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}});
        let plan = json!({"name": "live", "duration_ns": 1, "seed": 1, "flows": [flow],
            "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
            "links": [link("ab", "a", "b", 0), link("ba", "b", "a", 5)],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    fn publish(live: &Live, time_ns: i64) {
        let bytes = 1000 * time_ns as u64;
        let flow = FlowCounts {
            time_ns,
            received_bytes: bytes,
            srtt_us: None,
            cwnd_packets: Some(10),
            retransmitted_segments: Some(0),
            bytes_in_flight: None,
            bbr: None,
        };
        let link = LinkCounts { time_ns, departed_bytes: bytes, queue_bytes: 0, queue_packets: 0, dropped_packets: 0 };
        live.flows[0].publish(flow.words());
        live.links[1].publish(link.words());
    }

    #[test]
    fn an_event_has_every_flow_and_the_links_on_which_something_happens() {
        let (plan, live) = (plan(), Live::of(&plan()).unwrap());
        let mut ticker = Ticker::new(&plan, &live);
        publish(&live, 7);
        let Some(Event::Progress { time_ns, flows, links, health }) = ticker.event() else {
            panic!("it was published")
        };
        assert_eq!(health, None);
        assert_eq!((time_ns, flows[0].id.as_str(), links[0].name.as_str(), links.len()), (7, "f1", "ba", 1));
        assert_eq!(flows[0].goodput_bps, 8_000_000_000_000);
    }

    #[test]
    fn who_publishes_nothing_is_silent() {
        let (plan, live) = (plan(), Live::of(&plan()).unwrap());
        let mut ticker = Ticker::new(&plan, &live);
        let event = |ticker: &mut Ticker<'_>| {
            ticker.due = Instant::now();
            ticker.event()
        };
        assert!(event(&mut ticker).is_none());
        publish(&live, 7);
        assert!(event(&mut ticker).is_some());
        assert!(event(&mut ticker).is_none(), "the same once more");
        publish(&live, 8);
        live.health[0].publish([10, 1, 200, 300, 40, 0]);
        let Some(Event::Progress { health: Some(health), .. }) = event(&mut ticker) else { panic!("it was published") };
        assert_eq!((health.sent_packets, health.lateness_p99_ns), (10, 200));
    }
}
