//! A QUIC flow: two programs of dumbbell's with a stack of others, which sample themselves.

mod end;
mod pairs;

use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::Doors;
use nix::sys::epoll::EpollFlags;
use quic_lines::{Line, Order, Received, Sent, Writer};
use records::accounts::QuicReport;
use records::samples::Sample;
use units::{Duration, Time};

use crate::agent::Agent;
use crate::poller::Source;
use crate::report::FlowReport;
use crate::shared::Shared;
use end::End;
use pairs::Pairs;

/// The sender's program and the receiver's.
pub struct QuicFlow<'a> {
    index: u32,
    id: String,
    /// Stack and, behind `@`, the build of the program, if it is not the usual one.
    stack: String,
    cc: String,
    keeps_qlog: bool,
    writer: Writer,
    from: IpAddr,
    to: SocketAddr,
    from_node: Doors<'a>,
    interval: Duration,
    logs: PathBuf,
    sender: Option<End>,
    receiver: Option<End>,
    pairs: Pairs,
    sent: Sent,
    received: Received,
    connected: Option<Time>,
    is_over: bool,
    report: FlowReport,
}

impl<'a> QuicFlow<'a> {
    /// A flow whose programs do not run yet. `interval` is that of samples.
    pub fn new(
        index: u32,
        flow: &plan::Flow,
        (stack, cc, keeps_qlog): (&str, &str, bool),
        writer: Writer,
        (from, to, from_node): (IpAddr, SocketAddr, Doors<'a>),
        interval: Duration,
        dir: &Path,
    ) -> Result<QuicFlow<'a>> {
        let logs = dir.join("logs");
        fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
        Ok(QuicFlow {
            index,
            id: flow.id.clone(),
            stack: stack.to_owned(),
            cc: cc.to_owned(),
            keeps_qlog,
            writer,
            from,
            to,
            from_node,
            interval,
            logs,
            sender: None,
            receiver: None,
            pairs: Pairs::new(interval.as_nanos()),
            sent: Sent::default(),
            received: Received::default(),
            connected: None,
            is_over: false,
            report: FlowReport {
                id: flow.id.clone(),
                cc_requested: Some(format!("{stack}/{cc}")),
                ..FlowReport::default()
            },
        })
    }

    /// Name by which the program knows the stack, and the build of the program.
    fn stack_and_build(&self) -> (&str, Option<&str>) {
        self.stack.split_once('@').map_or((&self.stack, None), |(stack, build)| (stack, Some(build)))
    }

    fn ends(&self) -> impl Iterator<Item = &End> {
        self.sender.iter().chain(&self.receiver)
    }

    /// Reads what both programs have written by now.
    fn read(&mut self) -> Result<()> {
        for line in self.receiver.as_mut().map(End::read).transpose()?.unwrap_or_default() {
            match line {
                Line::Received(received) => {
                    self.received = received;
                    self.pairs.received(received);
                }
                Line::Arrived { time_ns, bytes } => self.writer.arrived(bytes, Time(time_ns)),
                Line::Failed { why } => self.fail(&why, "receiver"),
                _ => {}
            }
        }
        for line in self.sender.as_mut().map(End::read).transpose()?.unwrap_or_default() {
            match line {
                Line::Ready(ready) => {
                    let is_asked = ready.stack == self.stack_and_build().0;
                    let stack = if is_asked { &self.stack } else { &ready.stack };
                    self.report.cc_actual = ready.cc.map(|cc| format!("{stack}/{cc}"));
                    self.report.quic = Some(QuicReport { version: ready.version, ..QuicReport::default() });
                }
                Line::Connected { time_ns } => self.connected = Some(Time(time_ns)),
                Line::Sent(sent) => {
                    self.sent = sent;
                    self.pairs.sent(sent);
                }
                Line::Failed { why } => self.fail(&why, "sender"),
                Line::Received(_) | Line::Arrived { .. } => {}
            }
        }
        Ok(())
    }

    fn fail(&mut self, why: &str, end: &str) {
        if !self.received.complete {
            self.report.error.get_or_insert_with(|| format!("its QUIC {end} failed: {why}"));
        }
    }

    /// Starts a program whose files have this name.
    fn start_end(&self, arguments: &[&str], node: Doors<'_>, name: &str) -> Result<End> {
        let log = self.logs.join(name);
        // A descriptor of this process, by which the folder may be named, is not the program's.
        let folder = fs::canonicalize(&self.logs).context("the folder of logs")?;
        let qlog = folder.join(format!("{name}.sqlog"));
        let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        all.extend(self.keeps_qlog.then_some(qlog.as_os_str()));
        End::start(self.stack_and_build().1, &all, node, &log)
    }

    /// Tells both programs of the burst or pause that has begun.
    fn order_writing(&mut self) {
        let (write, awaited) = self.writer.orders();
        self.sender.iter_mut().for_each(|end| end.order(write));
        self.receiver.iter_mut().zip(awaited).for_each(|(end, order)| end.order(order));
    }

