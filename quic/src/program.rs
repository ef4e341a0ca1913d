//! The program: a loop between socket, stack, application and orders.

use std::io::{Read, Write, stdin, stdout};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Instant;

use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use quic_lines::{Line, Order, Ready, Received, line, parse};

use crate::arguments::{End as Which, Settings};
use crate::clock::{Clock, Grid};
use crate::end::End;
use crate::host;
use crate::link::Link;
use crate::qlog;
use crate::stack::{State, Transmit};
use crate::stacks;

/// Runs an end until it is told to stop, its connection ends, or standard input does.
///
/// # Errors
/// A stack or an algorithm that this program lacks, a socket that cannot be opened, or a failure of the connection.
pub fn run(settings: Settings) -> Result<()> {
    let stack = stacks::named(&settings.stack)?;
    let qlog = settings.qlog.as_deref().map(qlog::create).transpose()?;
    let (end, at, cc) = match settings.end {
        Which::Receiver { at } => (End::receiver((stack.receiver)(qlog)?), at, None),
        Which::Sender { cc, from, to } => {
            (End::sender((stack.sender)(&cc, qlog)?, to), SocketAddr::new(from, 0), Some(cc))
        }
    };
    let link = Link::bind(at)?;
    let port = link.socket().local_addr()?.port();
    let ready = Ready { stack: stack.name.to_owned(), version: stack.version.to_owned(), cc };
    let mut program = Program { end, link, port, unsent: None, buffer: Vec::new() };
    tell(&Line::Ready(ready))?;
    let mut orders = Orders::new()?;
    let Some(zero) = orders.wait_for_start()? else { return Ok(()) };
    let clock = Clock::new(zero)?;
    let result = program.serve(clock, settings.interval_ns, &mut orders);
    if let Err(error) = &result {
        tell(&Line::Failed { why: format!("{error:#}") })?;
    }
    result
}

/// Writes a line. Nobody may read any more: then the program is about to be ended.
fn tell(message: &Line) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(line(message).as_bytes()).and_then(|()| out.flush()).context("writing to standard output")
}

struct Program {
    end: End,
    link: Link,
    port: u16,
    /// Datagrams for which the socket had no room.
    unsent: Option<Transmit>,
    /// The datagrams of the last transmit.
    buffer: Vec<u8>,
}

impl Program {
    fn serve(&mut self, clock: Clock, interval_ns: i64, orders: &mut Orders) -> Result<()> {
        let mut now = Instant::now();
        self.end.begin(now)?;
        let mut grid = Grid::new(interval_ns, clock.ns(now));
        let mut is_stopped = self.obey(orders)?;
        let mut news = News { has_arrived: true, is_ordered: false };
        loop {
            if is_stopped {
                // What has arrived by now counts.
                self.receive(now)?;
                self.end.serve_application(clock.ns(now), &mut tell)?;
                self.sample(clock.ns(now))?;
                self.end.endpoint.close(now);
                return self.transmit(now);
            }
            if news.has_arrived {
                self.receive(now)?;
            }
            if self.end.endpoint.next_timeout().is_some_and(|at| at <= now) {
                self.end.endpoint.on_timeout(now);
            }
            // An application that holds back what it writes goes on when the stack has sent some.
            while {
                let is_more = self.end.serve_application(clock.ns(now), &mut tell)?;
                self.transmit(now)?;
                is_more && self.unsent.is_none()
            } {}
            if clock.ns(now) >= grid.next_ns() {
                self.sample(clock.ns(now))?;
                grid = grid.after(clock.ns(now));
            }
            if self.end.endpoint.is_acknowledged() {
                self.sample(clock.ns(now))?;
                self.end.endpoint.close(now);
                return self.transmit(now);
            }
            match self.end.endpoint.state() {
                State::Failed(why) => {
                    let why = why.clone();
                    self.sample(clock.ns(now))?;
                    anyhow::bail!(why);
                }
                State::Closed => return self.sample(clock.ns(now)),
                State::Handshaking | State::Open => {}
            }
            let timeout = self.end.endpoint.next_timeout();
            let times = [Some(grid.next_ns()), self.end.next_write_ns(clock.ns(now))].into_iter().flatten();
            let wake = timeout.into_iter().chain(times.min().map(|at| clock.instant(at))).min();
            news = self.wait(wake, now)?;
            now = Instant::now();
            is_stopped = news.is_ordered && self.obey(orders)?;
        }
    }

