use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use messages::{Event, Failure, Inbox, Order, Process, RoutesWanted};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use plan::{DaemonChange, Node};
use realtime::monotonic_ns;
use records::routes::RouteRow;
use records::{Names, Writer};
use serde::Serialize;
use units::Time;

use crate::launch::Router;
use crate::monitor::Monitor;
use crate::table::Hop;
use crate::{Entrance, Seat, convergence, folders};

/// How often the start of the daemons is looked at: a socket appears after 3 to 40 ms.
const LOOK: Duration = Duration::from_millis(2);
/// All that is expected is there, and for so long nothing has changed: then routing has converged.
const QUIET: Duration = Duration::from_millis(200);
/// The same where a router expects nothing, as with a configuration of the user's own: two hello intervals.
const QUIET_UNKNOWN: Duration = Duration::from_secs(2);
/// How often the command hears that routing has not converged: a process without a word counts as one that hangs.
const TELL: Duration = Duration::from_secs(1);
/// Daemons that have no configuration by then won't get it.
const START_LIMIT: Duration = Duration::from_secs(30);

/// `routers.json`.
#[derive(Serialize)]
struct Report {
    /// From the first daemon's start until the last one had its configuration.
    configured_s: f64,
    /// From the first daemon's start until the last change of a route before time 0; `None` if nothing was waited for.
    converged_s: Option<f64>,
    /// Changes of routes since the first daemon's start.
    changes: usize,
}

/// Run the daemons of all routers until `control` says stop.
///
/// Says on `events` that it is ready once the daemons have their configurations and, with a `limit`, routing has converged,
/// which is to take no longer since the first daemon's start. Carries out the planned `changes` of daemons, and those that
/// it is ordered. Writes `routes.parquet` and `routers.json` into `dir`, and the daemons' logs into `dir/logs/ROUTER`.
///
/// A lab that stays has a `ferry`, which brings the routers that are added to it. A daemon of it that ends by itself is as one
/// that was ordered to be killed.
///
/// # Errors
/// A daemon is missing, refuses its configuration or ends; routing does not converge in time.
pub fn run(
    seats: Vec<Seat<'_>>,
    changes: &[DaemonChange],
    limit: Option<Duration>,
    ferry: Option<OwnedFd>,
    dir: &Path,
    control: OwnedFd,
    events: &mut dyn Write,
) -> Result<()> {
    folders::share()?;
    let is_lab = ferry.is_some();
    let monitors = seats.iter().map(Monitor::open).collect::<Result<Vec<_>>>()?;
    let began = Instant::now();
    let mut routers = Routers {
        monitors,
        routers: seats.into_iter().map(|seat| Router::start(seat, dir, is_lab)).collect::<Result<_>>()?,
        changes: Vec::new(),
        last_change: began,
        control: Inbox::new(File::from(control)),
        ordered: Vec::new(),
        rewired: Vec::new(),
        wanted: Vec::new(),
        origin_ns: None,
        stopped: false,
    };
    routers.configure(began)?;
    let configured_s = began.elapsed().as_secs_f64();
    if let Some(limit) = limit {
        routers.converge(began, limit, events)?;
    }
    let converged_s = limit.map(|_| (routers.last_change - began).as_secs_f64());
    Event::Ready { process: Process::Routers }.emit(events)?;

    // The first process of a lab that is up was told while its daemons started.
    let origin_ns = routers.origin_ns.map_or_else(|| routers.control.wait_for_start(), Ok)?;
    let mut planned = changes.iter().peekable();
    while !routers.stopped {
        let now = monotonic_ns() - origin_ns;
        while let Some(DaemonChange { router, daemon, up, .. }) = planned.next_if(|one| one.at_ns.as_nanos() <= now) {
            routers.change(router, daemon, *up)?;
        }
        for (router, daemon, up) in std::mem::take(&mut routers.ordered) {
            let at_ns = Time(monotonic_ns() - origin_ns);
            routers.change(&router, &daemon, up)?;
            Event::DaemonChanged { change: DaemonChange { at_ns, router, daemon, up } }.emit(events)?;
        }
        for nodes in std::mem::take(&mut routers.rewired) {
            let ferry = ferry.as_ref().context("only the routers of a lab that stays become others")?;
            routers.rewire(nodes, ferry, dir)?;
        }
        for wanted in std::mem::take(&mut routers.wanted) {
            let RoutesWanted { directory, begin_ns, duration_ns } = wanted;
            let written = routers.write(Path::new(&directory), origin_ns + begin_ns, duration_ns);
            let told =
                written.map_or_else(|error| Event::Refused { failure: Failure::of(&error) }, |()| Event::RoutesWritten);
            told.emit(events)?;
        }
        let due = planned.peek().map(|one| Duration::from_nanos((one.at_ns.as_nanos() - now).max(0).unsigned_abs()));
        if is_lab {
            let at_ns = Time(monotonic_ns() - origin_ns);
            for known in &mut routers.routers {
                for daemon in known.lose_dead()? {
                    let change = DaemonChange { at_ns, router: known.seat.name.clone(), daemon, up: false };
                    Event::DaemonChanged { change }.emit(events)?;
                }
            }
        }
        let starts = (!routers.advance()?).then_some(LOOK);
        routers.look(due.into_iter().chain(starts).min())?;
    }
    let report = Report { configured_s, converged_s, changes: routers.changes.len() };
    routers.write(dir, origin_ns, i64::MAX)?;
    let path = dir.join("routers.json");
    std::fs::write(&path, serde_json::to_vec_pretty(&report)?)
        .with_context(|| format!("writing {}", path.display()))?;
    Event::Done { process: Process::Routers }.emit(events)
}

