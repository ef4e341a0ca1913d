use std::fs::File;
use std::io::{Stdout, stdout};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use messages::{Event, Failure, Inbox, Order, Process};
use plan::{DaemonChange, Plan};
use realtime::{Clock, monotonic_ns};
use units::Time;

use crate::child::Child;
use crate::live::Ticker;
use crate::rewire::{Settled, Site, Stage as Rewiring};
use crate::service::{Stage, Stop};

/// Time between "all are ready" and time 0: long enough for all services to have read the order and to be asleep.
const LEAD_NS: i64 = 20_000_000;
/// A service that isn't ready by then won't be.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// A service that hasn't written its records so long after its end won't.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of looks at the clock.
const LOOK: Duration = Duration::from_secs(1);

/// The kernel's count of ticks is 0 five minutes after its clock begins (`INITIAL_JIFFIES`).
const TICK_0_NS: i64 = 300_000_000_000;
/// Buckets of the second level of its timer wheel begin every 8 ticks, at 250 Hz.
const BUCKET_NS: i64 = 32_000_000;

/// The choice of time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// When all services are ready.
    Soon,
    /// At the start of a bucket of the kernel's timer wheel, as in the simulator. Timers of 252 ms to 2 s fire at the end of one
    /// of 32 ms, so the time from its start to time 0 would decide when a retransmission times out.
    Bucket,
}

impl Beginning {
    /// Time 0, if services are ready to start at `soon_ns`. Both are in CLOCK_MONOTONIC.
    fn at(self, soon_ns: i64) -> i64 {
        match self {
            Beginning::Soon => soon_ns,
            Beginning::Bucket => soon_ns + (TICK_0_NS - soon_ns).rem_euclid(BUCKET_NS),
        }
    }
}

/// Watches the services of a run from their start to their end.
pub(crate) struct Watch<'a> {
    children: Vec<Child>,
    /// The plan as it is now, orders included.
    plan: Plan,
    orders: Inbox<File>,
    ticker: Option<Ticker<'a>>,
    /// The lab, if its network can become another.
    site: Option<Site<'a>>,
    out: Stdout,
    beginning: Beginning,
    /// Since the run has begun.
    clock: Option<Clock>,
    /// Since when everything comes to an end.
    stopping: Option<Instant>,
    failed: bool,
}

