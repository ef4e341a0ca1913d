use std::path::Path;

use anyhow::Result;
use link::{Network, Packet};
use messages::LinkCounts;
use plan::Plan;
use realtime::{Scheduling, Spans, ThreadTimes};
use records::accounts::LinkReport;
use records::links::LinkRow;
use records::{Names, Writer};
use units::{Duration, Time};

use crate::driver::Driver;
use crate::intake::{Captured, Intake};
use crate::outgoing::Transmit;
use crate::report::{ClockStep, EmulatorReport};

/// The plan's links, and the frames that enter and leave them. It has no clock.
pub(crate) struct Carrier<T> {
    pub network: Network,
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
}

/// The rest of what [`EmulatorReport`] says: of whoever drives the links.
pub(crate) struct Evidence {
    pub warm_up_frames: Option<u64>,
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
    pub(crate) fn new(
        plan: &Plan,
        intake: Intake,
        driver: Driver<T>,
        links: Option<Writer<LinkRow>>,
    ) -> Result<Carrier<T>> {
        let transparent = plan.transparent_links();
        Ok(Carrier {
            network: Network::new(plan)?,
            driver,
            intake,
            arrived: Vec::new(),
            entered: 0,
            ids: 0,
            logged: (0..).zip(&transparent).filter(|(_, transparent)| !**transparent).map(|(i, _)| i).collect(),
            next_tick: Time::ZERO,
            interval: plan.record.sample_interval_ns,
            links,
        })
    }

    /// A frame arrives at `arrival`: its packets enter the network. Returns their number.
    pub(crate) fn enter(&mut self, captured: &Captured<'_>, arrival: Time) -> usize {
        let from = self.intake.take(captured, &mut self.driver, &mut self.arrived);
        let packets = self.arrived.len();
        self.advance_ticks(arrival);
        for packet in self.arrived.drain(..) {
            let id = self.driver.forwarded(packet.handle, from);
            let packet = Packet { id: id.unwrap_or(self.ids), ..packet };
            if self.network.enter(packet, from, arrival, &mut self.driver) {
                self.entered += 1;
                self.ids += u64::from(id.is_none());
            } else {
                self.intake.counts.unroutable += 1;
                self.driver.store.release(packet.handle);
            }
        }
        packets
    }

    /// Let everything happen that is due by `now`.
    pub(crate) fn advance(&mut self, now: Time) {
        self.advance_ticks(now);
        self.network.advance(now, &mut self.driver);
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
            let counts = LinkCounts {
                time_ns: now.as_nanos(),
                departed_bytes: counters.departed_bytes,
                queue_bytes: backlog.bytes,
                queue_packets: u64::from(backlog.packets),
                dropped_packets: counters.dropped_packets(),
            };
            (link, counts)
        })
    }

    /// Write the tables to their end, and `emulator.json` into `dir`.
    pub(crate) fn finish(mut self, plan: &Plan, dir: &Path, evidence: Evidence) -> Result<EmulatorReport> {
        self.network.catch_up(&mut self.driver);
        let inside: Vec<_> = self.network.inside().collect();
        for &(link, passage) in inside.iter().filter(|(link, _)| self.logged.contains(&(*link as u16))) {
            self.driver.record(link, passage, None);
        }
        let mut writer = self.links.expect("a run records its links").finish()?;
        if let Some(packets) = self.driver.packets.take() {
            let packets = packets.finish()?;
            writer.rows += packets.rows;
            writer.cpu_s += packets.cpu_s;
            writer.backlog_max_chunks = writer.backlog_max_chunks.max(packets.backlog_max_chunks);
        }
        let (counts, driver) = (&self.intake.counts, &self.driver);
        let report = EmulatorReport {
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
            warm_up_frames: evidence.warm_up_frames,
            segments_out: driver.segments_out,
            entered_packets: self.entered,
            left_packets: driver.left + driver.send_errors,
            dropped_packets: driver.dropped,
            duplicated_packets: driver.duplicated,
            flooded_packets: driver.flooded,
            filtered_packets: driver.filtered,
            inside_packets: inside.len() as u64,
            links: plan.links.iter().zip(self.network.links()).map(LinkReport::from).collect(),
            scheduling: evidence.scheduling,
            writer,
            spun_s: evidence.spun.as_nanos() as f64 / 1e9,
            spin_us: evidence.spin.as_nanos() as f64 / 1e3,
        };
        report.write(dir)?;
        Ok(report)
    }
}

/// The tables of a run's links.
pub(crate) fn tables(
    plan: &Plan,
    dir: &Path,
) -> Result<(Option<Writer<records::packets::PacketRow>>, Writer<LinkRow>)> {
    let names = Names::of(plan);
    let packets =
        plan.record.packets.then(|| Writer::create(&dir.join("packets.parquet"), names.clone())).transpose()?;
    Ok((packets, Writer::create(&dir.join("links.parquet"), names)?))
}
