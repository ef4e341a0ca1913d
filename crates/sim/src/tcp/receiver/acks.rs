//! The times of acknowledgements (RFC 5681 section 4.2 and RFC 2883, as Linux carries them out).

use units::{Duration, Time};

use super::Receiver;
use crate::segment::Segment;
use crate::tcp::settings::READING;
use crate::tcp::ticks;

/// Segments that are acknowledged one by one, at the start and after a surprise: `TCP_MAX_QUICKACKS`.
pub(super) const MAX_QUICKACKS: u32 = 16;
/// The least delay of an ACK: `TCP_ATO_MIN`.
const ATO_MIN: Duration = Duration::from_millis(40);
/// The most: `TCP_DELACK_MAX`.
const DELAY_MAX: Duration = Duration::from_millis(200);
/// Duplicate ACKs that go at once, so that the sender's recovery is not late: `TCP_FASTRETRANS_THRESH`.
const DUPLICATES_AT_ONCE: u8 = 3;

/// An ACK surely has room for this many SACK blocks: `TCP_SACK_BLOCKS_EXPECTED`.
const BLOCKS_EXPECTED: usize = 2;

/// State of the ACK that is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acks {
    /// There is something to acknowledge.
    pub is_pending: bool,
    /// The ACK goes at once.
    pub is_immediate: bool,
    /// True if the ACK goes when the application has read what came.
    pub awaits_read: bool,
    /// Bytes that came in order since the application had read last.
    pub unread: u32,
    /// This many are not delayed.
    quick: u32,
    /// Time that the next ACK may wait; 0: no data yet.
    timeout: Duration,
    /// The time at which data came in order last.
    last_data: Time,
    /// The timer runs until then.
    delayed_until: Time,
    /// A duplicate to tell (D-SACK).
    duplicate: Option<(u64, u64)>,
    /// SACKs behind one timer, and the time at which it fires.
    compressed: u32,
    compressed_until: Time,
    /// Duplicate ACKs sent for this `rcv_nxt`.
    repeated: u8,
    repeated_at: u64,
    /// The sender's RTT as its echoes of our timestamps tell, us << 3, and the last echo.
    rtt: u32,
    last_ecr: u32,
}

impl Default for Acks {
    fn default() -> Acks {
        Acks {
            is_pending: false,
            is_immediate: false,
            awaits_read: false,
            unread: 0,
            quick: 0,
            timeout: Duration::ZERO,
            last_data: Time::ZERO,
            delayed_until: Time::NEVER,
            duplicate: None,
            compressed: 0,
            compressed_until: Time::NEVER,
            repeated: 0,
            repeated_at: 0,
            rtt: 0,
            last_ecr: 0,
        }
    }
}

impl Acks {
    #[inline]
    pub(super) fn next_timer(&self) -> Time {
        self.delayed_until.min(self.compressed_until)
    }

    /// An ACK waits for its timer.
    pub(super) fn is_delayed(&self) -> bool {
        self.delayed_until != Time::NEVER
    }

    /// `range` came twice.
    pub(super) fn duplicate(&mut self, range: (u64, u64)) {
        self.duplicate = Some(range);
        self.is_pending = true;
    }

    /// The next `segments` are acknowledged one by one.
    pub(super) fn be_quick(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
        self.timeout = ATO_MIN;
    }

    /// The next segment is acknowledged at once.
    pub(super) fn be_quick_once(&mut self) {
        self.quick |= 1;
    }
}

impl Receiver {
    /// Quick ACKs, at most `most`: enough for half the window.
    pub(super) fn quickacks(&self, most: u32) -> u32 {
        ((self.window_offered() / (2 * u64::from(self.window.mss()))) as u32).max(2).min(most)
    }

    fn window_offered(&self) -> u64 {
        let mut window = self.window;
        u64::from(window.advertise(self.rcv_nxt, self.ahead.bytes()))
    }