impl<'a> Watch<'a> {
    /// Orders come from standard input, events go to standard output.
    pub(crate) fn new(
        children: Vec<Child>,
        plan: &Plan,
        ticker: Option<Ticker<'a>>,
        beginning: Beginning,
        site: Option<Site<'a>>,
    ) -> Result<Watch<'a>> {
        let orders = std::io::stdin().as_fd().try_clone_to_owned().context("reading standard input")?;
        Ok(Watch {
            children,
            plan: plan.clone(),
            orders: Inbox::new(File::from(orders)),
            ticker,
            site,
            out: stdout(),
            beginning,
            clock: None,
            stopping: None,
            failed: false,
        })
    }

    /// Relay events and orders, start the run when all services are ready, and stop each at its time. The services as they
    /// ended, and whether no needed one failed.
    pub(crate) fn watch(mut self) -> Result<(Vec<Child>, bool)> {
        let began = Instant::now();
        while !self.children.iter().all(|child| child.gone) {
            self.relay()?;
            let ready = self.children.iter().all(|child| child.ready || child.gone && !child.service.needed);
            if ready && self.clock.is_none() && self.stopping.is_none() {
                self.start()?;
            }
            self.go_on_rewiring()?;
            self.stop_in_turn();
            self.look_at_the_time(began)?;
            if let Some(ticker) = self.ticker.as_mut().filter(|_| self.clock.is_some() && self.stopping.is_none())
                && let Some(event) = ticker.event()
            {
                event.emit(&mut self.out)?;
            }
        }
        Ok((self.children, !self.failed))
    }

    fn start(&mut self) -> Result<()> {
        let soon_ns = monotonic_ns() + LEAD_NS;
        let origin_ns = self.beginning.at(soon_ns);
        // Services wait for the lead alone: Linux lets a wait for sockets end late by a thousandth of it.
        std::thread::sleep(Duration::from_nanos((origin_ns - soon_ns) as u64));
        self.clock = Some(Clock::new(origin_ns));
        for child in &mut self.children {
            let told = child.tell(&Order::Start { origin_ns });
            if child.service.needed {
                told?;
            }
        }
        Event::Started { origin_ns }.emit(&mut self.out)
    }

    /// Stop each service whose time has come.
    fn stop_in_turn(&mut self) {
        let has_reached = |children: &[Child], process: Process, stage: Stage| {
            let reached = |child: &Child| child.gone || child.done && stage == Stage::Done;
            children.iter().all(|child| child.service.process != process || reached(child))
        };
        for i in 0..self.children.len() {
            let over = match self.children[i].service.stop {
                Stop::EndsTheRun => {
                    if has_reached(&self.children, self.children[i].service.process, Stage::Done) {
                        self.stopping.get_or_insert_with(Instant::now);
                    }
                    false
                }
                Stop::After(process, stage) => has_reached(&self.children, process, stage),
            };
            if over {
                self.children[i].stop();
            }
        }
        if self.children.iter().any(|child| child.gone && child.service.needed) {
            self.end_early();
        }
    }

    /// The run ends before its time, and whatever was measured is written down.
    fn end_early(&mut self) {
        self.children.iter_mut().filter(|child| child.service.stop == Stop::EndsTheRun).for_each(Child::stop);
        self.stopping.get_or_insert_with(Instant::now);
    }

    fn look_at_the_time(&self, began: Instant) -> Result<()> {
        let span = |time: units::Duration| Duration::from_nanos(time.as_nanos() as u64);
        let duration = span(self.plan.duration_ns);
        let ready = READY_TIMEOUT + self.plan.wait.map_or(Duration::ZERO, |wait| span(wait.limit_ns));
        let late = match self.stopping {
            Some(since) => since.elapsed() > FLUSH_TIMEOUT,
            None if self.clock.is_some() => began.elapsed() > ready + duration + FLUSH_TIMEOUT,
            None => began.elapsed() > ready,
        };
        if !late {
            return Ok(());
        }
        let doing = if self.clock.is_some() { "ended in time" } else { "became ready" };
        Err(Failure::new("the run hangs", format!("not every process {doing}"))
            .hint("run it again on a machine with less load; logs are in the run's directory")
            .into())
    }

    /// Wait for orders and events, and pass them on.
    fn relay(&mut self) -> Result<()> {
        let fd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = vec![fd(self.orders.pipe().as_raw_fd())];
        fds.extend(self.children.iter().map(|child| fd(child.poll_fd())));
        let shows = self.clock.is_some() && self.stopping.is_none();
        let wait = self.ticker.as_ref().filter(|_| shows).map_or(LOOK, |ticker| ticker.wait().min(LOOK));
        let wait_ms = wait.as_micros().div_ceil(1000) as libc::c_int;
        // SAFETY: valid descriptors.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, wait_ms) };
        if fds[0].revents != 0 {
            self.obey()?;
        }
        for (index, fd) in fds[1..].iter().enumerate() {
            if fd.revents == 0 {
                continue;
            }
            let child = &mut self.children[index];
            let needed = child.service.needed;
            let mut events = child.read_events()?;
            if child.gone
                && let Some(failure) = child.silent_end()?
            {
                events.push(Event::Failed { process: child.service.process, failure });
            }
            for event in events {
                if matches!(event, Event::Failed { .. }) {
                    if !needed {
                        // This goes into lab.json.
                        continue;
                    }
                    self.failed = true;
                }
                match event {
                    Event::Ordered { order } => self.follow(*order)?,
                    // Nobody ordered it: the daemon ended by itself, and can be started again.
                    Event::DaemonChanged { ref change } if self.plan.change_daemon(change.clone()).is_ok() => {
                        event.emit(&mut self.out)?;
                    }
                    Event::Retired { last_stamp_ns } => self.take_over(index, last_stamp_ns)?,
                    // One of a router that was removed has ended with it.
                    Event::DaemonChanged { ref change }
                        if !self.plan.nodes.iter().any(|node| node.name() == change.router) => {}
                    Event::Changed { .. } | Event::DaemonChanged { .. } => self.answer(event)?,
                    Event::Recorded { .. } | Event::RoutesWritten | Event::Captured { .. } | Event::Refused { .. } => {
                        self.answer(event)?;
                    }
                    _ => event.emit(&mut self.out)?,
                }
            }
        }
        Ok(())
    }

    /// The command gives an order, or is gone.
    fn obey(&mut self) -> Result<()> {
        let received = self.orders.receive_each();
        if self.orders.is_closed() {
            // Nobody is left to read the records: end at once, and everything inside with us.
            end_at_once();
        }
        for order in received? {
            match order {
                Ok(order) => self.follow(order)?,
                Err(error) => self.refuse(Failure::of(&error))?,
            }
        }
        Ok(())
    }

    fn follow(&mut self, order: Order) -> Result<()> {
        match &order {
            Order::Stop => self.end_early(),
            Order::StopNow => end_at_once(),
            Order::Start { .. } | Order::Hear { .. } => {
                self.refuse(Failure::new("the run cannot be started by an order", "it starts when all is ready"))?;
            }
            Order::ChangeLink { link } => {
                let changed = self.now().and_then(|now| self.plan.change_link(now, (**link).clone()));
                self.pass_on(&order, changed.context(format!("changing link {}", link.name)))?;
            }
            Order::TakeOver { .. } | Order::Retire | Order::Route { .. } => {
                self.refuse(Failure::new(
                    "links and routers cannot be exchanged by an order",
                    "they are when the network changes",
                ))?;
            }
            Order::Rewire { file } => self.rewire(file)?,
            Order::Record { .. } => {
                let allowed = self.now().map(drop).context("recording the lab");
                self.pass_on(&order, allowed)?;
            }
            Order::WriteRoutes(_) | Order::Capture(_) | Order::EndCapture { .. } => {
                let allowed = self.now().map(drop).context("carrying out an order");
                self.pass_on(&order, allowed)?;
            }
            Order::ChangeDaemon { router, daemon, up } => {
                let change = |at_ns| DaemonChange { at_ns, router: router.clone(), daemon: daemon.clone(), up: *up };
                let changed = self.now().and_then(|now| self.plan.change_daemon(change(now)));
                let what = format!("{} {daemon} of router {router}", if *up { "starting" } else { "killing" });
                self.pass_on(&order, changed.context(what))?;
            }
        }
        Ok(())
    }

    /// The time of the run.
    fn now(&self) -> Result<Time> {
        let clock = self.clock.filter(|_| self.stopping.is_none()).context("the run is not going on")?;
        Ok(clock.now())
    }

    /// Give an order to the services that take it, if the plan allows it.
    fn pass_on(&mut self, order: &Order, allowed: Result<()>) -> Result<()> {
        if let Err(error) = allowed {
            return self.refuse(Failure::of(&error));
        }
        if !self.children.iter().any(|child| child.service.takes(order)) {
            return self.refuse(Failure::new("the order cannot be carried out", "the run has no process for it"));
        }
        self.children.iter_mut().filter(|child| child.service.takes(order)).try_for_each(|child| child.tell(order))
    }

    /// Have the network of `file` in place of this one.
    fn rewire(&mut self, file: &str) -> Result<()> {
        let begun = self.now().and_then(|_| {
            let site = self.site.as_mut().context("only the network of a lab that stays becomes another")?;
            ensure!(site.pending.is_none(), "the network is becoming another already");
            site.begin(file, &self.plan, &self.children)
        });
        match begun {
            Ok(child) => self.children.push(child),
            Err(error) => self.refuse(Failure::of(&error))?,
        }
        Ok(())
    }

    /// The next step of a change of the network, once the emulator of its links is ready or has failed: the last process.
    fn go_on_rewiring(&mut self) -> Result<()> {
        let Some(site) = &mut self.site else { return Ok(()) };
        let (Some(pending), Some(next)) = (&mut site.pending, self.children.last()) else { return Ok(()) };
        if next.gone {
            let why = next.failed.clone().unwrap_or_else(|| Failure::new("starting the links", "they have ended"));
            site.give_up();
            self.children.pop();
            return self.refuse(why);
        }
        if pending.stage != Rewiring::Preparing || !next.ready {
            return Ok(());
        }
        pending.stage = Rewiring::Retiring;
        let last = self.children.len() - 1;
        self.children[..last]
            .iter_mut()
            .filter(|child| child.service.has_links)
            .try_for_each(|child| child.tell(&Order::Retire))
    }

    /// The emulator `index` takes no more frames: those of the new network take over.
    fn take_over(&mut self, index: usize, last_stamp_ns: i64) -> Result<()> {
        // It ends by itself once it is empty.
        (self.children[index].service.needed, self.children[index].service.has_links) = (false, false);
        let (Some(clock), Some(site), Some(next)) = (self.clock, &mut self.site, self.children.last_mut()) else {
            return Ok(());
        };
        let origin_ns = clock.monotonic_ns(Time::ZERO);
        next.tell(&Order::TakeOver { origin_ns, last_stamp_ns })?;
        next.service.needed = true;
        if let Some(Settled { plan, added, refused }) = site.finish(&self.plan)? {
            self.plan = plan;
            self.route(&added, origin_ns)?;
            self.answer(Event::Rewired { time_ns: clock.now().as_nanos(), added, refused })?;
        }
        Ok(())
    }

    /// Have the daemons of the plan's routers, some of which were `added`: by the process that has daemons, or a first one.
    fn route(&mut self, added: &[String], origin_ns: i64) -> Result<()> {
        let Some(site) = &mut self.site else { return Ok(()) };
        let process = self.children.iter_mut().find(|child| child.service.process == Process::Routers && !child.gone);
        if let Some(process) = process {
            return process.tell(&site.route(&self.plan, added)?);
        }
        if let Some(mut process) = site.start_routers(&self.plan, &self.children)? {
            process.tell(&Order::Start { origin_ns })?;
            self.children.push(process);
        }
        Ok(())
    }

    fn refuse(&mut self, failure: Failure) -> Result<()> {
        self.answer(Event::Refused { failure })
    }

    /// Say what became of an order, also to services that pass on orders.
    fn answer(&mut self, event: Event) -> Result<()> {
        event.emit(&mut self.out)?;
        let order = Order::Hear { event: Box::new(event) };
        // One that is gone asks no more.
        self.children.iter_mut().filter(|child| child.service.takes(&order)).for_each(|child| drop(child.tell(&order)));
        Ok(())
    }
}

fn end_at_once() -> ! {
    // SAFETY: ends the process; the lab ends with its first.
    unsafe { libc::_exit(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_begins_where_eight_ticks_do() {
        for soon_ns in [24_013_056, 31_999_999, 32_000_000, 32_000_001, 301_000_000_000] {
            let origin_ns = Beginning::Bucket.at(soon_ns);
            assert!((soon_ns..soon_ns + BUCKET_NS).contains(&origin_ns), "{soon_ns}");
            // Linux: jiffies = -300 HZ + the ticks since its clock began.
            let jiffies = -300 * 250 + origin_ns / 4_000_000;
            assert_eq!((origin_ns % 4_000_000, jiffies % 8), (0, 0), "{soon_ns}");
        }
        assert_eq!(Beginning::Soon.at(24_013_056), 24_013_056);
    }
}
