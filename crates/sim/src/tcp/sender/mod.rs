//! The sending end of a connection, as Linux runs it.
//!
//! A pure state machine: segments, timers and the application come in with the time, segments go out into an outbox. It
//! fills [`cc::Socket`] and calls its [`CongestionControl`] where Linux does.

mod ack;
mod buffers;
mod cleanup;
mod ecn;
mod loss;
mod open;
mod output;
mod pacing;
mod probe;
mod prr;
mod rack;
mod rate;
mod recovery;
mod retransmit;
mod rtt;
mod sack;
mod scoreboard;
mod sizes;
mod timers;
mod undo;
mod usage;

use cc::{CaState, CongestionControl, Socket};
use units::Time;

use crate::segment::{MAX_SACKS, Segment};
use crate::tcp::Settings;
use buffers::{Application, Buffers};
use rack::Rack;
use rate::RateEstimator;
use rtt::RttEstimator;
pub(crate) use rtt::{RTO_INITIAL_US, RTO_MAX_US, RTO_MIN_US};
use scoreboard::Scoreboard;
use sizes::Sizes;
use timers::Timers;
use usage::Usage;

pub use ack::AckReport;

/// The sending end of a connection: it opens it, sends, and closes it.
#[derive(Debug)]
pub struct Sender {
    sk: Socket,
    cc: Box<dyn CongestionControl>,
    /// The algorithm alone sets window and pacing rate.
    has_cong_control: bool,
    settings: Settings,
    sizes: Sizes,
    phase: Phase,
    now: Time,

    /// The stream, in sequence numbers: the SYN has 0.
    snd_una: u64,
    snd_nxt: u64,
    /// End of the data that the application has written.
    written_end: u64,
    /// True if it will have no more to say, and if it has written all that it had: a FIN follows.
    will_close: bool,
    is_closing: bool,
    /// The right edge of the receive window.
    window_end: u64,
    /// The last segment smaller than a full one ends here (Nagle's rule as modified by Minshall).
    small_end: u64,
    /// True if small segments don't wait for each other (`TCP_NODELAY`).
    has_no_delay: bool,
    application: Application,
    buffers: Buffers,
    board: Scoreboard,

    rtt: RttEstimator,
    rate: RateEstimator,
    rack: Rack,
    timers: Timers,
    usage: Usage,

    /// Recovery, or what comes before it, ends when this is acknowledged.
    high_seq: u64,
    /// Segments that may overtake one that is not lost; it grows with what is seen.
    reordering: u32,
    /// Reordering was seen this many times.
    reordering_seen: u32,
    /// Behind the last SACKed segment.
    highest_sack: u64,
    /// The blocks of the last SACK: all in them is marked.
    sacked_before: [(u64, u64); MAX_SACKS],
    /// PRR (RFC 6937): delivered and sent since the reduction began.
    prr_delivered: u32,
    prr_out: u32,
    undo: undo::Undo,
    probe: probe::Probe,
    /// F-RTO runs (RFC 5682).
    is_frto: bool,
    /// Timeouts in a row without progress, and how often the timeout was doubled.
    timeouts: u32,
    backoff: u32,
    /// A CWR flag waits for the next new segment (RFC 3168 section 6.1.2).
    queue_cwr: bool,
    /// The latest timestamp of the peer, ms.
    ts_recent: u32,
    /// The one that the ACK under way echoes, ms.
    ts_ecr: u32,
    counters: Counters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    SynSent,
    Established,
    /// The peer's FIN came: all data arrived.
    Finished,
}

/// The counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with data, retransmissions included.
    pub segments_sent: u64,
    /// Payload in them.
    pub bytes_sent: u64,
    /// Segments sent again, tail loss probes and SYNs included.
    pub segments_retransmitted: u64,
    /// Payload in them.
    pub bytes_retransmitted: u64,
    /// Segments that arrived twice, as D-SACKs tell.
    pub duplicates: u64,
    /// ACKs that came.
    pub acks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Reductions that were undone.
    pub undos: u64,
    /// Time with data outstanding or waiting, us.
    pub busy_us: u64,
    /// Part of [`busy_us`](Counters::busy_us) in which the receive window was the limit, us.
    pub rwnd_limited_us: u64,
    /// Part of it in which the memory for sending was, us.
    pub sndbuf_limited_us: u64,
}