    /// Data came in order: how long may its ACK wait (`tcp_event_data_recv`)?
    pub(super) fn on_data_time(&mut self) {
        let gap = self.now - self.acks.last_data;
        if self.acks.timeout == Duration::ZERO {
            // The first: a sender in slow start needs its ACKs.
            self.acks.be_quick(self.quickacks(MAX_QUICKACKS));
        } else if gap <= Duration(ATO_MIN.0 / 2) {
            self.acks.timeout = Duration(self.acks.timeout.0 / 2 + ATO_MIN.0 / 2);
        } else if gap < self.acks.timeout {
            self.acks.timeout = Duration((self.acks.timeout.0 / 2 + gap.0).min(self.rto().0));
        } else if gap > self.rto() {
            // The sender paused for so long that it begins anew.
            let quick = self.quickacks(MAX_QUICKACKS);
            self.acks.quick = self.acks.quick.max(quick);
        }
        self.acks.last_data = self.now;
    }

    fn rto(&self) -> Duration {
        let us = if self.rtt_us == 0 { 1_000_000 } else { self.rtt_us + self.rtt_us.max(super::RTO_MIN_US) };
        Duration::from_micros(i64::from(us))
    }

    /// Acknowledge now, or later.
    pub(super) fn decide(&mut self, out: &mut Vec<Segment>) {
        let is_second = self.rcv_nxt - self.rcv_wup > u64::from(self.window.mss());
        if (is_second && self.is_window_as_large()) || self.acks.quick > 0 || self.acks.is_immediate {
            return self.send_ack(out);
        }
        if !self.ahead.is_empty() {
            return self.compress(out);
        }
        self.acks.awaits_read |= is_second;
        match self.awaited_read() <= self.now {
            true => self.send_ack(out),
            false => self.delay(out),
        }
    }

    /// The time at which the application has read what came, if an ACK waits for that; [`Time::NEVER`] otherwise.
    #[inline]
    pub fn awaited_read(&self) -> Time {
        if self.acks.awaits_read && self.ahead.is_empty() { self.read_at() } else { Time::NEVER }
    }

    /// The time at which the application has read all that came.
    #[inline]
    pub(super) fn read_at(&self) -> Time {
        self.acks.last_data + if self.settings.reads_late { READING } else { Duration::ZERO }
    }

    /// Data that were received, and have yet to be read, leave room for a window as large as the last one.
    fn is_window_as_large(&self) -> bool {
        // The application of a host that is modelled by the time until its ACKs has read what came in order.
        if !self.settings.reads_late && self.ahead.is_empty() {
            return true;
        }
        let held =
            if self.settings.reads_late { self.held() } else { self.rcv_nxt - self.rcv_wup + self.ahead.bytes() };
        self.window.room(held) >= self.window.offered_from(self.rcv_wup)
    }

    fn delay(&mut self, out: &mut Vec<Segment>) {
        let mut wait = self.acks.timeout;
        if wait > ATO_MIN {
            let rtt = Duration::from_micros(i64::from(self.rtt_us));
            wait = wait.min(if self.rtt_us > 0 { rtt.max(ATO_MIN) } else { Duration::from_millis(500) });
        }
        wait = wait.min(DELAY_MAX);
        let fires = ticks::fires(self.now, wait, &self.settings);
        if self.acks.delayed_until != Time::NEVER {
            // About to fire anyway: what it waits for ends a tick before it fires.
            let rounded = if self.settings.ticks { ticks::TICK } else { Duration::ZERO };
            if self.acks.delayed_until - rounded <= self.now + Duration(wait.0 / 4) {
                return self.send_ack(out);
            }
            return self.acks.delayed_until = self.acks.delayed_until.min(fires);
        }
        self.acks.delayed_until = fires;
    }

