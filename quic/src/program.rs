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

use crate::application::Application;
use crate::arguments::{End, Settings};
use crate::clock::{Clock, Grid};
use crate::host;
use crate::link::Link;
use crate::qlog;
use crate::stack::{Endpoint, State, Transmit};
use crate::stacks;

/// Data of the application: zeros, as those of TCP flows.
static PAYLOAD: [u8; 1 << 16] = [0; 1 << 16];

/// Runs an end until it is told to stop, its connection ends, or standard input does.
///
/// # Errors
/// A stack or an algorithm that this program lacks, a socket that cannot be opened, or a failure of the connection.
pub fn run(settings: Settings) -> Result<()> {
    let stack = stacks::named(&settings.stack)?;
    let qlog = settings.qlog.as_deref().map(qlog::create).transpose()?;
    let (endpoint, at, cc, role) = match settings.end {
        End::Receiver { at } => ((stack.receiver)(qlog)?, at, None, Role::Receiver(Received::default(), None)),
        End::Sender { cc, from, to } => {
            let endpoint = (stack.sender)(&cc, qlog)?;
            let application = Application::default();
            (endpoint, SocketAddr::new(from, 0), Some(cc), Role::Sender { to, application, ended: false })
        }
    };
    let link = Link::bind(at)?;
    let port = link.socket().local_addr()?.port();
    let ready = Ready { stack: stack.name.to_owned(), version: stack.version.to_owned(), cc };
    let mut program = Program { endpoint, link, port, role, unsent: None, buffer: Vec::new(), was_open: false };
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

/// The part that an end has in its stream.
enum Role {
    Sender {
        to: SocketAddr,
        application: Application,
        ended: bool,
    },
    /// With the bytes that an order awaits.
    Receiver(Received, Option<u64>),
}

struct Program {
    endpoint: Box<dyn Endpoint>,
    link: Link,
    port: u16,
    role: Role,
    /// Datagrams for which the socket had no room.
    unsent: Option<Transmit>,
    /// The datagrams of the last transmit.
    buffer: Vec<u8>,
    was_open: bool,
}

impl Program {
    fn serve(&mut self, clock: Clock, interval_ns: i64, orders: &mut Orders) -> Result<()> {
        let mut now = Instant::now();
        if let Role::Sender { to, .. } = self.role {
            self.endpoint.connect(now, to)?;
        }
        let mut grid = Grid::new(interval_ns, clock.ns(now));
        let mut is_stopped = self.obey(orders)?;
        let mut news = News { has_arrived: true, is_ordered: false };
        loop {
            if is_stopped {
                // What has arrived by now counts.
                self.receive(now)?;
                self.serve_application(clock.ns(now))?;
                self.sample(clock.ns(now))?;
                self.endpoint.close(now);
                return self.transmit(now);
            }
            if news.has_arrived {
                self.receive(now)?;
            }
            if self.endpoint.next_timeout().is_some_and(|at| at <= now) {
                self.endpoint.on_timeout(now);
            }
            // An application that holds back what it writes goes on when the stack has sent some.
            while {
                let is_more = self.serve_application(clock.ns(now))?;
                self.transmit(now)?;
                is_more && self.unsent.is_none()
            } {}
            if clock.ns(now) >= grid.next_ns() {
                self.sample(clock.ns(now))?;
                grid = grid.after(clock.ns(now));
            }
            if self.endpoint.is_acknowledged() {
                self.sample(clock.ns(now))?;
                self.endpoint.close(now);
                return self.transmit(now);
            }
            match self.endpoint.state() {
                State::Failed(why) => {
                    let why = why.clone();
                    self.sample(clock.ns(now))?;
                    anyhow::bail!(why);
                }
                State::Closed => return self.sample(clock.ns(now)),
                State::Handshaking | State::Open => {}
            }
            let timeout = self.endpoint.next_timeout();
            let times = [Some(grid.next_ns()), self.next_write_ns(clock.ns(now))].into_iter().flatten();
            let wake = timeout.into_iter().chain(times.min().map(|at| clock.instant(at))).min();
            news = self.wait(wake, now)?;
            now = Instant::now();
            is_stopped = news.is_ordered && self.obey(orders)?;
        }
    }

    /// Gives what has arrived to the stack.
    fn receive(&mut self, now: Instant) -> Result<()> {
        while self.link.receive(|from, ecn, datagram| self.endpoint.receive(now, from, ecn, datagram))? {}
        Ok(())
    }

    /// Obeys all orders that have come. Returns true if the flow is over.
    fn obey(&mut self, orders: &mut Orders) -> Result<bool> {
        while let Some(order) = orders.next()? {
            match (order, &mut self.role) {
                (None | Some(Order::Stop), _) => return Ok(true),
                (Some(Order::Write(write)), Role::Sender { application, .. }) => application.write(write),
                (Some(Order::Pause), Role::Sender { application, .. }) => application.pause(),
                (Some(Order::Await { bytes }), Role::Receiver(_, awaited)) => *awaited = Some(bytes),
                (Some(order), _) => anyhow::bail!("an order for the other end, or one too many: {order:?}"),
            }
        }
        Ok(false)
    }

    /// The time at which the application writes next, if that is before whatever else happens.
    fn next_write_ns(&self, now_ns: i64) -> Option<i64> {
        match &self.role {
            Role::Sender { application, .. } if self.was_open => application.next_ns(now_ns),
            _ => None,
        }
    }

    /// Writes or reads as much as the stack lets the application. Returns true if it has more to write once the stack has
    /// sent some.
    fn serve_application(&mut self, now_ns: i64) -> Result<bool> {
        let mut is_more = false;
        if !self.was_open && *self.endpoint.state() == State::Open {
            self.was_open = true;
            tell(&Line::Connected { time_ns: now_ns })?;
        }
        match &mut self.role {
            Role::Sender { application, ended, .. } => {
                while self.was_open && !*ended {
                    let turn = application.due(now_ns).min(PAYLOAD.len() as u64) as usize;
                    let most_unsent = application.most_unsent();
                    let bytes = if turn == 0 { 0 } else { self.endpoint.write(&PAYLOAD[..turn], most_unsent)? as u64 };
                    application.wrote(bytes);
                    if application.is_over() {
                        self.endpoint.finish()?;
                        *ended = true;
                    }
                    if bytes == 0 {
                        break;
                    }
                    is_more = most_unsent.is_some();
                }
            }
            Role::Receiver(received, awaited) => {
                let bytes = self.endpoint.read();
                if bytes > 0 {
                    received.bytes += bytes;
                    received.first_ns.get_or_insert(now_ns);
                    received.last_ns = Some(now_ns);
                }
                received.complete = self.endpoint.has_everything();
                if awaited.is_some_and(|awaited| received.bytes >= awaited) {
                    *awaited = None;
                    tell(&Line::Arrived { time_ns: now_ns, bytes: received.bytes })?;
                }
            }
        }
        Ok(is_more)
    }

    /// Sends what the stack has, until the socket has no room.
    fn transmit(&mut self, now: Instant) -> Result<()> {
        loop {
            let transmit = match self.unsent.take() {
                Some(unsent) => unsent,
                None => {
                    self.buffer.clear();
                    match self.endpoint.transmit(now, self.link.most(), &mut self.buffer) {
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
        tell(&match &self.role {
            Role::Sender { application, .. } => {
                let complete = self.endpoint.is_acknowledged();
                let account = self.endpoint.account();
                let (port, written_bytes) = (self.port, application.written());
                Line::Sent(quic_lines::Sent { time_ns, port, written_bytes, complete, preempted, ..account })
            }
            Role::Receiver(received, _) => {
                let socket_drops = host::drops(self.link.socket());
                Line::Received(Received { time_ns, socket_drops, preempted, ..*received })
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
