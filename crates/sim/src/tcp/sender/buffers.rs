//! The memory for sending: how far an application can write ahead, and where the buffers that it fills end.

use std::collections::VecDeque;

use super::output::Push;
use super::{Phase, Sender};
use crate::segment::Segment;

/// Buffers of data that was written and is not acknowledged. Each takes its payload's memory, and some that describes
/// it. Buffers in flight are the scoreboard's.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    /// Buffers that wait to be sent.
    unsent: VecDeque<Buffer>,
    /// The memory that all may take, bytes (`sk_sndbuf`).
    limit: u32,
    /// The largest window that the peer has offered, bytes.
    window: u32,
    /// The most payload of a buffer, bytes.
    largest: u16,
    /// Bytes that were written since all that may be sent was last to go.
    unpushed: u32,
    /// The application waits for room (`SOCK_NOSPACE`).
    is_short: bool,
    /// There is room again, or there is something new to write: it is the application's turn.
    is_awake: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    /// Payload, bytes.
    bytes: u16,
    /// A write ends with it.
    ends_write: bool,
}

impl Buffers {
    /// The peer offers a window, bytes. A buffer holds no more than half of the largest so far, and no more than the largest `train` of
    /// segments.
    pub(super) fn offer(&mut self, window: u32, train: u32, mss: u32) {
        if window > self.window || self.largest == 0 {
            self.window = window;
            self.largest = ((window / 2 / mss).clamp(1, train) * mss) as u16;
        }
    }

    /// Bytes that the next train can take. A buffer that holds less than `wanted` is filled up from the one behind it, since Linux 6.10.
    pub(super) fn next(&self, wanted: u64) -> u64 {
        let bytes = |index| self.unsent.get(index).map_or(0, |buffer: &Buffer| u64::from(buffer.bytes));
        bytes(0) + bytes(1).min(wanted.saturating_sub(bytes(0)))
    }

    /// A train takes `bytes`. Returns whether it has the end of a write, so that its last segment has PSH.
    pub(super) fn take(&mut self, mut bytes: u64) -> bool {
        let mut has_end = false;
        while bytes > 0 {
            let Some(first) = self.unsent.front_mut() else { break };
            if u64::from(first.bytes) > bytes {
                first.bytes -= bytes as u16;
                break;
            }
            bytes -= u64::from(first.bytes);
            has_end |= first.ends_write;
            self.unsent.pop_front();
        }
        has_end
    }

    /// Append up to `bytes` to the last buffer; if that is full, to a new one. Returns how many.
    fn put(&mut self, bytes: u64) -> u64 {
        if self.is_full() {
            self.unsent.push_back(Buffer::default());
        }
        let Some(last) = self.unsent.back_mut() else { return 0 };
        let taken = bytes.min(u64::from(self.largest - last.bytes));
        *last = Buffer { bytes: last.bytes + taken as u16, ends_write: false };
        self.unpushed = self.unpushed.saturating_add(taken as u32);
        taken
    }

    fn end_write(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.ends_write = true;
        }
        self.unpushed = 0;
    }

    /// The next byte begins a buffer.
    fn is_full(&self) -> bool {
        self.unsent.back().is_none_or(|last| last.bytes >= self.largest)
    }

    pub(super) fn is_short(&self) -> bool {
        self.is_short
    }
}

/// Data of an application, and how it writes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Application {
    /// The end of it in the stream.
    pub end: u64,
    /// The most that it writes at once, bytes.
    pub write: u32,
    /// Bytes that may wait to be sent: the application writes only below half of them (`TCP_NOTSENT_LOWAT`).
    pub ahead: u32,
}

impl Default for Application {
    fn default() -> Application {
        Application { end: 1, write: u32::MAX, ahead: u32::MAX }
    }
}

impl Sender {
    /// The connection is open: its memory is that of the initial window (`tcp_init_buffer_space`).
    pub(super) fn open_buffers(&mut self, window: u32) {
        self.buffers.offer(window, u32::from(self.sizes.train), self.sk.mss_cache);
        self.buffers.limit = self.settings.send_buffer;
        self.expand();
        self.buffers.is_awake = true;
    }

    /// Memory for some windows, each segment in a buffer of its own (`tcp_sndbuf_expand`).
    fn expand(&mut self) {
        let segments = self.settings.initial_cwnd.max(self.sk.snd_cwnd).max(self.reordering + 1);
        let memory = u64::from(segments) * u64::from(self.sizes.window_segment);
        self.buffers.limit = self.buffers.limit.max(memory.min(u64::from(self.settings.send_buffer_max)) as u32);
    }