    /// Only the first of the SACKs for data behind a hole goes at once; then one covers those of a millisecond, or of a
    /// twentieth of the RTT (`net.ipv4.tcp_comp_sack_delay_ns`).
    fn compress(&mut self, out: &mut Vec<Segment>) {
        if self.acks.compressed >= self.settings.comp_sack_nr {
            return self.send_ack(out);
        }
        if self.acks.repeated_at != self.rcv_nxt {
            (self.acks.repeated_at, self.acks.repeated) = (self.rcv_nxt, 0);
        }
        if self.acks.repeated < DUPLICATES_AT_ONCE {
            self.acks.repeated += 1;
            return self.send_ack(out);
        }
        self.acks.compressed += 1;
        if self.acks.compressed_until != Time::NEVER {
            return;
        }
        let rtt = match (self.acks.rtt, self.rtt_us) {
            (of_data, 0) => of_data >> 3,
            (of_data, of_handshake) => (of_data >> 3).min(of_handshake),
        };
        let wait = (i64::from(rtt) * 1000 / 20).min(i64::from(self.settings.comp_sack_delay_ns));
        // The timer may be late by its slack, so that it fires together with others; nothing else fires here.
        self.acks.compressed_until = self.now + Duration(wait + i64::from(self.settings.comp_sack_slack_ns));
    }

    /// A segment from `begin` to `end` is about to come behind a hole. If it makes one SACK block too many, what waits to be
    /// told is told before: an ACK has room for few blocks (`tcp_sack_compress_send_ack`).
    pub(super) fn tell_before(&mut self, begin: u64, end: u64, out: &mut Vec<Segment>) {
        if self.acks.compressed > 0 && self.ahead.place(begin, end) >= BLOCKS_EXPECTED {
            self.send_ack(out);
        }
    }

    /// Send the ACKs that are due by the timers that delay and compress, or because the application has read.
    pub(super) fn acks_on_timer(&mut self, out: &mut Vec<Segment>) {
        if self.awaited_read() <= self.now {
            self.send_ack(out);
        }
        if self.acks.compressed_until <= self.now {
            self.acks.compressed_until = Time::NEVER;
            if self.acks.compressed > 0 {
                self.acks.compressed = 1;
                self.send_ack(out);
            }
        }
        if self.acks.delayed_until <= self.now {
            self.acks.delayed_until = Time::NEVER;
            if self.acks.is_pending {
                // No data came to acknowledge it with: wait longer next time.
                self.acks.timeout = Duration((2 * self.acks.timeout.0).min(self.rto().0));
                self.send_ack(out);
            }
        }
    }

    /// The RTT of the sender's data: from our ACK to the first data that echoes its timestamp.
    pub(super) fn measure_rtt(&mut self, segment: &Segment) {
        if segment.ts_ecr == 0 || segment.ts_ecr == self.acks.last_ecr || segment.len < self.window.mss() {
            return;
        }
        self.acks.last_ecr = segment.ts_ecr;
        let now = super::timestamp_ms(self.now.as_nanos() as u64 / 1000);
        let rtt = now.saturating_sub(segment.ts_ecr).clamp(1, 100_000) * 1000;
        self.acks.rtt = match self.acks.rtt {
            0 => rtt << 3,
            known => known - (known >> 3) + rtt,
        };
    }

    pub(super) fn send_ack(&mut self, out: &mut Vec<Segment>) {
        self.send_ack_of(self.rcv_nxt, out);
    }

    /// An ACK that acknowledges all before `ack`.
    pub(super) fn send_ack_of(&mut self, ack: u64, out: &mut Vec<Segment>) {
        let mut segment = Segment { ack, ..self.header() };
        if let Some(range) = self.acks.duplicate.take() {
            segment.push_sack(range);
        }
        if !self.ahead.is_empty() {
            self.ahead.blocks().for_each(|block| segment.push_sack(block));
        }
        out.push(segment);
        if ack == self.rcv_nxt {
            self.acknowledged();
        } else {
            // DCTCP's, of what came before a mark: the ACK of the rest is still due.
            self.rcv_wup = self.rcv_nxt;
        }
    }

