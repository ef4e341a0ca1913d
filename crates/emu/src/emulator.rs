use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use link::{Network, Packet};
use messages::{Event, Inbox, LinkCounts, Process};
use plan::Plan;
use realtime::{Gauge, Idle, Sleep, Spans, ThreadTimes, Urgency};
use records::accounts::LinkReport;
use records::links::LinkRow;
use records::{Names, Writer};
use units::{Duration, Time};

use crate::Port;
use crate::arena::Arena;
use crate::clock::StampClock;
use crate::coalescing::Coalescing;
use crate::control::{Control, Taken};
use crate::driver::Driver;
use crate::frame::slot_bytes;
use crate::intake::Intake;
use crate::read_delay;
use crate::report::{ClockStep, EmulatorReport};
use crate::ring::Ring;
use crate::store::Store;
use crate::transmit::Transmitter;

/// Frames read before due packets are sent: reading must not make a burst's head late.
const READ_BATCH: usize = 32;
/// Packets, for the same reason.
const READ_SEGMENTS: usize = 128;
/// Arena memory touched before the run.
const PREFAULT: u64 = 16 << 20;
/// Time between two measurements of the wall clock's offset: a clock slewed by 500 ppm moves by 10 us.
const RESYNC: Duration = Duration::from_millis(20);
/// Time between two measurements of the CPUs' load: long enough for the kernel's ticks of 10 ms.
const IDLE: Duration = Duration::from_millis(200);
/// A stamp that lies further ahead than the error of the offset comes from another setting of the wall clock.
const FUTURE: Duration = Duration::from_micros(100);

/// State of each of the plan's links, for live figures.
pub type LinkGauges = [Gauge<{ LinkCounts::WORDS }>];

/// Emulate the plan's links between `ports` until `control` says stop.
///
/// Says on `events` that it is ready, waits on `control` for the start, and takes the orders to change a link or to stop
/// from there; the end of `control` is a stop, too. Publishes where each link stands to `live`, if there are gauges. Writes
/// `packets.parquet`, `links.parquet` and `emulator.json` into `dir`. The calling thread must be in the namespace of the
/// ports.
pub fn run(
    plan: &Plan,
    ports: &[Port],
    dir: &Path,
    control: OwnedFd,
    events: &File,
    live: Option<&LinkGauges>,
) -> Result<EmulatorReport> {
    let names = Names::of(plan);
    // The writers' threads start before this one becomes urgent, so they don't inherit it.
    let packets =
        plan.record.packets.then(|| Writer::create(&dir.join("packets.parquet"), names.clone())).transpose()?;
    let links = Writer::create(&dir.join("links.parquet"), names.clone())?;
    let ring = Ring::open(plan.emulate.ring_bytes, plan.emulate.path, plan.mtu)?;
    let store = Store::new(Arena::new(plan.emulate.arena_bytes, slot_bytes(plan.mtu), PREFAULT)?);
    let driver = Driver::new(plan, ports, store, Transmitter::open(ports, plan.emulate.path)?, packets);
    Event::Ready { process: Process::Emulator }.emit(&mut &*events)?;
    let mut inbox = Inbox::new(File::from(control));
    let clock = StampClock::new(inbox.wait_for_start()?);
    // As the writers' threads, before this one becomes urgent.
    let control = Control::start(inbox, plan, events)?;
    let transparent = plan.transparent_links();
    let mut emulator = Emulator {
        urgency: Urgency::new(clock.now()),
        clock,
        intake: Intake::new(plan, ports),
        arrived: Vec::new(),
        network: Network::new(plan)?,
        entered: 0,
        logged: (0..).zip(&transparent).filter(|(_, transparent)| !**transparent).map(|(i, _)| i).collect(),
        sleep: Sleep::new(plan.emulate.spin_ns),
        idle: Idle::new(),
        next_idle: Time::ZERO + IDLE,
        spun: Duration::ZERO,
        interval: plan.record.sample_interval_ns,
        send_coalescing: Coalescing::new(plan.emulate.merge_ns),
        read_coalescing: Coalescing::new(read_delay::longest(plan)?),
        next_tick: Time::ZERO,
        next_resync: Time::ZERO,
        read_lag: Spans::default(),
        ring_drops: 0,
        ring,
        driver,
        links,
        live,
        control,
    };
    let began = (emulator.clock.now(), ThreadTimes::now());
    emulator.work()?;
    // Nobody comes any more.
    emulator.driver.flush(&emulator.clock, Duration::ZERO);
    let report = emulator.finish(plan, began)?;
    let file = std::fs::File::create(dir.join("emulator.json")).context("creating emulator.json")?;
    serde_json::to_writer_pretty(file, &report).context("writing emulator.json")?;
    Event::Done { process: Process::Emulator }.emit(&mut &*events)?;
    Ok(report)
}