    /// Memory in use (`sk_wmem_queued`).
    fn queued(&self) -> u64 {
        let buffers = self.buffers.unsent.len() + self.board.buffers();
        self.written_end.saturating_sub(self.snd_una.max(1)) + buffers as u64 * u64::from(self.sizes.overhead)
    }

    /// A third of the memory is free, and the application is not too far ahead (`__sk_stream_is_writeable`).
    fn is_writable(&self) -> bool {
        let (queued, limit) = (self.queued(), u64::from(self.buffers.limit));
        let unsent = self.written_end.saturating_sub(self.snd_nxt);
        queued + queued / 2 <= limit && queued < limit && unsent * 2 < u64::from(self.application.ahead)
    }

    /// Something was sent or acknowledged: wake an application that waits for room if there is enough (`tcp_check_space`). Memory grows
    /// only then, and only while the window is not full.
    pub(super) fn check_space(&mut self) {
        if !self.buffers.is_short {
            return;
        }
        if self.sk.packets_in_flight() < self.sk.snd_cwnd {
            self.expand();
            self.usage.grew(self.now_us());
        }
        if self.is_writable() {
            (self.buffers.is_short, self.buffers.is_awake) = (false, true);
            self.usage.limited_by_memory(false, self.now_us(), &mut self.counters);
        }
    }

    /// The application has something new to write: it looks for room at once.
    pub(super) fn wake_application(&mut self, out: &mut Vec<Segment>) {
        self.buffers.is_awake = true;
        self.run_application(out);
    }

    /// The application pauses: what it has not written yet, it never will. It looks for room a last time.
    pub fn pause(&mut self) {
        self.application.end = self.written_end;
        self.buffers.is_short |= self.phase == Phase::Established && !self.is_writable();
    }

    /// The application's turn, if it is awake: it writes until there is no room, or all is said.
    #[inline]
    pub(super) fn run_application(&mut self, out: &mut Vec<Segment>) {
        if self.phase == Phase::Established && std::mem::take(&mut self.buffers.is_awake) {
            self.write_all(out);
        }
    }

    fn write_all(&mut self, out: &mut Vec<Segment>) {
        while self.written_end < self.application.end {
            if !self.is_writable() {
                self.buffers.is_short = true;
                return;
            }
            self.take_write(out);
        }
        if self.will_close && !self.is_closing {
            self.is_closing = true;
            self.push(out);
        }
    }

    /// A write has filled a buffer, and goes on. If more than half of the peer's largest window was written since all that may be sent
    /// was last to go, it is again (`forced_push`); else a train goes if that buffer is the next to be sent.
    fn push_full_buffer(&mut self, out: &mut Vec<Segment>) {
        if self.buffers.unpushed > self.buffers.window / 2 {
            self.buffers.unpushed = 0;
            self.push(out);
        } else if self.buffers.unsent.len() == 1 {
            self.write_out(Push::Train, out);
        }
    }

    /// One write of the application (`tcp_sendmsg_locked`).
    fn take_write(&mut self, out: &mut Vec<Segment>) {
        self.check_app_limited();
        let mut left = (self.application.end - self.written_end).min(u64::from(self.application.write));
        while left > 0 {
            if self.buffers.is_full() {
                if self.queued() >= u64::from(self.buffers.limit) {
                    self.buffers.is_short = true;
                    break;
                }
                self.restart_after_idle();
            }
            let taken = self.buffers.put(left);
            self.written_end += taken;
            left -= taken;
            if left > 0 {
                self.push_full_buffer(out);
            }
        }
        self.buffers.end_write();
        self.push(out);
        self.arm_window_probe();
    }
}

#[cfg(test)]
mod tests {
    use units::{Duration, Time};

    use super::{Buffer, Buffers};
    use crate::segment::{Flags, Segment};
    use crate::tcp::{HEADERS_IN_VIRTUAL_TIME, Sender, Settings};

    const MSS: u64 = 1448;
    const START: Time = Time(1_000_000_000);
    const RTT: Duration = Duration::from_millis(100);

    fn buffers(segments: &[u64]) -> Buffers {
        let unsent = segments.iter().map(|&segments| Buffer { bytes: (segments * MSS) as u16, ends_write: false });
        Buffers { unsent: unsent.collect(), ..Buffers::default() }
    }

    fn answer(ack: u64, window: u32, now: Time) -> Segment {
        let ts = super::super::timestamp_ms(now.as_nanos() as u64 / 1000);
        Segment { ack, window, ts_val: ts, ts_ecr: ts - 100, is_reply: true, ..Segment::default() }
    }