    /// Everything received so far is acknowledged.
    pub(super) fn acknowledged(&mut self) {
        self.rcv_wup = self.rcv_nxt;
        let acks = &mut self.acks;
        (acks.is_pending, acks.is_immediate, acks.awaits_read) = (false, false, false);
        (acks.compressed, acks.compressed_until) = (0, Time::NEVER);
        acks.delayed_until = Time::NEVER;
        if acks.quick > 0 {
            acks.quick -= 1;
            if acks.quick == 0 {
                acks.timeout = ATO_MIN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::READING;
    use crate::segment::{Flags, Segment};
    use crate::tcp::{Receiver, Settings};

    const MSS: u64 = 1448;

    /// A connection whose receive window has grown to its end.
    struct Connection {
        receiver: Receiver,
        now: Time,
        next: u64,
    }

    impl Connection {
        fn new(reads_late: bool) -> Connection {
            let settings =
                Settings { receive_buffer: 1 << 19, receive_buffer_max: 1 << 19, reads_late, ..Settings::default() };
            let mut it = Connection::opened(settings);
            (0..400).for_each(|_| _ = it.data(false));
            it
        }

        fn opened(settings: Settings) -> Connection {
            let mut it = Connection { receiver: Receiver::new(settings, None), now: Time(1_000_000), next: 1 };
            it.comes(Segment { flags: Flags { syn: true, ..Flags::default() }, ..Segment::default() });
            it.comes(Segment { seq: 1, ack: 1, ..Segment::default() });
            it
        }

        /// Returns the time from this segment to each ACK that it causes, until the next one comes 10 us later.
        fn comes(&mut self, segment: Segment) -> Vec<i64> {
            let (came, mut out, mut acks) = (self.now, Vec::new(), Vec::new());
            self.receiver.on_segment(&segment, link::Ecn::NotEct, self.now, &mut out);
            acks.extend(out.drain(..).map(|_| 0));
            self.now = came + units::Duration(10_000);
            while self.receiver.next_timer() < self.now {
                let at = self.receiver.next_timer();
                self.receiver.on_timer(at, &mut out);
                acks.extend(out.drain(..).map(|_| (at - came).0));
            }
            acks
        }

        /// The sequence number of the next segment, which is passed over.
        fn skip(&mut self) -> u64 {
            self.next += MSS;
            self.next - MSS
        }

        fn data(&mut self, psh: bool) -> Vec<i64> {
            let seq = self.skip();
            self.comes(Segment {
                seq,
                ack: 1,
                len: MSS as u32,
                flags: Flags { psh, ..Flags::default() },
                ..Segment::default()
            })
        }
    }

    #[test]
    fn an_ack_that_the_application_lets_out_waits_until_it_has_read() {
        for (reads_late, after) in [(false, 0), (true, READING.0)] {
            let mut it = Connection::new(reads_late);
            it.data(true);
            assert_eq!(it.data(true), [after]);
            assert!(it.data(false).is_empty());
            assert_eq!(it.data(true), [0], "the second segment");
        }
    }

    /// The window grows after the first segment has made ACKs quick (`tcp_event_data_recv`): growth adds to them.
    #[test]
    fn growth_adds_to_the_quick_acks_of_the_start() {
        let settings = Settings { receive_buffer: 1 << 19, receive_buffer_max: 1 << 19, ..Settings::default() };
        let mut it = Connection::opened(settings);
        // From half of the buffer to 160/256 of it, two segments with each, and less a segment that is kept back at first.
        let growing = ((1u64 << 19) * 32 / 256 + MSS).div_ceil(2 * MSS);
        let quick = (1..).take_while(|_| !it.data(false).is_empty()).count() as u64;
        assert_eq!(quick, growing + 16);
    }

    /// `__tcp_ack_snd_check` compares with the window that was offered last. Data in order find it as grown as it can be beside a
    /// segment; the first segment behind a hole lets it grow by that segment.
    #[test]
    fn a_second_segment_waits_if_the_window_offered_last_was_larger() {
        let mut it = Connection::new(true);
        it.data(true);
        it.data(true);
        assert_eq!((it.data(false), it.data(false)), (vec![], vec![0]));
        let hole = it.skip();
        assert_eq!(it.data(false), [0]);
        it.comes(Segment { seq: hole, ack: 1, len: MSS as u32, ..Segment::default() });
        assert_eq!(it.data(true), [READING.0], "the whole window is offered now");
        assert_eq!((it.data(false), it.data(false)), (vec![], vec![READING.0]));
    }
}
