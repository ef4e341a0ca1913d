use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use messages::{Event, Health, Inbox, LinkCounts, Process};
use plan::Plan;
use realtime::{Gauge, Idle, Sleep, Spans, ThreadTimes, Urgency, monotonic_ns, wall_clock_ns};
use records::Names;
use records::found::DatagramGauges;
use units::{Duration, Time};

use crate::arena::Arena;
use crate::carrier::{CHUNKS, Carrier, Evidence, tables};
use crate::clock::StampClock;
use crate::coalescing::Coalescing;
use crate::control::{Begin, Control, Done, Ended, Taken};
use crate::device::Device;
use crate::driver::Driver;
use crate::frame::slot_bytes;
use crate::hops::Hops;
use crate::intake::Intake;
use crate::plugs::Plugs;
use crate::read_delay;
use crate::report::ClockStep;
use crate::ring::Ring;
use crate::store::Store;
use crate::transmit::PacketSocket;
use crate::warm_up;
use crate::{Hop, Port};

/// Frames read before due packets are sent: reading must not make a burst's head late.
const READ_BATCH: usize = 32;
/// Packets, for the same reason.
const READ_SEGMENTS: usize = 128;
/// Arena memory touched before the run, but no more than a sixteenth of it: a small arena means that memory is scarce.
const PREFAULT: u64 = 16 << 20;
/// Time between two measurements of the wall clock's offset: a clock slewed by 500 ppm moves by 10 us.
const RESYNC: Duration = Duration::from_millis(20);
/// Time between two measurements of the CPUs' load: long enough for the kernel's ticks of 10 ms.
const IDLE: Duration = Duration::from_millis(200);
/// A stamp that lies further ahead than the error of the offset comes from another setting of the wall clock.
const FUTURE: Duration = Duration::from_micros(100);

/// Time after a frame's stamp by which the kernel has put it into the ring.
const SETTLED: Duration = Duration::from_millis(1);
/// Time after which links whose work others have taken over end, though something is still inside.
const SPENT: Duration = Duration::from_secs(10);

/// Time between two looks at how late packets were: each goes through thousands of counts.
const LOOK: Duration = Duration::from_millis(100);

/// Where a run stands, for live figures.
#[derive(Clone, Copy)]
pub struct LiveGauges<'a> {
    /// State of each of the plan's links.
    pub links: &'a [Gauge<{ LinkCounts::WORDS }>],
    /// How late packets were so far; nobody is late in a kernel's own time, which publishes nothing.
    pub health: &'a Gauge<{ Health::WORDS }>,
}

/// Whoever says how nodes and machine fared while a lab was recorded. Nothing leaves the links meanwhile.
pub trait Witness {
    /// Records begin.
    fn begin(&self) -> Result<()>;
    /// Records have ended. Write what is to be said of them into `dir`.
    fn end(&self, dir: &Path) -> Result<()>;
    /// Where the counts of datagrams go, for whoever samples flows.
    fn datagrams(&self) -> &DatagramGauges;
}

/// The interfaces by which a run's packets come and go.
#[derive(Clone, Copy)]
pub struct Ends<'a> {
    /// Host ports.
    pub ports: &'a [Port],
    /// Ports of the kernel's queueing disciplines that are parts of links; empty if all links are ours.
    pub hops: &'a [Hop],
}

/// Emulate the plan's links between `ends` until `control` says stop.
///
/// Says on `events` that it is ready, waits on `control` for the start, and takes the orders to change a link or to stop
/// from there; the end of `control` is a stop, too. Publishes where each link stands to `live`, if there are gauges. Writes
/// `packets.parquet`, `links.parquet` and `emulator.json` into `dir`. The calling thread must be in the namespace of the
/// ports. If there is a `witness`, orders begin and end records of a lab, each in a directory of its own.
///
/// A kernel that carries packets itself does so ([`crate::hosted`]), and writes these files.
pub fn run(
    plan: &Plan,
    ends: Ends<'_>,
    dir: &Path,
    control: OwnedFd,
    events: &File,
    live: Option<LiveGauges<'_>>,
    witness: Option<&dyn Witness>,
) -> Result<()> {
    match Device::find()? {
        Some(device) => device.run(plan, ends, control, events, live)?,
        None => in_real_time(plan, ends, dir, control, events, live, witness)?,
    }
    Event::Done { process: Process::Emulator }.emit(&mut &*events)
}

