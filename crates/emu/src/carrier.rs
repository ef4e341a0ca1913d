use std::path::Path;

use anyhow::Result;
use link::{Network, Out, Packet};
use messages::LinkCounts;
use plan::Plan;
use realtime::{Scheduling, Spans, ThreadTimes};
use records::accounts::LinkReport;
use records::frames::Frames;
use records::links::LinkRow;
use records::packets::PacketRow;
use records::{Names, Writer, WriterStats};
use units::{Duration, Time};

use crate::classify::MetFlows;
use crate::driver::Driver;
use crate::earlier::Earlier;
use crate::intake::{Captured, Intake};
use crate::outgoing::Transmit;
use crate::report::{ClockStep, EmulatorReport};

/// The plan's links, and the frames that enter and leave them. It has no clock.
pub(crate) struct Carrier<T> {
    pub network: Network,
    /// The links for frames that come before time 0, the latest last.
    earlier: Vec<Earlier>,
    pub driver: Driver<T>,
    pub intake: Intake,
    /// Packets of the frame that is being read.
    arrived: Vec<Packet>,
    /// Packets that have entered the network.
    entered: u64,
    /// Packets that did so for the first time: those that a router forwards keep their ids.
    ids: u64,
    /// The links that can do something to a packet.
    logged: Vec<u16>,
    /// The time at which the links' next rows are due.
    pub next_tick: Time,
    interval: Duration,
    /// `None`: nothing is recorded.
    links: Option<Writer<LinkRow>>,
    /// Counts of links before records began anew.
    before: Vec<(u64, u64)>,
}

/// The tables of packets and links, and the capture, while they are written.
pub(crate) struct Tables {
    pub packets: Option<Writer<PacketRow>>,
    pub links: Option<Writer<LinkRow>>,
    pub frames: Option<Frames>,
}

impl Tables {
    /// Whoever writes a row waits while so many chunks of rows wait to be written.
    pub(crate) fn waiting(self, chunks: usize) -> Tables {
        let packets = self.packets.map(|table| table.waiting(chunks));
        Tables { packets, links: self.links.map(|table| table.waiting(chunks)), ..self }
    }

    /// Write them to their end, and say what they have cost.
    pub(crate) fn finish(self) -> Result<WriterStats> {
        let mut writer = self.links.map(Writer::finish).transpose()?.unwrap_or_default();
        if let Some(packets) = self.packets.map(Writer::finish).transpose()? {
            writer.rows += packets.rows;
            writer.cpu_s += packets.cpu_s;
            writer.backlog_max_chunks = writer.backlog_max_chunks.max(packets.backlog_max_chunks);
        }
        self.frames.map(Frames::finish).transpose()?;
        Ok(writer)
    }
}

/// The rest of what [`EmulatorReport`] says: of whoever drives the links.
pub(crate) struct Evidence {
    pub read_lag: Spans,
    pub ring_drops: u64,
    pub times: ThreadTimes,
    pub wall: Duration,
    pub clock_steps: Vec<ClockStep>,
    pub scheduling: Scheduling,
    pub spun: Duration,
    pub spin: Duration,
}

impl<T: Transmit> Carrier<T> {
    pub(crate) fn new(plan: &Plan, intake: Intake, mut driver: Driver<T>, tables: Tables) -> Result<Carrier<T>> {
        let transparent = plan.transparent_links();
        (driver.packets, driver.frames) = (tables.packets, tables.frames);
        Ok(Carrier {
            network: Network::new(plan)?,
            // Time 0 waits for routing, which needs frames carried.
            earlier: plan.wait.map(|_| Earlier::new(plan)).transpose()?.into_iter().collect(),
            driver,
            intake,
            arrived: Vec::new(),
            entered: 0,
            ids: 0,
            logged: (0..).zip(&transparent).filter(|(_, transparent)| !**transparent).map(|(i, _)| i).collect(),
            next_tick: Time::ZERO,
            interval: plan.record.sample_interval_ns,
            links: tables.links,
            before: vec![(0, 0); plan.links.len()],
        })
    }

