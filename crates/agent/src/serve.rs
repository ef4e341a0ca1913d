use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use messages::{Capturing, Event, Failure, Inbox, Order, Process};
use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe2};
use plan::Plan;

use crate::client::{Client, Work};
use crate::flows::Flowing;
use crate::program::{self, Program};
use crate::record::Recorder;
use crate::removed::end_processes;
use crate::request::{Answer, Request};
use crate::{Progress, Setting, capture, flows, pings};

/// Time for programs to end when the lab does.
const GRACE: Duration = Duration::from_millis(300);

pub(crate) fn serve(setting: Setting<'_>, listener: OwnedFd, control: OwnedFd, events: &mut File) -> Result<()> {
    // What programs leave behind in the background becomes our child, and its end is noticed.
    nix::sys::prctl::set_child_subreaper(true).context("becoming the parent of orphans")?;
    let mask = SigSet::from(Signal::SIGCHLD);
    mask.thread_block().context("blocking SIGCHLD")?;
    let ends =
        SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).context("watching children")?;
    Event::Ready { process: Process::Agent }.emit(events)?;
    let mut inbox = Inbox::new(File::from(control));
    let origin_ns = inbox.wait_for_start()?;
    let progress = (setting.progress)(&setting.plan);
    let mut agent = Agent {
        setting,
        progress,
        events,
        clients: BTreeMap::new(),
        connections: 0,
        changes: VecDeque::new(),
        looked: None,
        origin_ns,
        recorder: None,
    };
    while !agent.wait(&mut inbox, &listener, &ends)? {}
    agent.end_programs(&ends);
    Event::Done { process: Process::Agent }.emit(agent.events)
}

struct Agent<'a, 'e> {
    setting: Setting<'a>,
    /// The links as they are now.
    progress: Progress<'a>,
    events: &'e mut File,
    /// By the number of the connection.
    clients: BTreeMap<u64, Client>,
    connections: u64,
    /// Orders whose result somebody waits for; the first one is being carried out.
    changes: VecDeque<(u64, Box<Order>)>,
    /// The latest progress.
    looked: Option<Event>,
    /// CLOCK_MONOTONIC of the lab's time 0.
    origin_ns: i64,
    /// Samples sockets while the lab is recorded.
    recorder: Option<Recorder>,
}