    /// A connection of a kernel in virtual time, over a path of 100 ms, whose application has this to write.
    fn open(cc: &str, bytes: u64) -> Sender {
        let settings = Settings { max_header: HEADERS_IN_VIRTUAL_TIME, ..Settings::default() };
        let (mut sender, mut out) = (Sender::new(settings, cc::create(cc).unwrap(), 1, false), Vec::new());
        sender.connect(START, &mut out);
        sender.write(bytes, START, &mut out);
        let flags = Flags { syn: true, ..Flags::default() };
        sender.on_segment(&Segment { flags, ..answer(1, 65_535, START + RTT) }, START + RTT, &mut out);
        sender
    }

    fn written(sender: &Sender) -> u64 {
        (sender.written_end - 1) / MSS
    }

    #[test]
    fn a_train_is_filled_up_from_the_next_buffer_alone() {
        let mut buffers = buffers(&[4, 45, 45]);
        assert_eq!([1, 4, 5, 50].map(|wanted| buffers.next(wanted * MSS) / MSS), [4, 4, 5, 49]);
        assert!(!buffers.take(5 * MSS));
        assert_eq!(buffers.next(MSS) / MSS, 44);
        buffers.end_write();
        assert!(!buffers.take(44 * MSS));
        assert_eq!(buffers.unsent.len(), 1);
        assert!(!buffers.take(44 * MSS) && buffers.take(MSS));
    }

    #[test]
    fn a_buffer_holds_half_of_the_largest_window_at_most() {
        let mut buffers = buffers(&[]);
        let windows = [1_000, 4_000, 65_535, 4_000, 1 << 20];
        let largest = windows.map(|window| {
            buffers.offer(window, 45, MSS as u32);
            u64::from(buffers.largest) / MSS
        });
        assert_eq!(largest, [1, 1, 22, 22, 45]);
    }

    /// Ten segments leave, and the first buffer is filled up again. With the second one the memory is full: 46,080 bytes, or 69,120 for
    /// BBR, which takes a third one. So it was in a kernel's record.
    #[test]
    fn an_application_writes_until_the_memory_is_full() {
        assert_eq!(["reno", "bbr"].map(|cc| written(&open(cc, 1 << 30))), [32, 54]);
    }

    #[test]
    fn memory_grows_when_the_window_is_not_full() {
        let (mut sender, mut out, mut acked) = (open("reno", 1 << 30), Vec::new(), 0);
        let mut acknowledge = |sender: &mut Sender| {
            acked += 1;
            let now = START + RTT + RTT + Duration::from_millis(acked);
            sender.on_segment(&answer(1 + acked as u64 * MSS, 1 << 20, now), now, &mut out);
        };
        // The window grows by one with each ACK, and two segments leave as a train, so it is always full.
        while sender.snd_nxt < sender.written_end {
            assert_eq!((written(&sender), sender.buffers.limit), (32, 2 * 10 * 2304));
            acknowledge(&mut sender);
        }
        assert_eq!((sender.sk.snd_cwnd, sender.sk.packets_in_flight(), sender.sk.app_limited), (21, 21, 0));
        acknowledge(&mut sender);
        assert_eq!((sender.sk.snd_cwnd, sender.buffers.limit), (22, 2 * 22 * 2304));
        assert!(written(&sender) > 54 && sender.sk.app_limited > 0, "nothing was left to be sent when it wrote again");
    }

    #[test]
    fn a_train_does_not_wait_for_company_when_an_application_fills_the_first_buffer() {
        let (mut sender, mut out) = (open("reno", 1 << 30), Vec::new());
        sender.sk.snd_ssthresh = 10; // An ACK leaves room for one segment, and trains have two. After a pause one goes all the same.
        for acked in 1..=2 {
            let now = START + RTT + RTT + Duration::from_micros(500 * acked as i64);
            sender.on_segment(&answer(1 + acked * MSS, 1 << 20, now), now, &mut out);
        }
        sender.push(&mut out);
        assert_eq!((sender.sk.snd_cwnd, sender.sk.packets_in_flight()), (10, 9));
        sender.push_full_buffer(&mut out);
        assert_eq!(sender.sk.packets_in_flight(), 10);
    }

    #[test]
    fn an_application_that_pauses_has_written_no_more_than_its_share() {
        let mut sender = open("bbr", 0);
        sender.write_ahead(16 << 10, 32 << 10);
        let mut out = Vec::new();
        sender.write(1 << 30, START + RTT, &mut out);
        // Ten segments leave of the first 16 KiB; 1,904 bytes wait, so it writes again, and then 18,288 bytes wait.
        assert_eq!((sender.snd_nxt - 1, sender.written_end - 1), (10 * MSS, 32 << 10));
        sender.pause();
        let now = START + RTT + RTT;
        for acked in 1..=10 {
            sender.on_segment(&answer(1 + acked * MSS, 1 << 20, now), now, &mut out);
        }
        assert_eq!((sender.written_end - 1, sender.said_bytes()), (32 << 10, 32 << 10));
    }
}