    /// A frame arrives at `arrival`: its packets enter the network. Returns their number.
    pub(crate) fn enter(&mut self, captured: &Captured<'_>, arrival: Time) -> usize {
        if !self.earlier.is_empty() && arrival < Time::ZERO {
            return self.enter_early(captured, arrival);
        }
        let from = self.intake.take(captured, &mut self.driver, &mut self.arrived);
        let packets = self.arrived.len();
        self.advance_earlier(arrival);
        self.advance_ticks(arrival);
        for packet in self.arrived.drain(..) {
            let id = self.driver.forwarded(packet.handle, from);
            let packet = Packet { id: id.unwrap_or(self.ids), ..packet };
            let payload_bytes = self.driver.store.get(packet.handle).payload_bytes;
            self.driver.datagrams.entered(&packet, from, payload_bytes, arrival);
            if self.network.enter(packet, from as u32, arrival, &mut self.driver) {
                self.entered += 1;
                self.ids += u64::from(id.is_none());
            } else {
                self.intake.counts.unroutable += 1;
                self.driver.store.release(packet.handle);
            }
        }
        packets
    }

    /// A link is another from now on.
    pub(crate) fn change_link(&mut self, link: u32, spec: plan::Link, now: Time) {
        self.driver.expect(link, &spec);
        self.network.change_link(link, spec, now);
    }

    /// A frame comes before time 0.
    fn enter_early(&mut self, captured: &Captured<'_>, arrival: Time) -> usize {
        let Some(earlier) = self.earlier.last_mut() else { return 0 };
        let counts = self.intake.counts;
        let from = self.intake.take(captured, &mut self.driver, &mut self.arrived);
        self.intake.counts = counts;
        let packets = self.arrived.len();
        for packet in self.arrived.drain(..) {
            if !earlier.enter(packet, from, arrival, &mut self.driver) {
                self.driver.store.release(packet.handle);
            }
        }
        packets
    }

    /// The run's time 0 comes so long after the beginning of the links for earlier frames.
    pub(crate) fn set_origin(&mut self, after: Duration) {
        self.earlier.iter_mut().for_each(|earlier| earlier.set_origin(after));
    }

    /// The time at which something may next happen, if nothing enters.
    pub(crate) fn next_event(&mut self) -> Time {
        let earlier = self.earlier.iter_mut().map(Earlier::next_event).min().unwrap_or(Time::NEVER);
        earlier.min(self.network.next_event())
    }

    /// A frame came out of a part of a link that the kernel carries.
    pub(crate) fn left(&mut self, (link, part, out): (u32, usize, Out), now: Time) {
        self.advance_ticks(now);
        if !self.network.left(link, part, out, now, &mut self.driver) {
            self.intake.counts.unroutable += 1;
        }
    }

