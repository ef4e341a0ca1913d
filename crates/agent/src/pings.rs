//! Every host pings every other: in one process, with a socket in each host.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use anyhow::{Context, Result};
use lab::Host;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, SockaddrStorage, sendto};
use traffic::icmp;
use units::Ip;

use crate::request::Answer;

/// Requests under way at first. Each answer allows one more.
const WINDOW: usize = 64;
/// The most requests under way: 50 kB.
const LARGEST_WINDOW: usize = 1024;

/// Ping `hosts` at their addresses of `ip`, each from each other one. An answer that takes longer than `timeout` is none.
///
/// `bytes`: so large is each packet, with all headers of IP, and no router may fragment it; else it is small.
pub(crate) fn all(hosts: &[(&Host, IpAddr)], ip: Ip, bytes: Option<u16>, timeout: Duration) -> Result<Answer> {
    let poll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut sockets = Vec::with_capacity(hosts.len());
    for (index, (host, _)) in hosts.iter().enumerate() {
        setns(&host.netns, CloneFlags::CLONE_NEWNET).context("entering a host")?;
        let socket = icmp::open(ip, "pinging all hosts", "")?;
        if bytes.is_some() {
            never_fragment(&socket, ip)?;
        }
        poll.add(&socket, EpollEvent::new(EpollFlags::EPOLLIN, index as u64))?;
        sockets.push(socket);
    }
    let mut round = Round {
        sockets: &sockets,
        ip,
        payload_bytes: bytes.map_or(OURS, |bytes| usize::from(bytes).saturating_sub(headers(ip)).max(OURS)),
        identifier: std::process::id() as u16,
        timeout_ns: timeout.as_nanos() as i64,
        rtt_ns: vec![vec![None; hosts.len()]; hosts.len()],
        waiting: VecDeque::new(),
        under_way: 0,
        window: WINDOW,
    };
    // Round by round each host sends one, so that none has more to do than others.
    let count = hosts.len();
    let mut pairs = (1..count).flat_map(|step| (0..count).map(move |from| (from, (from + step) % count))).peekable();
    while pairs.peek().is_some() || round.under_way > 0 {
        while round.under_way < round.window
            && let Some((from, to)) = pairs.next()
        {
            round.send(from, to, hosts[to].1);
        }
        let mut events = [EpollEvent::empty(); 256];
        let ready = poll.wait(&mut events, round.patience()).or_else(|why| match why {
            nix::Error::EINTR => Ok(0),
            why => Err(why),
        })?;
        for event in &events[..ready] {
            round.receive(event.data() as usize);
        }
        round.give_up();
    }
    Ok(Answer::Pings { rtt_ns: round.rtt_ns })
}

/// Bytes of a payload that say whose request it is.
const OURS: usize = 16;

/// Bytes of the headers before the payload.
fn headers(ip: Ip) -> usize {
    const ICMP: usize = 8;
    ip.header_bytes() as usize + ICMP
}

/// Packets are as large as they are: with the bit that forbids fragments, whatever is known of the path's MTU.
fn never_fragment(socket: &OwnedFd, ip: Ip) -> Result<()> {
    let (level, name, probe) = match ip {
        Ip::V4 => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE),
        Ip::V6 => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE),
    };
    // SAFETY: a valid descriptor, and a value of the length that it says.
    let set = unsafe {
        let (value, length) = ((&raw const probe).cast(), size_of_val(&probe) as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), level, name, value, length)
    };
    Errno::result(set).map(drop).context("forbidding fragments")
}

struct Round<'a> {
    sockets: &'a [OwnedFd],
    ip: Ip,
    payload_bytes: usize,
    /// Identifier that tells our answers from those of other programs in a host.
    identifier: u16,
    timeout_ns: i64,
    rtt_ns: Vec<Vec<Option<u64>>>,
    /// Requests in the order in which they were sent, answered ones among them: sender, receiver, when.
    waiting: VecDeque<(usize, usize, i64)>,
    under_way: usize,
    window: usize,
}

impl Round<'_> {
    fn send(&mut self, from: usize, to: usize, address: IpAddr) {
        let now = realtime::monotonic_ns();
        let mut payload = vec![0; self.payload_bytes];
        payload[..4].copy_from_slice(&(from as u32).to_be_bytes());
        payload[4..8].copy_from_slice(&(to as u32).to_be_bytes());
        payload[8..OURS].copy_from_slice(&now.to_be_bytes());
        let message = icmp::request(self.ip, self.identifier, to as u16, &payload);
        let to_address = SockaddrStorage::from(SocketAddr::new(address, 0));
        // A host without a route to the other says so at once: that is no answer, either.
        if sendto(self.sockets[from].as_raw_fd(), &message, &to_address, MsgFlags::MSG_NOSIGNAL).is_ok() {
            self.waiting.push_back((from, to, now));
            self.under_way += 1;
        }
    }

    fn receive(&mut self, host: usize) {
        let mut packet = [0; 1 << 16];
        loop {
            // SAFETY: `packet` is valid for its length.
            let length =
                unsafe { libc::recv(self.sockets[host].as_raw_fd(), packet.as_mut_ptr().cast(), packet.len(), 0) };
            if length < 0 {
                return;
            }
            let now = realtime::monotonic_ns();
            let Some(payload) = icmp::answer(self.ip, &packet[..length as usize], self.identifier) else { continue };
            let Some((from, to, sent)) = parsed(payload) else { continue };
            if from == host
                && to < self.rtt_ns.len()
                && self.rtt_ns[from][to].is_none()
                && now - sent <= self.timeout_ns
            {
                self.rtt_ns[from][to] = Some((now - sent).max(0) as u64);
                self.under_way -= 1;
                self.window = (self.window + 1).min(LARGEST_WINDOW);
            }
        }
    }

    /// Time until the oldest request has waited too long.
    fn patience(&mut self) -> EpollTimeout {
        self.forget_answered();
        let left = self.waiting.front().map_or(0, |(.., sent)| sent + self.timeout_ns - realtime::monotonic_ns());
        EpollTimeout::try_from((left.max(0) / 1_000_000 + 1) as i32).unwrap_or(EpollTimeout::ZERO)
    }

    fn give_up(&mut self) {
        let now = realtime::monotonic_ns();
        self.forget_answered();
        while self.waiting.front().is_some_and(|(.., sent)| now - sent > self.timeout_ns) {
            self.waiting.pop_front();
            self.under_way -= 1;
            self.window = (self.window / 2).max(WINDOW);
            self.forget_answered();
        }
    }

    fn forget_answered(&mut self) {
        while self.waiting.front().is_some_and(|&(from, to, _)| self.rtt_ns[from][to].is_some()) {
            self.waiting.pop_front();
        }
    }
}

/// Sender, receiver, and when it was sent.
fn parsed(payload: &[u8]) -> Option<(usize, usize, i64)> {
    let number = |at: usize| Some(u32::from_be_bytes(payload.get(at..at + 4)?.try_into().ok()?) as usize);
    Some((number(0)?, number(4)?, i64::from_be_bytes(payload.get(8..16)?.try_into().ok()?)))
}