fn in_real_time(
    plan: &Plan,
    ends: Ends<'_>,
    dir: &Path,
    control: OwnedFd,
    events: &File,
    live: Option<LiveGauges<'_>>,
    witness: Option<&dyn Witness>,
) -> Result<()> {
    let Ends { ports, hops } = ends;
    // The writers' threads start before this one becomes urgent, so they don't inherit it.
    let tables = tables(plan, Names::of(plan), dir, CHUNKS)?;
    let mut ring = Ring::open(plan)?;
    let bytes = plan.emulate.arena_bytes;
    let store = Store::new(Arena::new(bytes, slot_bytes(plan.largest_mtu()), PREFAULT.min(bytes / 16))?);
    let driver = Driver::new(plan, ports, store, PacketSocket::open(ports, hops, plan.emulate.path)?);
    let mut carrier = Carrier::new(plan, Intake::new(plan, ports), driver, tables)?;
    let qdiscs = plan.qdiscs().map_err(|what| anyhow!("the kernel's links don't have {what}"))?;
    carrier.network.hand_out(&qdiscs);
    carrier.driver.hops = Hops::new(plan.links.len(), hops, |hop| ports.len() + hop);
    let plugs = Plugs::new(plan, ports)?;
    Event::Ready { process: Process::Emulator }.emit(&mut &*events)?;
    let mut inbox = Inbox::new(File::from(control));
    let (origin_ns, after) = match plan.wait {
        Some(_) => (warm_up::carry(&mut carrier, &mut ring, &mut inbox)?, None),
        None => inbox.wait_for_turn()?,
    };
    let clock = StampClock::new(origin_ns);
    // Their threads start like the writers', before this one becomes urgent.
    plugs.follow_events(plan, origin_ns)?;
    let control = Control::start(inbox, plan, events, plugs)?;
    let mut emulator = Emulator {
        urgency: Urgency::new(clock.now()),
        clock,
        carrier,
        sleep: Sleep::new(plan.emulate.spin_ns),
        idle: Idle::new(),
        next_idle: Time::ZERO + IDLE,
        spun: Duration::ZERO,
        send_coalescing: Coalescing::new(plan.emulate.merge_ns),
        read_coalescing: Coalescing::new(read_delay::longest(plan)?),
        next_resync: Time::ZERO,
        read_lag: Spans::default(),
        ring_drops: 0,
        ring,
        live,
        next_look: Time::ZERO,
        control,
        witness,
        recorded: plan.clone(),
        origin: Duration::ZERO,
        began: (Time::ZERO, ThreadTimes::now()),
        after: after.unwrap_or(i64::MIN),
        retired: None,
    };
    if after.is_some() {
        // The rows of links before this time are those of others.
        emulator.carrier.next_tick = emulator.clock.now();
    }
    emulator.began = (emulator.clock.now(), ThreadTimes::now());
    emulator.work()?;
    // Nobody comes any more.
    emulator.flush(Duration::ZERO);
    emulator.finish(plan, dir)
}