    fn push(&mut self, shared: &mut Shared, all: bool) {
        for (sent, received_bytes) in self.pairs.take(all) {
            // Before the handshake is done, a stack has guesses only.
            if self.connected.is_some_and(|connected| Time(sent.time_ns) >= connected) {
                shared.sampler.push(Sample::of_quic(self.index as u16, &sent, received_bytes));
            }
        }
    }
}

impl Agent for QuicFlow<'_> {
    fn open_receiver(&mut self, _: &mut Shared) -> Result<()> {
        Ok(())
    }

    fn open_sender(&mut self, _: IpAddr, _: &mut Shared) -> Result<()> {
        Ok(())
    }

    /// Starts both programs: each has its socket open before the run begins.
    fn start_server<'d>(&mut self, node: &dyn Fn() -> Result<Doors<'d>>, _: &Shared) -> Result<()> {
        let interval = self.interval.as_nanos().to_string();
        let (from, to) = (self.from.to_string(), self.to.to_string());
        let (stack, _) = self.stack_and_build();
        let receive = ["receive", stack, &to, &interval];
        let send = ["send", stack, &self.cc, &from, &to, &interval];
        let receiver = self.start_end(&receive, node()?, &format!("{}.server", self.id))?;
        let sender = self.start_end(&send, self.from_node, &self.id)?;
        (self.receiver, self.sender) = (Some(receiver), Some(sender));
        Ok(())
    }

    fn is_served(&self, _: &mut Shared) -> Result<bool> {
        let mut all = true;
        for (end, name) in [(&self.receiver, "receiver"), (&self.sender, "sender")] {
            if let Some(end) = end {
                all &= end.is_ready().with_context(|| format!("flow {}: its QUIC {name}", self.id))?;
            }
        }
        Ok(all)
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        let start = Order::Start { zero_monotonic_ns: shared.clock.monotonic_ns(Time::ZERO) };
        self.receiver.iter_mut().chain(&mut self.sender).for_each(|end| end.order(start));
        self.report.start_ns = Some(shared.clock.now().as_nanos());
        if let Some(receiver) = self.receiver.as_mut().filter(|_| self.writer.needs_arrivals()) {
            shared.poller.add(receiver.pipe(), Source::Receiver(self.index), EpollFlags::EPOLLIN)?;
        }
        self.order_writing();
        Ok(None)
    }

    /// The receiver has written lines: the last bytes of a burst may have arrived.
    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()> {
        self.read()?;
        let (Source::Receiver(_), Some(receiver)) = (source, &mut self.receiver) else {
            unreachable!("a QUIC flow has no {source:?}")
        };
        if receiver.is_silent() { shared.poller.remove(receiver.pipe()) } else { Ok(()) }
    }

    fn take_next_turn(&mut self) -> Option<Time> {
        self.writer.take_next_turn().filter(|_| !self.is_over)
    }

    fn turn(&mut self, _: &mut Shared) -> Result<()> {
        if !self.is_over {
            self.writer.turn();
            self.order_writing();
        }
        Ok(())
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        if self.report.start_ns.is_some() {
            self.read()?;
            self.push(shared, false);
        }
        Ok(())
    }

    fn settle(&mut self, _: &mut Shared, on_time: bool) -> Result<()> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        self.report.completed = on_time && !self.writer.has_size();
        self.sender.iter_mut().chain(&mut self.receiver).for_each(|end| end.order(Order::Stop));
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.ends().any(|end| end.exit_code().is_none())
    }

    fn kill(&self) {
        self.ends().for_each(End::kill);
    }

    fn collect(&mut self, shared: &mut Shared) -> Result<()> {
        self.read()?;
        self.push(shared, true);
        Ok(())
    }

    fn received_bytes(&self) -> u64 {
        self.received.bytes
    }

    fn report(&self, _: Time) -> FlowReport {
        let mut report = self.report.clone();
        let unconnected = || "it was not connected when it stopped".to_owned();
        if report.start_ns.is_some() && self.connected.is_none() {
            report.error.get_or_insert_with(unconnected);
        }
        report.completed = report.error.is_none() && (report.completed || self.received.complete);
        report.received_bytes = self.received.bytes;
        report.sent_bytes = self.sent.written_bytes;
        (report.first_byte_ns, report.end_ns) = (self.received.first_ns, self.received.last_ns);
        if let Some(quic) = &mut report.quic {
            quic.handshake_ns = self.connected.zip(report.start_ns).map(|(at, start)| at.as_nanos() - start);
            quic.sent_packets = self.sent.sent_packets;
            quic.sent_bytes = self.sent.sent_bytes;
            quic.lost_packets = self.sent.lost_packets;
            quic.socket_drops = self.received.socket_drops;
            (quic.sender_preempted, quic.receiver_preempted) = (self.sent.preempted, self.received.preempted);
        }
        report
    }
}