impl Sender {
    /// A closed one. `seed`: of its random numbers. `ecn`: it will ask for ECN.
    pub fn new(settings: Settings, cc: Box<dyn CongestionControl>, seed: u64, ecn: bool) -> Sender {
        let sizes = Sizes::new(&settings, cc.sndbuf_expand());
        let mut sk = Socket::new(settings.mss(), seed);
        sk.snd_cwnd = settings.initial_cwnd;
        sk.sk_gso_max_size = sizes::train_bytes(&settings);
        sk.ecn_flags.ok = ecn || cc.needs_ecn();
        Sender {
            sk,
            has_cong_control: cc.has_cong_control(),
            cc,
            phase: Phase::Closed,
            now: Time::ZERO,
            snd_una: 0,
            snd_nxt: 0,
            written_end: 1,
            will_close: false,
            is_closing: false,
            window_end: 0,
            small_end: 0,
            has_no_delay: false,
            application: Application::default(),
            buffers: Buffers::default(),
            board: Scoreboard::new(settings.mss()),
            rtt: RttEstimator::default(),
            rate: RateEstimator::default(),
            rack: Rack::default(),
            timers: Timers::default(),
            usage: Usage::default(),
            high_seq: 0,
            reordering: settings.reordering,
            reordering_seen: 0,
            highest_sack: 0,
            sacked_before: [(0, 0); MAX_SACKS],
            prr_delivered: 0,
            prr_out: 0,
            undo: undo::Undo::default(),
            probe: probe::Probe::default(),
            is_frto: false,
            timeouts: 0,
            backoff: 0,
            queue_cwr: false,
            ts_recent: 0,
            ts_ecr: 0,
            counters: Counters::default(),
            sizes,
            settings,
        }
    }

    /// The connection as congestion control sees it.
    pub fn socket(&self) -> &Socket {
        &self.sk
    }

    /// The congestion control.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// The sender's counters.
    pub fn counters(&self) -> Counters {
        self.usage.up_to(self.now_us(), self.counters)
    }

    /// The connection is open for data.
    pub fn is_established(&self) -> bool {
        self.phase == Phase::Established
    }

    /// True if all written data has arrived, and the peer has closed, too.
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// Payload that is acknowledged.
    pub fn bytes_acked(&self) -> u64 {
        self.snd_una.saturating_sub(1).min(self.written_end - 1)
    }

    /// The first byte that is not acknowledged, from the SYN on, which has number 0. A FIN counts as a byte.
    pub fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// The peer has answered: the connection is open, or was.
    pub fn has_connected(&self) -> bool {
        self.snd_una > 0
    }

    /// Mean deviation of the RTT, us: what Linux tells as `tcpi_rttvar`.
    pub fn rtt_deviation_us(&self) -> u32 {
        self.rtt.deviation_us()
    }

    /// The retransmission timeout, with back-off, us.
    pub fn rto_us(&self) -> u64 {
        self.rtt.backed_off(self.backoff)
    }

    /// The application writes no more than `write` bytes at once, and only while less than half of `ahead` bytes wait to be sent.
    pub fn write_ahead(&mut self, write: u32, ahead: u32) {
        (self.application.write, self.application.ahead) = (write, ahead);
    }

    /// Small segments don't wait for each other (`TCP_NODELAY`).
    pub(crate) fn without_delay(self) -> Sender {
        Sender { has_no_delay: true, ..self }
    }

    /// The sequence number of the next new byte.
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// The application has more to say: `bytes` of it. It writes them as there is room, and what may be sent is sent.
    pub fn write(&mut self, bytes: u64, now: Time, out: &mut Vec<Segment>) {
        self.at(now);
        self.application.end += bytes;
        self.wake_application(out);
    }

    /// Bytes that the application has written.
    pub fn written_bytes(&self) -> u64 {
        self.written_end - 1
    }

    /// Bytes that the application has written or waits to write.
    pub fn said_bytes(&self) -> u64 {
        self.application.end - 1
    }

    /// The application is done: a FIN follows the data.
    pub fn close(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.at(now);
        self.will_close = true;
        self.wake_application(out);
    }

    /// Cease at once: what was not sent never will be.
    pub fn abort(&mut self) {
        self.phase = Phase::Closed;
        self.timers = Timers::default();
    }

    /// Time is `now`.
    fn at(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time goes back");
        self.now = now;
        self.sk.tcp_clock_cache = now.as_nanos() as u64;
        self.sk.tcp_mstamp = self.sk.tcp_clock_cache / 1000;
    }

    fn now_us(&self) -> u64 {
        self.sk.tcp_mstamp
    }

    /// Our timestamp clock (RFC 7323), ms. It doesn't begin at 0, which would mean "none".
    fn timestamp(&self) -> u32 {
        timestamp_ms(self.now_us())
    }

    fn set_una(&mut self, una: u64) {
        self.snd_una = una;
        self.sk.snd_una = una as u32;
    }

    fn set_nxt(&mut self, nxt: u64) {
        self.snd_nxt = nxt;
        self.sk.snd_nxt = nxt as u32;
    }

    fn set_ca_state(&mut self, state: CaState) {
        self.cc.set_state(&mut self.sk, state);
        self.sk.ca_state = state;
    }

    /// The window is being reduced by PRR.
    fn is_reducing(&self) -> bool {
        matches!(self.sk.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// The stream ends here, with the FIN if it is known.
    fn stream_end(&self) -> u64 {
        self.written_end + u64::from(self.is_closing)
    }

    fn has_unsent(&self) -> bool {
        self.snd_nxt < self.stream_end()
    }
}

/// RFC 7323's clock: a millisecond, as Linux has it.
pub(crate) fn timestamp_ms(now_us: u64) -> u32 {
    (now_us / 1000) as u32 + 1
}