    /// Gives what has arrived to the stack.
    fn receive(&mut self, now: Instant) -> Result<()> {
        while self.link.receive(|from, ecn, datagram| self.end.endpoint.receive(now, from, ecn, datagram))? {}
        Ok(())
    }

    /// Obeys all orders that have come. Returns true if the flow is over.
    fn obey(&mut self, orders: &mut Orders) -> Result<bool> {
        while let Some(order) = orders.next()? {
            let Some(order) = order else { return Ok(true) };
            if self.end.obey(order)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Sends what the stack has, until the socket has no room.
    fn transmit(&mut self, now: Instant) -> Result<()> {
        loop {
            let transmit = match self.unsent.take() {
                Some(unsent) => unsent,
                None => {
                    self.buffer.clear();
                    match self.end.endpoint.transmit(now, self.link.most(), &mut self.buffer) {
                        Some(transmit) => transmit,
                        None => return Ok(()),
                    }
                }
            };
            if !self.link.send(&transmit, &self.buffer)? {
                self.unsent = Some(transmit);
                return Ok(());
            }
        }
    }

    fn sample(&mut self, time_ns: i64) -> Result<()> {
        let preempted = host::preempted();
        tell(&match self.end.sent() {
            Some(sent) => Line::Sent(quic_lines::Sent { time_ns, port: self.port, preempted, ..sent }),
            None => {
                let socket_drops = host::drops(self.link.socket());
                Line::Received(Received { time_ns, socket_drops, preempted, ..self.end.received() })
            }
        })
    }

    /// Waits until something arrives, there is room to send, or it is time.
    fn wait(&self, until: Option<Instant>, now: Instant) -> Result<News> {
        let stdin = stdin();
        let socket = if self.unsent.is_some() { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let mut fds = [PollFd::new(self.link.fd(), socket), PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        let timeout = until.map(|until| TimeSpec::from_duration(until.saturating_duration_since(now)));
        match ppoll(&mut fds, timeout, None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(errno).context("waiting"),
        }
        let [has_arrived, is_ordered] = fds.map(|fd| fd.any().unwrap_or(false));
        Ok(News { has_arrived, is_ordered })
    }
}

/// Reasons to go on after a wait.
struct News {
    /// The socket has datagrams, an error, or room again.
    has_arrived: bool,
    /// Standard input has orders.
    is_ordered: bool,
}

/// Orders on standard input, which does not block.
struct Orders {
    pending: Vec<u8>,
}

impl Orders {
    fn new() -> Result<Orders> {
        Ok(Orders { pending: Vec::new() })
    }

    /// The run's time 0 on the monotonic clock; `None` if there will be no start.
    fn wait_for_start(&mut self) -> Result<Option<i64>> {
        loop {
            match self.next()? {
                Some(Some(Order::Start { zero_monotonic_ns })) => {
                    fcntl(stdin(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
                    return Ok(Some(zero_monotonic_ns));
                }
                Some(Some(Order::Stop)) | Some(None) => return Ok(None),
                Some(Some(order)) => anyhow::bail!("an order before the start: {order:?}"),
                None => {}
            }
        }
    }

    /// The next order; `Some(None)`: no more will come; `None`: none is complete yet.
    fn next(&mut self) -> Result<Option<Option<Order>>> {
        if let Some(order) = self.take()? {
            return Ok(Some(Some(order)));
        }
        let mut room = [0; 256];
        match stdin().lock().read(&mut room) {
            Ok(0) => return Ok(Some(None)),
            Ok(bytes) => self.pending.extend_from_slice(&room[..bytes]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error).context("reading orders"),
        }
        Ok(self.take()?.map(Some))
    }

    /// Takes a whole line off what has come.
    fn take(&mut self) -> Result<Option<Order>> {
        let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let whole: Vec<u8> = self.pending.drain(..=end).collect();
        let text = String::from_utf8_lossy(&whole);
        Ok(Some(parse(text.trim_end()).map_err(anyhow::Error::msg)?))
    }
}