struct Emulator<'a> {
    clock: StampClock,
    intake: Intake,
    /// Packets of the frame that is being read.
    arrived: Vec<Packet>,
    network: Network,
    /// Packets that have entered it.
    entered: u64,
    /// The links that can do something to a packet.
    logged: Vec<u16>,
    sleep: Sleep,
    idle: Idle,
    next_idle: Time,
    /// Busy-waited in all.
    spun: Duration,
    urgency: Urgency,
    interval: Duration,
    /// Time that a due packet waits for others to leave with it.
    send_coalescing: Coalescing,
    /// Time that an arrival waits to be read with others.
    read_coalescing: Coalescing,
    next_tick: Time,
    next_resync: Time,
    read_lag: Spans,
    ring_drops: u64,
    ring: Ring,
    driver: Driver,
    links: Writer<LinkRow>,
    live: Option<&'a LinkGauges>,
    control: Control,
}

impl Emulator<'_> {
    /// Read, advance, send, sleep; until told to stop.
    fn work(&mut self) -> Result<()> {
        loop {
            // Read before the ring is looked at: whatever arrived until then is in it, so once it is empty the network
            // may advance to this time, but not further.
            let now = self.clock.now();
            let more = self.read_ring();
            if !more {
                self.advance(now);
            }
            self.driver.flush(&self.clock, self.hold());
            if now >= self.next_resync {
                self.next_resync = now + RESYNC;
                self.clock.resync();
                self.urgency.adapt(now);
                self.send_coalescing.adapt(now, self.driver.left);
                self.read_coalescing.adapt(now, self.driver.left);
                self.ring_drops += self.ring.take_drops()?;
                self.publish(now);
                if now >= self.next_idle {
                    self.next_idle = now + IDLE;
                    self.idle.share().into_iter().for_each(|share| self.sleep.adapt(share));
                }
                if self.poll(0, false)? && self.obey()? {
                    return Ok(());
                }
            }
            if more {
                continue;
            }
            if self.wait()? {
                return Ok(());
            }
        }
    }

    /// Let packets from the ring enter the network; `true` if there may be more.
    fn read_ring(&mut self) -> bool {
        let (mut read, mut entered) = (0, 0);
        while read < READ_BATCH && entered < READ_SEGMENTS {
            let Some(captured) = self.ring.peek() else { return false };
            let now = self.clock.now();
            let mut arrival = self.clock.of_stamp(captured.stamp);
            if arrival > now + FUTURE {
                // The wall clock was set forward since the offset was last measured.
                self.clock.resync();
                arrival = self.clock.of_stamp(captured.stamp);
            }
            let arrival = arrival.min(now);
            self.read_lag.add(now - arrival);
            let node = self.intake.take(&captured, &mut self.driver, &mut self.arrived);
            self.ring.release();
            read += 1;
            entered += self.arrived.len();
            self.enter(node, arrival);
        }
        true
    }

    /// Packets that have just arrived from the host `node` enter the network.
    fn enter(&mut self, node: usize, arrival: Time) {
        self.advance_ticks(arrival);
        for packet in self.arrived.drain(..) {
            let packet = Packet { id: self.entered, ..packet };
            if self.network.enter(packet, node, arrival, &mut self.driver) {
                self.entered += 1;
            } else {
                self.intake.counts.unroutable += 1;
                self.driver.store.release(packet.handle);
            }
        }
    }

    fn advance(&mut self, now: Time) {
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
                self.links.push(LinkRow { time, link, counters, backlog, queue_bytes_max, capacity_bytes });
            }
            self.next_tick += self.interval;
        }
    }

    /// Sleep until something is due or arrives; `true` if it is time to stop.
    fn wait(&mut self) -> Result<bool> {
        // The next event may be a delivery, which may wait; so sleep for as long as that.
        let hold = self.hold();
        let event = self.network.next_event();
        let inside = event != Time::NEVER;
        let due = if inside { event + hold } else { event };
        let due = due.min(self.driver.next_handover(hold)).min(self.next_tick).min(self.next_resync);
        let now = self.clock.now();
        // What arrives is not delivered before it has crossed the network: while packets come densely it may wait, too, and
        // need not wake us.
        let read_delay = if inside { hold.max(self.read_coalescing.span()) } else { hold };
        let arrivals = read_delay == Duration::ZERO;
        let spin = (self.sleep.margin().as_nanos() - self.send_coalescing.span().as_nanos()).max(0);
        let spare = (due - now).as_nanos() - spin;
        if spare <= 0 {
            // Too little time to sleep and wake: wait for either on the CPU.
            let mut until = now;
            while self.ring.peek().is_none() && until < due {
                std::hint::spin_loop();
                until = self.clock.now();
            }
            self.spun = self.spun + (until - now);
            return Ok(false);
        }
        let spare = if arrivals { spare } else { spare.min(read_delay.as_nanos()) };
        let ordered = self.poll(spare, arrivals)?;
        let late = self.clock.now() - (now + Duration(spare));
        // Negative: a packet or a word came first.
        if late >= Duration::ZERO {
            self.sleep.observe(late);
        }
        if ordered { self.obey() } else { Ok(false) }
    }

    /// Carry out what `control` says; `true` if it is time to stop.
    fn obey(&mut self) -> Result<bool> {
        for order in self.control.take()? {
            match order {
                Taken::Stop => return Ok(true),
                Taken::Change { link, spec, longest_read_delay } => {
                    // Packets in the ring that arrived before the change enter the link as it was.
                    let now = self.clock.now();
                    self.network.change_link(link, *spec, now);
                    self.read_coalescing.set_limit(longest_read_delay);
                    self.control.applied(now);
                }
            }
        }
        Ok(false)
    }

    /// Tell whoever looks on where the links stand.
    fn publish(&self, now: Time) {
        let Some(gauges) = self.live else { return };
        for &link in &self.logged {
            let state = &self.network.links()[usize::from(link)];
            let (counters, backlog) = (state.counters(), state.backlog());
            let counts = LinkCounts {
                time_ns: now.as_nanos(),
                departed_bytes: counters.departed_bytes,
                queue_bytes: backlog.bytes,
                queue_packets: u64::from(backlog.packets),
                dropped_packets: counters.dropped_packets(),
            };
            gauges[usize::from(link)].publish(counts.words());
        }
    }

    /// Time that a due packet waits for others to leave with: less than the limit, because waking up takes time, too.
    fn hold(&self) -> Duration {
        Duration((self.send_coalescing.span().as_nanos() - self.sleep.margin().as_nanos()).max(0))
    }

    /// Sleep for at most `ns`, or until an order on `control` or, if `arrivals` count, a packet; `true` if there is an order.
    fn poll(&self, ns: i64, arrivals: bool) -> Result<bool> {
        use std::os::fd::AsFd;
        let fd = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // A negative descriptor is passed over.
        let ring = if arrivals { self.ring.as_fd().as_raw_fd() } else { -1 };
        let mut fds = [fd(ring), fd(self.control.poll_fd())];
        let timeout = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        // SAFETY: valid descriptors and timeout.
        let ready = unsafe { libc::ppoll(fds.as_mut_ptr(), 2, &timeout, std::ptr::null()) };
        if ready < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error).context("waiting for packets");
            }
        }
        Ok(ready > 0 && fds[1].revents != 0)
    }

    fn finish(mut self, plan: &Plan, (started, before): (Time, ThreadTimes)) -> Result<EmulatorReport> {
        let ended = self.clock.now();
        self.ring_drops += self.ring.take_drops()?;
        self.network.catch_up(&mut self.driver);
        let inside: Vec<_> = self.network.inside().collect();
        for &(link, passage) in inside.iter().filter(|(link, _)| self.logged.contains(&(*link as u16))) {
            self.driver.record(link, passage, None);
        }
        let ThreadTimes { cpu_s, run_delay_s, scheduled } = ThreadTimes::now().since(before);
        let mut writer = self.links.finish()?;
        if let Some(packets) = self.driver.packets.take() {
            let packets = packets.finish()?;
            writer.rows += packets.rows;
            writer.cpu_s += packets.cpu_s;
            writer.backlog_max_chunks = writer.backlog_max_chunks.max(packets.backlog_max_chunks);
        }
        Ok(EmulatorReport {
            lateness_us: self.driver.lateness.quantiles(),
            late_over_1ms: self.driver.lateness.count_over(Duration::from_millis(1)),
            sent_packets: self.driver.lateness.count(),
            read_lag_us: self.read_lag.quantiles(),
            ring_packets: self.intake.counts.frames,
            ring_drops: self.ring_drops,
            arena_bytes: plan.emulate.arena_bytes,
            arena_peak_bytes: self.driver.store.peak_bytes(),
            arena_overflows: self.intake.counts.arena_overflows,
            cpu_s,
            run_delay_s,
            scheduled,
            wall_s: (ended - started).as_nanos() as f64 / 1e9,
            clock_steps: self.clock.steps().iter().map(ClockStep::from).collect(),
            send_errors: self.driver.send_errors,
            send_error: self.driver.send_error,
            unroutable_packets: self.intake.counts.unroutable,
            oversize_packets: self.intake.counts.oversize,
            checksum_missing: self.intake.counts.checksum_missing,
            path: plan.emulate.path,
            bursts_in: self.intake.counts.bursts,
            segments_in: self.intake.counts.segments,
            bursts_out: self.driver.bursts_out,
            segments_out: self.driver.segments_out,
            entered_packets: self.entered,
            left_packets: self.driver.left + self.driver.send_errors,
            dropped_packets: self.driver.dropped,
            duplicated_packets: self.driver.duplicated,
            inside_packets: inside.len() as u64,
            links: plan.links.iter().zip(self.network.links()).map(LinkReport::from).collect(),
            scheduling: self.urgency.scheduling(),
            writer,
            spun_s: self.spun.as_nanos() as f64 / 1e9,
            spin_us: self.sleep.margin().as_nanos() as f64 / 1e3,
        })
    }
}