    /// Let everything happen that is due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        self.advance_earlier(now);
        self.advance_ticks(now);
        self.network.advance(now, &mut self.driver);
    }

    fn advance_earlier(&mut self, now: Time) {
        for earlier in &mut self.earlier {
            earlier.advance(now, &mut self.driver);
            if now >= Time::ZERO && !earlier.is_over {
                earlier.end(&mut self.network);
            }
        }
        self.earlier.retain_mut(|earlier| !earlier.is_empty(now));
    }

    /// Records begin, and time with them: `now` is time 0. Links begin empty, as those of `plan`; what is on them arrives
    /// beside the run's, and is neither counted nor recorded. Hand over all that is due before.
    pub(crate) fn begin(&mut self, plan: &Plan, tables: Tables, met: MetFlows, now: Time) -> Result<()> {
        let fresh = Network::new(plan)?;
        self.network.catch_up(&mut self.driver);
        for (_, passage) in self.network.inside() {
            let inside = self.driver.store.get_mut(passage.packet.handle);
            (inside.earlier, inside.pending) = (true, None);
        }
        for (before, link) in self.before.iter_mut().zip(self.network.links()) {
            let counters = link.counters();
            *before = (before.0 + counters.departed_bytes, before.1 + counters.dropped_packets());
        }
        let old = std::mem::replace(&mut self.network, fresh);
        let ago = now - Time::ZERO;
        self.network.learn_from(&old, ago);
        self.earlier.iter_mut().for_each(|earlier| earlier.shift(ago));
        self.driver.captures.iter_mut().for_each(|(_, frames)| frames.shift(ago));
        self.earlier.push(Earlier::taken_over(old, ago));
        (self.entered, self.ids, self.next_tick) = (0, 0, Time::ZERO);
        self.interval = plan.record.sample_interval_ns;
        self.intake.begin(met);
        self.links = tables.links;
        self.driver.begin(plan, tables.packets, tables.frames);
        Ok(())
    }

    /// The capture in this directory ends. It has what came to its links, also where that is still inside.
    pub(crate) fn end_capture(&mut self, directory: &Path) -> Option<Frames> {
        let at = self.driver.captures.iter().position(|(own, _)| own == directory)?;
        let (_, mut frames) = self.driver.captures.swap_remove(at);
        self.network.catch_up(&mut self.driver);
        for (link, passage) in self.network.inside() {
            frames.passed(link as u16, &passage, self.driver.store.frame(passage.packet.handle), "");
        }
        Some(frames)
    }

    /// Records end at `now`: the tables, to be finished, and the account. Hand over all that is due before.
    pub(crate) fn end(&mut self, plan: &Plan, evidence: Evidence) -> (Tables, EmulatorReport) {
        self.intake.end();
        self.driver.datagrams.begin();
        let report = EmulatorReport { warm_up_frames: Some(self.driver.earlier_out), ..self.account(plan, evidence) };
        (self.tables(), report)
    }

    /// Write the links' rows that are due by `now`, each at its own time.
    fn advance_ticks(&mut self, now: Time) {
        while self.next_tick <= now {
            let time = self.next_tick;
            self.network.advance(time, &mut self.driver);
            self.network.catch_up(&mut self.driver);
            for &link in &self.logged {
                let state = &mut self.network.links_mut()[usize::from(link)];
                let (counters, backlog) = (state.counters(), state.backlog());
                let queue_bytes_max = state.take_queue_bytes_max();
                let capacity_bytes = state.capacity_bytes(time);
                if let Some(links) = &mut self.links {
                    links.push(LinkRow { time, link, counters, backlog, queue_bytes_max, capacity_bytes });
                }
            }
            self.next_tick += self.interval;
        }
    }

    /// The states of the logged links, by index among the plan's.
    pub(crate) fn counts(&self, now: Time) -> impl Iterator<Item = (u16, LinkCounts)> {
        self.logged.iter().map(move |&link| {
            let state = &self.network.links()[usize::from(link)];
            let (counters, backlog) = (state.counters(), state.backlog());
            let before = self.before[usize::from(link)];
            let counts = LinkCounts {
                time_ns: now.as_nanos(),
                departed_bytes: before.0 + counters.departed_bytes,
                queue_bytes: backlog.bytes,
                queue_packets: u64::from(backlog.packets),
                dropped_packets: before.1 + counters.dropped_packets(),
            };
            (link, counts)
        })
    }

    /// Write the tables to their end, and `emulator.json` into `dir`.
    pub(crate) fn finish(mut self, plan: &Plan, dir: &Path, evidence: Evidence) -> Result<EmulatorReport> {
        let account = self.account(plan, evidence);
        let report = EmulatorReport { writer: self.tables().finish()?, ..account };
        report.write(dir)?;
        Ok(report)
    }

    /// The tables, in which no more is written.
    fn tables(&mut self) -> Tables {
        Tables { packets: self.driver.packets.take(), links: self.links.take(), frames: self.driver.frames.take() }
    }

    /// The account so far, without the cost of writing. Packets inside get their rows.
    fn account(&mut self, plan: &Plan, evidence: Evidence) -> EmulatorReport {
        self.network.catch_up(&mut self.driver);
        let inside: Vec<_> = self.network.inside().collect();
        for &(link, passage) in inside.iter().filter(|(link, _)| self.logged.contains(&(*link as u16))) {
            self.driver.capture(link, &passage);
            self.driver.record(link, passage, None);
        }
        let (counts, driver) = (&self.intake.counts, &self.driver);
        EmulatorReport {
            lateness_us: driver.lateness.quantiles(),
            late_over_1ms: driver.lateness.count_over(Duration::from_millis(1)),
            sent_packets: driver.lateness.count(),
            read_lag_us: evidence.read_lag.quantiles(),
            ring_packets: counts.frames,
            ring_drops: evidence.ring_drops,
            arena_bytes: plan.emulate.arena_bytes,
            arena_peak_bytes: driver.store.peak_bytes(),
            arena_overflows: counts.arena_overflows + driver.unflooded,
            cpu_s: evidence.times.cpu_s,
            run_delay_s: evidence.times.run_delay_s,
            scheduled: evidence.times.scheduled,
            wall_s: evidence.wall.as_nanos() as f64 / 1e9,
            clock_steps: evidence.clock_steps,
            send_errors: driver.send_errors,
            send_error: driver.send_error.clone(),
            unroutable_packets: counts.unroutable,
            oversize_packets: counts.oversize,
            checksum_missing: counts.checksum_missing,
            path: plan.emulate.path,
            bursts_in: counts.bursts,
            segments_in: counts.segments,
            bursts_out: driver.bursts_out,
            warm_up_frames: plan.wait.map(|_| driver.earlier_out),
            segments_out: driver.segments_out,
            entered_packets: self.entered,
            left_packets: driver.left + driver.send_errors + driver.without_carrier,
            without_carrier: driver.without_carrier,
            dropped_packets: driver.dropped,
            duplicated_packets: driver.duplicated,
            flooded_packets: driver.flooded,
            filtered_packets: driver.filtered,
            inside_packets: inside.len() as u64,
            links: plan.links.iter().zip(self.network.links()).map(LinkReport::from).collect(),
            scheduling: evidence.scheduling,
            writer: WriterStats::default(),
            spun_s: evidence.spun.as_nanos() as f64 / 1e9,
            spin_us: evidence.spin.as_nanos() as f64 / 1e3,
        }
    }
}