struct Emulator<'a> {
    clock: StampClock,
    carrier: Carrier<PacketSocket>,
    sleep: Sleep,
    idle: Idle,
    next_idle: Time,
    /// Busy-waited in all.
    spun: Duration,
    urgency: Urgency,
    /// Time that a due packet waits for others to leave with it.
    send_coalescing: Coalescing,
    /// Time that an arrival waits to be read with others.
    read_coalescing: Coalescing,
    next_resync: Time,
    read_lag: Spans,
    ring_drops: u64,
    ring: Ring,
    live: Option<LiveGauges<'a>>,
    next_look: Time,
    control: Control,
    witness: Option<&'a dyn Witness>,
    /// The plan of what is recorded.
    recorded: Plan,
    /// Time between the origin of the lab and that of its latest records.
    origin: Duration,
    /// When the records began, and the thread's times then.
    began: (Time, ThreadTimes),
    /// CLOCK_REALTIME of the kernel's stamp on the last frame that the links before these have taken.
    after: i64,
    /// When these links have taken their last frame.
    retired: Option<Time>,
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
                self.carrier.advance(now);
            }
            self.flush(self.hold());
            if let Some(witness) = self.witness.filter(|_| self.retired.is_none()) {
                self.carrier.driver.datagrams.publish(witness.datagrams());
            }
            if now >= self.next_resync {
                self.next_resync = now + RESYNC;
                self.clock.resync();
                self.urgency.adapt(now);
                self.send_coalescing.adapt(now, self.carrier.driver.left);
                self.read_coalescing.adapt(now, self.carrier.driver.left);
                self.ring_drops += self.ring.take_drops()?;
                self.publish(now);
                if now >= self.next_idle {
                    self.next_idle = now + IDLE;
                    self.idle.share().into_iter().for_each(|share| self.sleep.adapt(share));
                }
                if self.poll(0, false)? && self.obey()? || self.is_spent(now) {
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

    /// True if other links have taken over, and nothing is left in these.
    fn is_spent(&mut self, now: Time) -> bool {
        let Some(since) = self.retired else { return false };
        let is_empty = self.carrier.next_event() == Time::NEVER
            && self.carrier.driver.next_handover(Duration::ZERO) == Time::NEVER;
        is_empty || now > since + SPENT
    }

    /// Take the frames that have come by now, and no more. Returns the time until which they came, of CLOCK_REALTIME.
    fn retire(&mut self) -> i64 {
        let last = wall_clock_ns();
        // The kernel puts a frame into the ring some microseconds after its stamp.
        while wall_clock_ns() < last + SETTLED.as_nanos() {
            self.read_ring_until(last);
        }
        while self.read_ring_until(last) {}
        self.retired = Some(self.clock.now());
        last
    }

    /// Let packets from the ring enter the network; `true` if there may be more.
    fn read_ring(&mut self) -> bool {
        match self.retired {
            Some(_) => false,
            None => self.read_ring_until(i64::MAX),
        }
    }

    /// The same of frames with a stamp up to `last`, of CLOCK_REALTIME.
    fn read_ring_until(&mut self, last: i64) -> bool {
        let (mut read, mut entered) = (0, 0);
        while read < READ_BATCH && entered < READ_SEGMENTS {
            let Some((stamp, captured)) = self.ring.peek() else { return false };
            let stamp_ns = i64::from(stamp.0) * 1_000_000_000 + i64::from(stamp.1);
            if stamp_ns > last {
                return false;
            }
            if stamp_ns <= self.after {
                self.ring.release();
                read += 1;
                continue;
            }
            let now = self.clock.now();
            let mut arrival = self.clock.of_stamp(stamp);
            if arrival > now + FUTURE {
                // The wall clock was set forward since the offset was last measured.
                self.clock.resync();
                arrival = self.clock.of_stamp(stamp);
            }
            let arrival = arrival.min(now);
            self.read_lag.add(now - arrival);
            match self.carrier.driver.hops.returned(captured.ifindex, captured.frame) {
                Some(left) => {
                    self.carrier.left(left, arrival);
                    entered += 1;
                }
                None => entered += self.carrier.enter(&captured, arrival),
            }
            self.ring.release();
            read += 1;
        }
        true
    }

    fn flush(&mut self, hold: Duration) {
        self.carrier.driver.flush(|| self.clock.now(), hold);
    }

    /// Sleep until something is due or arrives; `true` if it is time to stop.
    fn wait(&mut self) -> Result<bool> {
        // The next event may be a delivery, which may wait; so sleep for as long as that.
        let hold = self.hold();
        let event = self.carrier.next_event();
        let inside = event != Time::NEVER;
        let due = if inside { event + hold } else { event };
        let due = due.min(self.carrier.driver.next_handover(hold)).min(self.carrier.next_tick).min(self.next_resync);
        let now = self.clock.now();
        // A packet that arrives is not delivered before it has crossed the network: while packets come densely it may
        // wait, too, and need not wake us.
        let read_delay = if inside { hold.max(self.read_coalescing.span()) } else { hold };
        let arrivals = read_delay == Duration::ZERO;
        let spin = (self.sleep.margin().as_nanos() - self.send_coalescing.span().as_nanos()).max(0);
        let spare = (due - now).as_nanos() - spin;
        if spare <= 0 {
            // Too little time to sleep and wake: wait for either on the CPU.
            let mut until = now;
            while (self.retired.is_some() || self.ring.peek().is_none()) && until < due {
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
                    self.carrier.change_link(link, *spec, now);
                    self.read_coalescing.set_limit(longest_read_delay);
                    self.control.done(Done::Changed(now + self.origin));
                }
                Taken::Retire => {
                    let last_stamp_ns = self.retire();
                    self.control.done(Done::Retired(last_stamp_ns));
                }
                Taken::Begin(begin) => {
                    let began = self.begin(*begin);
                    self.control.done(Done::Began(began));
                }
                Taken::Capture(dir, mut frames) => {
                    frames.set_origin(wall_clock_ns() - self.clock.now().as_nanos());
                    self.carrier.driver.captures.push((dir, *frames));
                    self.control.done(Done::Captured(Ok(None)));
                }
                Taken::EndCapture(dir) => {
                    self.carrier.advance(self.clock.now());
                    let frames = self.carrier.end_capture(&dir);
                    self.control.done(Done::Captured(Ok(frames.map(Box::new))));
                }
                Taken::End(dir) => {
                    let ended = self.end(&dir);
                    self.control.done(Done::Ended(ended.map(Box::new)));
                }
            }
        }
        Ok(false)
    }

    /// Records begin, and time with them. When, in the lab's time.
    fn begin(&mut self, Begin { plan, tables, found }: Begin) -> Result<Time> {
        let witness = self.witness.context("only a lab that stays is recorded from an order on")?;
        self.carrier.advance(self.clock.now());
        self.flush(Duration::ZERO);
        witness.begin()?;
        let origin_ns = monotonic_ns();
        let now = self.clock.at(origin_ns);
        self.carrier.begin(&plan, tables, found, now)?;
        self.carrier.driver.datagrams.clear(witness.datagrams());
        self.recorded = plan;
        self.clock = StampClock::new(origin_ns);
        self.origin = self.origin + (now - Time::ZERO);
        self.urgency.restart(Time::ZERO);
        self.send_coalescing.restart();
        self.read_coalescing.restart();
        (self.next_idle, self.next_resync) = (Time::ZERO + IDLE, Time::ZERO);
        self.ring.take_drops()?;
        (self.read_lag, self.ring_drops, self.spun) = (Spans::default(), 0, Duration::ZERO);
        self.began = (Time::ZERO, ThreadTimes::now());
        Ok(Time::ZERO + self.origin)
    }

    /// Records end. The links go on as they are.
    fn end(&mut self, dir: &Path) -> Result<Ended> {
        let witness = self.witness.context("only a lab that stays is recorded from an order on")?;
        let at = self.clock.now();
        self.carrier.advance(at);
        self.flush(Duration::ZERO);
        self.carrier.driver.datagrams.publish(witness.datagrams());
        let evidence = self.evidence()?;
        let (tables, report) = self.carrier.end(&self.recorded, evidence);
        witness.end(dir)?;
        Ok(Ended { at, tables, report })
    }

    /// Tell whoever looks on where the links stand.
    fn publish(&mut self, now: Time) {
        let Some(gauges) = self.live.filter(|_| self.retired.is_none()) else { return };
        for (link, counts) in self.carrier.counts(now + self.origin) {
            gauges.links[usize::from(link)].publish(counts.words());
        }
        if now >= self.next_look {
            self.next_look = now + LOOK;
            gauges.health.publish(self.health().words());
        }
    }

    fn health(&self) -> Health {
        let lateness = &self.carrier.driver.lateness;
        Health {
            sent_packets: lateness.count(),
            late_over_1ms: lateness.count_over(Duration::from_millis(1)),
            lateness_p99_ns: lateness.p99().as_nanos() as u64,
            lateness_max_ns: lateness.max().as_nanos() as u64,
            read_lag_p99_ns: self.read_lag.p99().as_nanos() as u64,
            ring_drops: self.ring_drops,
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
        let ring = if arrivals && self.retired.is_none() { self.ring.as_fd().as_raw_fd() } else { -1 };
        let mut fds = [fd(ring), fd(self.control.poll_fd().as_raw_fd())];
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

    /// The evidence since the records began.
    fn evidence(&mut self) -> Result<Evidence> {
        self.ring_drops += self.ring.take_drops()?;
        let (started, before) = self.began;
        Ok(Evidence {
            read_lag: std::mem::take(&mut self.read_lag),
            ring_drops: self.ring_drops,
            times: ThreadTimes::now().since(before),
            wall: self.clock.now() - started,
            clock_steps: self.clock.steps().iter().map(ClockStep::from).collect(),
            scheduling: self.urgency.scheduling(),
            spun: self.spun,
            spin: self.sleep.margin(),
        })
    }

    fn finish(mut self, plan: &Plan, dir: &Path) -> Result<()> {
        let evidence = self.evidence()?;
        self.carrier.finish(plan, dir, evidence).map(drop)
    }
}