impl Agent<'_, '_> {
    /// Wait until something happens, and react. `true` if it is time to stop.
    fn wait(&mut self, inbox: &mut Inbox<File>, listener: &OwnedFd, ends: &SignalFd) -> Result<bool> {
        let fd = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = vec![fd(inbox.pipe().as_raw_fd()), fd(ends.as_raw_fd()), fd(listener.as_raw_fd())];
        let numbers: Vec<u64> = self.clients.keys().copied().collect();
        fds.extend(self.clients.values().map(|client| fd(client.fd())));
        // SAFETY: valid descriptors.
        if unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, -1) } < 0 {
            return match Errno::last() {
                Errno::EINTR => Ok(false),
                why => Err(why).context("waiting for requests"),
            };
        }
        if fds[0].revents != 0 && self.obey(inbox)? {
            return Ok(true);
        }
        if fds[1].revents != 0 {
            self.reap(ends);
        }
        for (number, _) in numbers.iter().zip(&fds[3..]).filter(|(_, fd)| fd.revents != 0) {
            self.listen(*number)?;
        }
        if fds[2].revents != 0
            && let Some(client) = Client::accept(listener.as_raw_fd())
        {
            self.connections += 1;
            self.clients.insert(self.connections, client);
        }
        self.clients.retain(|_, client| !client.over);
        Ok(false)
    }

    /// Carry out what init says; `true` if that is to stop.
    fn obey(&mut self, inbox: &mut Inbox<File>) -> Result<bool> {
        let orders = inbox.receive()?;
        for order in orders {
            match order {
                Order::Stop | Order::StopNow => return Ok(true),
                Order::Hear { event } => self.hear(event)?,
                Order::Start { .. } | Order::ChangeLink { .. } | Order::ChangeDaemon { .. } => {}
                Order::Record { .. } | Order::WriteRoutes(_) | Order::Capture(_) | Order::EndCapture { .. } => {}
                Order::TakeOver { .. } | Order::Retire | Order::Rewire { .. } | Order::Route { .. } => {}
            }
        }
        Ok(inbox.is_closed())
    }

    /// Have an order carried out once those before it are.
    fn change(&mut self, number: u64, client: &mut Client, order: Order) -> Result<()> {
        client.work = Work::Change;
        self.changes.push_back((number, Box::new(order)));
        if self.changes.len() == 1 {
            self.change_next()?;
        }
        Ok(())
    }

    /// A link or a daemon was changed, or records began or ended; or that could not be.
    fn hear(&mut self, event: Box<Event>) -> Result<()> {
        let Some((number, order)) = self.changes.pop_front() else { return Ok(()) };
        if let (Event::Captured { .. }, Order::Capture(Capturing { directory, .. })) = (&*event, &*order) {
            let directory = directory.clone();
            match self.clients.get_mut(&number) {
                Some(client) => {
                    client.tell(&Answer::Told { event });
                    client.work = Work::Capture(directory);
                }
                // Nobody waits for it any more.
                None => self.changes.push_back((number, Box::new(Order::EndCapture { directory }))),
            }
            return self.change_next();
        }
        match (&*event, *order) {
            (Event::Recorded { time_ns }, Order::Record { recording: Some(recording) }) => {
                let lock = self.clients.get_mut(&number).map(|client| std::mem::take(&mut client.descriptors));
                let origin_ns = self.origin_ns + time_ns;
                self.recorder = Some(Recorder::start(&self.setting, &recording, origin_ns, lock.unwrap_or_default())?);
            }
            (Event::Rewired { added, .. }, Order::Rewire { file }) => self.rewire(&file, added)?,
            (Event::Recorded { time_ns }, Order::Record { recording: None }) => {
                if let Some(recorder) = &mut self.recorder {
                    // Whoever waits hears of it once all is written.
                    recorder.stop(number, *time_ns);
                    return self.change_next();
                }
            }
            _ => {}
        }
        if let Some(client) = self.clients.get_mut(&number) {
            client.finish(&Answer::Told { event });
        }
        self.change_next()
    }

    /// The network is that of the plan in `file`.
    fn rewire(&mut self, file: &str, added: &[String]) -> Result<()> {
        let plan = Plan::read(&self.setting.dir.join(file))?;
        for name in self.setting.rewire(plan, added)? {
            let of_node = |client: &&mut Client| client.node.as_ref() == Some(&name);
            self.clients.values_mut().filter(of_node).for_each(|client| signal(client, libc::SIGKILL));
            if let Some(node) = self.setting.lab.node(&name) {
                end_processes(node);
            }
            self.setting.lab.let_go(&name);
        }
        self.progress = (self.setting.progress)(&self.setting.plan);
        self.looked = None;
        Ok(())
    }

    /// Why the network cannot become another now.
    fn is_fixed(&self) -> Option<Failure> {
        let what = "the network cannot be changed now";
        if self.recorder.is_some() || self.changes.iter().any(|(_, order)| matches!(**order, Order::Record { .. })) {
            return Some(Failure::new(what, "the lab is being recorded").hint("end that first: record stop"));
        }
        let captures = |client: &Client| matches!(client.work, Work::Capture(_));
        let is_captured = self.clients.values().any(captures)
            || self.changes.iter().any(|(_, order)| matches!(**order, Order::Capture(_)));
        is_captured.then(|| Failure::new(what, "links are being captured").hint("end the capture first"))
    }

    fn change_next(&mut self) -> Result<()> {
        match self.changes.front() {
            Some((_, order)) => Event::Ordered { order: order.clone() }.emit(self.events),
            None => Ok(()),
        }
    }

    /// Take the requests of a client.
    fn listen(&mut self, number: u64) -> Result<()> {
        let Some(mut client) = self.clients.remove(&number) else { return Ok(()) };
        match client.requests() {
            Ok(requests) => {
                for request in requests {
                    self.take(number, &mut client, request)?;
                }
            }
            Err(error) => client.fail(&error),
        }
        if client.over {
            if let Work::Capture(directory) = &client.work {
                let directory = directory.clone();
                self.change(number, &mut client, Order::EndCapture { directory })?;
            }
            abandon(&mut client);
        }
        self.clients.insert(number, client);
        Ok(())
    }

    fn take(&mut self, number: u64, client: &mut Client, request: Request) -> Result<()> {
        if let Request::Signal { number: signalled } = request {
            if let Work::Capture(directory) = &client.work {
                let directory = directory.clone();
                return self.change(number, client, Order::EndCapture { directory });
            }
            signal(client, signalled);
            return Ok(());
        }
        if !matches!(client.work, Work::Nothing) {
            client.fail(&anyhow::anyhow!("a connection is for one request"));
            return Ok(());
        }
        match request {
            Request::Run { node, arguments, environment, directory } => {
                let descriptors = std::mem::take(&mut client.descriptors);
                let program =
                    Program { arguments: &arguments, environment: &environment, directory: &directory, descriptors };
                match self.setting.node(&node).and_then(|node| program::start(program, node)) {
                    Ok(pid) => {
                        client.work = Work::Program(pid);
                        client.node = Some(node);
                        client.tell(&Answer::Started { pid: pid.as_raw() });
                    }
                    Err(error) => client.fail(&error),
                }
            }
            Request::PingAll { hosts, ip, bytes, timeout_ms } => {
                let work = |agent: &Self| {
                    let host = |name: &String| Ok((agent.setting.node(name)?, agent.setting.address(name, ip)?));
                    let hosts: Result<Vec<_>> = hosts.iter().map(host).collect();
                    pings::all(&hosts?, ip, bytes, Duration::from_millis(timeout_ms))
                };
                self.begin(client, None, work)?;
            }
            Request::Capture { node, interface } => {
                let socket = client.fd();
                let work = |agent: &Self| capture::open(agent.setting.node(&node)?, &interface, socket);
                self.begin(client, None, work)?;
            }
            Request::Flows { flows, duration_ns } => {
                let (control, start) = pipe2(nix::fcntl::OFlag::O_CLOEXEC).context("making a pipe")?;
                let stop = File::from(start.try_clone().context("sharing a pipe")?);
                let flowing = Flowing::of(&flows)?;
                let work = |agent: &Self| {
                    flows::run_flows(&agent.setting, flows, duration_ns, control, File::from(start), flowing.gauges())
                };
                self.begin(client, Some(stop), work)?;
                client.flowing = Some(flowing);
            }
            Request::ChangeLink { link } => self.change(number, client, Order::ChangeLink { link })?,
            Request::Rewire { plan: file } => match self.is_fixed() {
                Some(failure) => client.fail(&failure.into()),
                None => self.change(number, client, Order::Rewire { file })?,
            },
            Request::ChangeDaemon { router, daemon, up } => {
                self.change(number, client, Order::ChangeDaemon { router, daemon, up })?;
            }
            Request::Record { recording } => {
                self.change(number, client, Order::Record { recording: Some(recording) })?;
            }
            Request::CaptureLinks { capture } => self.change(number, client, Order::Capture(capture))?,
            Request::WriteRoutes { routes } => self.change(number, client, Order::WriteRoutes(routes))?,
            Request::EndRecord => self.change(number, client, Order::Record { recording: None })?,
            Request::Look => {
                if let Some(event) = (self.progress)() {
                    self.looked = Some(event);
                }
                if let Some(Event::Progress { flows, .. }) = &mut self.looked {
                    *flows = flows::progress(self.clients.values_mut().filter_map(|one| one.flowing.as_mut()));
                }
                client.finish(&match &self.looked {
                    Some(event) => Answer::Told { event: Box::new(event.clone()) },
                    None => Answer::Done,
                });
            }
            Request::Stop => {
                client.finish(&Answer::Done);
                Event::Ordered { order: Box::new(Order::Stop) }.emit(self.events)?;
            }
            Request::Signal { .. } => unreachable!("taken above"),
        }
        Ok(())
    }

    /// Do `work` in a child, which answers the client.
    fn begin(
        &mut self,
        client: &mut Client,
        stop: Option<File>,
        work: impl FnOnce(&Self) -> Result<Answer>,
    ) -> Result<()> {
        // SAFETY: the agent has one thread; the child runs only our own code until it exits.
        match unsafe { fork() }.context("starting a child of the agent")? {
            ForkResult::Child => {
                drop(stop);
                let _ = nix::unistd::setsid();
                let answered = client.answer_at_leisure(work(self));
                // SAFETY: ends the process without running what the interpreter registered in its parent.
                unsafe { libc::_exit(i32::from(!answered)) }
            }
            ForkResult::Parent { child } => {
                client.work = Work::Child(child, stop);
                Ok(())
            }
        }
    }

    /// Notice which children have ended.
    fn reap(&mut self, ends: &SignalFd) {
        while let Ok(Some(_)) = ends.read_signal() {}
        loop {
            let (pid, code) = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, code),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as i32),
                Ok(WaitStatus::StillAlive) | Err(_) => return,
                Ok(_) => continue,
            };
            if let Some(recorder) = self.recorder.take_if(|recorder| recorder.pid == pid)
                && let Some((number, duration_ns)) = recorder.awaited
                && let Some(client) = self.clients.get_mut(&number)
            {
                client.finish(&Answer::Recorded { duration_ns });
            }
            for client in self.clients.values_mut() {
                match client.work {
                    Work::Program(one) if one == pid => {
                        client.work = Work::Nothing;
                        client.finish(&Answer::Exited { code });
                    }
                    Work::Child(one, _) if one == pid => {
                        client.work = Work::Nothing;
                        if code > 1 {
                            client.fail(&anyhow::anyhow!("a process of the lab was killed by signal {}", code - 128));
                        }
                        client.over = true;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Ask all programs to end, and give them a moment to do so.
    fn end_programs(&mut self, ends: &SignalFd) {
        for client in self.clients.values_mut() {
            signal(client, libc::SIGTERM);
        }
        // What it has sampled is written down, though nobody ends the record.
        self.recorder = None;
        let deadline = Instant::now() + GRACE;
        let busy = |client: &Client| matches!(client.work, Work::Program(_) | Work::Child(..));
        while self.clients.values().any(busy) && Instant::now() < deadline {
            self.reap(ends);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Signal the work of a client.
fn signal(client: &mut Client, number: i32) {
    match &mut client.work {
        Work::Program(pid) => kill_group(*pid, number),
        Work::Child(pid, stop) => match stop.take() {
            // Flows end early, and say what they have measured; a second signal ends them at once.
            Some(mut stop) => drop(Order::Stop.line().map(|line| stop.write_all(&line))),
            None => kill_group(*pid, libc::SIGKILL),
        },
        Work::Nothing | Work::Change | Work::Capture(_) => {}
    }
}

/// Nobody waits for the work of this client any more.
fn abandon(client: &mut Client) {
    signal(client, libc::SIGHUP);
}

fn kill_group(pid: Pid, number: i32) {
    if let Ok(signal) = Signal::try_from(number) {
        // It may have ended by itself.
        let _ = killpg(pid, signal);
    }
}