/// The tables of a run's links, and its capture, which waits for the disk while so many chunks of it are `waiting`.
pub(crate) fn tables(plan: &Plan, names: Names, dir: &Path, waiting: usize) -> Result<Tables> {
    let packets =
        plan.record.packets.then(|| Writer::create(&dir.join("packets.parquet"), names.clone())).transpose()?;
    let links = Some(Writer::create(&dir.join("links.parquet"), names)?);
    let frames = plan.record.capture.then(|| Frames::create(plan, dir, waiting)).transpose()?;
    Ok(Tables { packets, links, frames })
}

/// Chunks of a capture that wait for the disk before time that cannot stand still waits, too: 4 GiB.
pub(crate) const CHUNKS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Port;
    use crate::arena::Arena;
    use crate::frame::slot_bytes;
    use crate::gso::Vnet;
    use crate::outgoing::Outgoing;
    use crate::store::Store;

    /// Takes the port and the last byte of each frame.
    #[derive(Default)]
    struct Taken(std::rc::Rc<std::cell::RefCell<Vec<(u16, u8)>>>);

    impl Transmit for Taken {
        fn send(&mut self, frames: &Outgoing, first: usize) -> (usize, Option<std::io::Error>) {
            let sent: Vec<_> = frames
                .frames(first)
                .map(|(port, parts)| {
                    let part = parts.last().unwrap();
                    // SAFETY: a part of a frame, at least a byte long.
                    (port, unsafe { *part.iov_base.cast::<u8>().add(part.iov_len - 1) })
                })
                .collect();
            let count = sent.len();
            self.0.borrow_mut().extend(sent);
            (count, None)
        }
    }

    /// A host, a switch and a router that waits for its daemons; 10 ms from the host to the switch.
    fn plan() -> Plan {
        let interface = |mac: &str, address: &str| json!([{"name": "eth0", "mac": mac, "addresses": [address]}]);
        let routing = json!({"config": "", "daemons": ["ripd"], "expect": []});
        let wire = |name: &str, from: &str, to: &str, delay_ns: i64| {
            let at = |node: &str| (node != "s").then(|| "eth0".to_owned());
            let delay_ns = Duration(delay_ns);
            plan::Link {
                from_interface: at(from),
                to_interface: at(to),
                delay_ns,
                ..plan::Link::transparent(name, from, to)
            }
        };
        let plan = json!({"name": "early", "duration_ns": 1_000_000_000, "seed": 1, "flows": [],
            "nodes": [
                {"kind": "host", "name": "h", "address": "10.0.0.1", "sysctl": {},
                 "interfaces": interface("02:db:00:00:00:01", "10.0.0.1/24")},
                {"kind": "switch", "name": "s"},
                {"kind": "router", "name": "r", "address": "10.0.0.2", "sysctl": {}, "routing": routing,
                 "interfaces": interface("02:db:00:00:00:02", "10.0.0.2/24")},
                {"kind": "host", "name": "k", "address": "10.0.0.3", "sysctl": {},
                 "interfaces": interface("02:db:00:00:00:03", "10.0.0.3/24")}],
            "links": [wire("hs", "h", "s", 10_000_000), wire("sh", "s", "h", 0), wire("sr", "s", "r", 0),
                wire("rs", "r", "s", 0), wire("sk", "s", "k", 0), wire("ks", "k", "s", 0)],
            "wait": {"limit_ns": 1},
            "record": {"sample_interval_ns": 100_000_000, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1_048_576}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    fn ports() -> Vec<Port> {
        let port = |host: &str, last| Port {
            host: host.into(),
            interface: "eth0".into(),
            mac: [2, 0xdb, 0, 0, 0, last],
            gateway_mac: None,
            ifindex: i32::from(last),
        };
        vec![port("h", 1), port("r", 2), port("k", 3)]
    }

    fn frame(to: u8, from: u8, last: u8) -> Vec<u8> {
        [&[2, 0xdb, 0, 0, 0, to, 2, 0xdb, 0, 0, 0, from, 0x88, 0xb5][..], &[last; 46]].concat()
    }

    #[test]
    fn what_is_on_the_wires_at_time_0_arrives_and_is_not_counted() {
        let (plan, dir, taken) = (plan(), tempfile::tempdir().unwrap(), Taken::default());
        let seen = taken.0.clone();
        let store = Store::new(Arena::new(plan.emulate.arena_bytes, slot_bytes(plan.largest_mtu()), 0).unwrap());
        let tables = tables(&plan, Names::of(&plan), dir.path(), CHUNKS).unwrap();
        let driver = Driver::new(&plan, &ports(), store, taken);
        let mut carrier = Carrier::new(&plan, Intake::new(&plan, &ports()), driver, tables).unwrap();
        let enter = |carrier: &mut Carrier<Taken>, bytes: Vec<u8>, at: Time| {
            let (len, ifindex) = (bytes.len() as u32, i32::from(bytes[11]));
            let captured = Captured { frame: &bytes, vnet: Vnet::default(), len, ifindex, checksum_missing: false };
            carrier.enter(&captured, at);
            carrier.advance(at);
            carrier.driver.flush(|| at, Duration::ZERO);
        };
        let ms = Duration::from_millis;

        // Nobody knows the router: the host's frame comes to all, 10 ms later.
        enter(&mut carrier, frame(2, 1, 1), Earlier::BEGIN);
        enter(&mut carrier, frame(1, 2, 2), Earlier::BEGIN + ms(20));
        assert_eq!(*seen.borrow(), [(1, 1), (2, 1), (0, 2)], "the switch knows both now");
        // Time 0 is 100 ms after the beginning; this one is under way then.
        carrier.set_origin(ms(100));
        enter(&mut carrier, frame(2, 1, 3), Time::ZERO - ms(5));
        enter(&mut carrier, frame(2, 1, 4), Time::ZERO + ms(1));
        assert_eq!(carrier.next_event(), Time::ZERO + ms(5));
        enter(&mut carrier, frame(1, 3, 5), Time::ZERO + ms(20));
        assert_eq!(seen.borrow()[3..], [(1, 3), (1, 4), (0, 5)], "switches remember, and no wire was cut");
        carrier.advance(Time::ZERO + ms(2000));
        assert!(carrier.earlier.is_empty());

        let evidence = Evidence {
            read_lag: Spans::default(),
            ring_drops: 0,
            times: ThreadTimes { cpu_s: 0.0, run_delay_s: None, scheduled: None },
            wall: ms(2000),
            clock_steps: Vec::new(),
            scheduling: Scheduling { real_time: false, stepped_back: 0, nice: 0, slice_ns: 0, cpus: 1, awake: false },
            spun: Duration::ZERO,
            spin: Duration::ZERO,
        };
        let report = carrier.finish(&plan, dir.path(), evidence).unwrap();
        assert_eq!((report.entered_packets, report.left_packets, report.flooded_packets), (2, 2, 0));
        assert_eq!((report.bursts_out, report.warm_up_frames, report.ring_packets), (2, Some(4), 2));
        assert_eq!(report.links[0].arrived_packets, 1);
    }

    #[test]
    fn a_record_counts_what_comes_within_it_and_no_wire_is_cut() {
        let (plan, dir, taken) = (plan(), tempfile::tempdir().unwrap(), Taken::default());
        let plan = Plan { wait: None, ..plan };
        let seen = taken.0.clone();
        let store = Store::new(Arena::new(plan.emulate.arena_bytes, slot_bytes(plan.largest_mtu()), 0).unwrap());
        let tables = tables(&plan, Names::of(&plan), dir.path(), CHUNKS).unwrap();
        let driver = Driver::new(&plan, &ports(), store, taken);
        let mut carrier = Carrier::new(&plan, Intake::new(&plan, &ports()), driver, tables).unwrap();
        let enter = |carrier: &mut Carrier<Taken>, bytes: Vec<u8>, at: Time| {
            let (len, ifindex) = (bytes.len() as u32, i32::from(bytes[11]));
            let captured = Captured { frame: &bytes, vnet: Vnet::default(), len, ifindex, checksum_missing: false };
            carrier.enter(&captured, at);
            carrier.advance(at);
            carrier.driver.flush(|| at, Duration::ZERO);
        };
        let record = |carrier: &mut Carrier<Taken>, name: &str, now: Time| {
            let own = dir.path().join(name);
            std::fs::create_dir(&own).unwrap();
            let tables = super::tables(&plan, records::found::names(&plan), &own, CHUNKS).unwrap();
            let found = MetFlows::create(&plan, &own).unwrap();
            carrier.begin(&plan, tables, found, now).unwrap();
        };
        let evidence = || Evidence {
            read_lag: Spans::default(),
            ring_drops: 0,
            times: ThreadTimes { cpu_s: 0.0, run_delay_s: None, scheduled: None },
            wall: Duration::ZERO,
            clock_steps: Vec::new(),
            scheduling: Scheduling { real_time: false, stepped_back: 0, nice: 0, slice_ns: 0, cpus: 1, awake: false },
            spun: Duration::ZERO,
            spin: Duration::ZERO,
        };
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);

        // The switch learns both; 10 ms from the host to it.
        enter(&mut carrier, frame(2, 1, 1), ms(0));
        enter(&mut carrier, frame(1, 2, 2), ms(20));
        enter(&mut carrier, frame(2, 1, 3), ms(95));
        let before = seen.borrow().len();
        record(&mut carrier, "first", ms(100));
        // One that came just before the record, and was read after its beginning.
        enter(&mut carrier, frame(2, 1, 4), Time::ZERO - Duration::from_millis(1));
        enter(&mut carrier, frame(2, 1, 5), ms(2));
        carrier.advance(ms(30));
        carrier.driver.flush(|| ms(30), Duration::ZERO);
        assert_eq!(seen.borrow()[before..], [(1, 3), (1, 4), (1, 5)]);
        assert_eq!(
            carrier.counts(ms(30)).map(|(_, counts)| counts.departed_bytes).sum::<u64>(),
            60 * 3,
            "but for the late one"
        );
        // On its way at the end: it is inside the first record, and before the second.
        enter(&mut carrier, frame(2, 1, 6), ms(40));
        let (tables, report) = carrier.end(&plan, evidence());
        assert_eq!((report.entered_packets, report.left_packets, report.inside_packets), (2, 1, 1));
        assert_eq!((report.bursts_out, report.warm_up_frames), (1, Some(2)));
        // A logged row for each that came within it.
        assert!(tables.finish().unwrap().rows >= 2);
        record(&mut carrier, "second", ms(45));
        carrier.advance(ms(20));
        carrier.driver.flush(|| ms(20), Duration::ZERO);
        assert_eq!(seen.borrow()[before + 3..], [(1, 6)]);
        let (_, report) = carrier.end(&plan, evidence());
        assert_eq!((report.entered_packets, report.left_packets, report.warm_up_frames), (0, 0, Some(1)));
        carrier.advance(ms(5000));
        assert!(carrier.earlier.is_empty());
    }
}