/// All routers of the lab, and what their kernels told so far.
struct Routers<'a> {
    monitors: Vec<Monitor>,
    routers: Vec<Router<'a>>,
    changes: Vec<Change>,
    last_change: Instant,
    /// Router, daemon, and whether it is to run.
    ordered: Vec<(String, String, bool)>,
    /// Routers that the lab is to have from an order on.
    rewired: Vec<Vec<Node>>,
    /// Records of a lab that are to have its routes.
    wanted: Vec<RoutesWanted>,
    control: Inbox<File>,
    /// CLOCK_MONOTONIC of the start, if it was told.
    origin_ns: Option<i64>,
    stopped: bool,
}

/// A change of a route.
struct Change {
    /// CLOCK_MONOTONIC.
    at_ns: i64,
    router: Rc<str>,
    interface: Option<String>,
    hop: Hop,
}

impl Routers<'_> {
    /// Start all daemons, until each has its configuration.
    fn configure(&mut self, began: Instant) -> Result<()> {
        loop {
            if self.advance()? {
                return Ok(());
            }
            ensure!(began.elapsed() < START_LIMIT, slow(&self.routers));
            self.look(Some(LOOK))?;
            self.go_on()?;
        }
    }

    /// Go on with the start of daemons as far as possible without waiting. True once all have their configurations.
    fn advance(&mut self) -> Result<bool> {
        let mut all = true;
        for router in &mut self.routers {
            all &= router.advance()?;
        }
        Ok(all)
    }

    /// Kill or start a daemon.
    fn change(&mut self, router: &str, daemon: &str, up: bool) -> Result<()> {
        let found = self.routers.iter_mut().find(|known| known.seat.name == router);
        let found = found.with_context(|| format!("no router {router} has daemons"))?;
        if up {
            found.start_again(daemon)?;
        } else {
            found.kill(daemon);
        }
        Ok(())
    }

    /// Ends the daemons of routers that are not among `nodes`, starts those of routers that come by the `ferry`, in this
    /// order, and keeps the configurations of others for their daemons' next start.
    fn rewire(&mut self, nodes: Vec<Node>, ferry: &OwnedFd, dir: &Path) -> Result<()> {
        for index in (0..self.routers.len()).rev() {
            let name = self.routers[index].seat.name.clone();
            if !nodes.iter().any(|node| node.name() == name) {
                self.monitors.remove(index);
                drop(self.routers.remove(index));
                folders::clear(&name)?;
            }
        }
        for node in nodes {
            let (address, cpus) = (node.address(), node.cpus().to_vec());
            let Node::Router { name, routing: Some(routing), .. } = node else { continue };
            if let Some(known) = self.routers.iter_mut().find(|known| known.seat.name == name) {
                folders::refurnish(&name, &known.seat.routing.config, &routing.config)?;
                known.seat.routing = routing;
                continue;
            }
            let host = lab::ferry::receive(ferry.as_fd(), &name, address, &cpus)?;
            let seat = Seat { name, routing, entrance: Entrance::Own(Box::new(host)) };
            self.monitors.push(Monitor::open(&seat)?);
            self.routers.push(Router::start(seat, dir, true)?);
        }
        Ok(())
    }

    /// Wait until all that is expected is there, and nothing has changed for a while.
    fn converge(&mut self, began: Instant, limit: Duration, events: &mut dyn Write) -> Result<()> {
        let is_known = self.routers.iter().all(|router| !router.seat.routing.expect.is_empty());
        let quiet = if is_known { QUIET } else { QUIET_UNKNOWN };
        let mut tell = began + TELL;
        loop {
            let missing = convergence::missing(&self.routers, &self.monitors);
            let (now, due) = (Instant::now(), self.last_change + quiet);
            if missing.is_empty() && due <= now {
                return Ok(());
            }
            if now > began + limit {
                return Err(convergence::late(limit, &missing).into());
            }
            if now >= tell {
                tell = now + TELL;
                Event::Converging { lacking: missing.len() as u32 }.emit(events)?;
            }
            let until = tell.min(if missing.is_empty() { due } else { began + limit });
            self.look(Some(until.saturating_duration_since(now).max(LOOK)))?;
            self.check()?;
            self.go_on()?;
        }
    }

    /// # Errors
    /// The run was stopped before it began.
    fn go_on(&self) -> Result<()> {
        ensure!(!self.stopped, Failure::new("starting the routers", "the run was stopped before it began"));
        Ok(())
    }

    /// # Errors
    /// A daemon ended.
    fn check(&mut self) -> Result<()> {
        self.routers.iter_mut().try_for_each(Router::check)
    }

    /// Wait for news, at most for `timeout`, and take it.
    fn look(&mut self, timeout: Option<Duration>) -> Result<()> {
        let timeout = timeout.map_or(PollTimeout::NONE, |time| {
            PollTimeout::try_from(time + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
        });
        let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = vec![watch(self.control.pipe().as_fd())];
        fds.extend(self.monitors.iter().map(|monitor| watch(monitor.as_fd())));
        let daemons = self.routers.iter().flat_map(|router| router.daemons());
        fds.extend(daemons.map(|daemon| watch(daemon.pidfd())));
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno).context("waiting for routes"),
        }
        let told = fds[0].any() == Some(true);
        let with_news: Vec<usize> = (0..self.monitors.len()).filter(|&i| fds[i + 1].any() == Some(true)).collect();
        for index in with_news {
            let now = monotonic_ns();
            let router: Rc<str> = self.routers[index].seat.name.as_str().into();
            for hop in self.monitors[index].read()? {
                let interface = hop.ifindex.and_then(|ifindex| self.monitors[index].interface(ifindex));
                let (router, interface) = (Rc::clone(&router), interface.map(str::to_owned));
                self.changes.push(Change { at_ns: now, router, interface, hop });
                self.last_change = Instant::now();
            }
        }
        if told {
            for order in self.control.receive()? {
                match order {
                    Order::Stop | Order::StopNow => self.stopped = true,
                    Order::ChangeDaemon { router, daemon, up } => self.ordered.push((router, daemon, up)),
                    Order::WriteRoutes(wanted) => self.wanted.push(wanted),
                    Order::Route { routers } => self.rewired.push(routers),
                    Order::Start { origin_ns } => self.origin_ns = Some(origin_ns),
                    Order::Hear { .. } | Order::ChangeLink { .. } | Order::Record { .. } => {}
                    Order::Capture(_) | Order::EndCapture { .. } => {}
                    Order::TakeOver { .. } | Order::Retire | Order::Rewire { .. } => {}
                }
            }
            self.stopped |= self.control.is_closed();
        }
        Ok(())
    }

    /// Write the changes so far but those from `duration_ns` after the origin on.
    fn write(&self, dir: &Path, origin_ns: i64, duration_ns: i64) -> Result<()> {
        let mut table = Writer::create(&dir.join("routes.parquet"), Names::default())?;
        for Change { at_ns, router, interface, hop } in
            self.changes.iter().filter(|change| change.at_ns - origin_ns < duration_ns)
        {
            table.push(RouteRow {
                time: Time(at_ns - origin_ns),
                router: router.to_string(),
                prefix: hop.prefix.to_string(),
                via: hop.via.map(|via| via.to_string()),
                interface: interface.clone(),
                metric: hop.metric,
                protocol: hop.protocol.clone(),
                change: hop.change,
            });
        }
        table.finish().map(drop)
    }
}

fn slow(routers: &[Router<'_>]) -> Failure {
    let waiting: Vec<&str> =
        routers.iter().filter(|router| !router.is_running()).map(|router| &*router.seat.name).collect();
    Failure::new("the routers' daemons do not start", format!("these are not ready: {}", waiting.join(", "))).hint(
        "logs/ROUTER/ in the run's directory has what the daemons say; a machine with less load may be fast enough",
    )
}
