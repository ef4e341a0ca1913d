//! The receive window (RFC 9293 section 3.8.6), which grows ahead of the sender's.

use crate::memory;
use crate::tcp::Settings;

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The share of the buffer that is offered as a window, of 256.
    offered: u32,
    /// Data of a full segment, and the memory that it takes while it waits, bytes.
    data: u32,
    memory: u32,
    /// No more is offered than this: it begins smaller, since nobody knows yet how much memory frames take.
    threshold: u64,
    /// The buffer, bytes of memory.
    buffer: u64,
    /// The right edge that was offered: it never goes back.
    edge: u64,
}

/// The size of the peer's segments that Linux assumes before one has come (RFC 9293 section 3.7.1), bytes.
const ASSUMED_MSS: u32 = 536;

impl Window {
    pub(super) fn new(settings: &Settings) -> Window {
        let memory = memory::of_frame(settings.mtu.frame_bytes());
        let (buffer, data) = (u64::from(settings.receive_buffer), settings.mss());
        // The share that data have of a frame's memory, which Linux learns from the first segment that is longer than it
        // assumed (`scaling_ratio`).
        let offered = if data > ASSUMED_MSS { data * 256 / memory } else { settings.offered_at_first };
        // Less a segment, which is kept back.
        let threshold = (buffer * u64::from(settings.offered_at_first) / 256).saturating_sub(u64::from(data));
        Window { offered, data, memory, threshold, buffer, edge: 0 }
    }

    /// Payload of a full segment, bytes.
    #[inline]
    pub(super) fn mss(&self) -> u32 {
        self.data
    }

    /// Returns true if the window is as large as the buffer may ever become.
    #[inline]
    pub(super) fn is_grown(&self, settings: &Settings) -> bool {
        self.buffer >= u64::from(settings.receive_buffer_max) && self.threshold >= self.share(self.buffer)
    }

    /// Data came: two segments more may come for each, as far as there is room beside the `held` bytes. `true`: the window has grown.
    pub(super) fn grow(&mut self, len: u32, held: u64, settings: &Settings) -> bool {
        let largest = u64::from(settings.receive_buffer_max);
        let beside = |held: u64| self.share(self.buffer.saturating_sub(self.memory_of(held)));
        if self.threshold >= beside(held.min(u64::from(len))) && self.buffer < largest {
            // Autotuning (dynamic right-sizing) keeps ahead of a sender that doubles its window each round.
            let more = 4 * u64::from(len) * 256 / u64::from(self.offered);
            self.buffer = (self.buffer + more).min(largest);
        }
        let most = self.share(self.buffer.saturating_sub(self.memory_of(held)));
        let grown = (self.threshold + 2 * u64::from(len.min(self.data))).min(most);
        let grows = grown > self.threshold;
        self.threshold = self.threshold.max(grown);
        grows
    }

    /// The window to offer, with `next` expected and `held` bytes behind a hole.
    pub(super) fn advertise(&mut self, next: u64, held: u64) -> u32 {
        self.edge = self.edge.max(next + self.room(held));
        (self.edge - next).min(u64::from(u32::MAX)) as u32
    }

    /// The window beside `held` bytes that were received, if there was none before.
    pub(super) fn room(&self, held: u64) -> u64 {
        self.threshold.min(self.share(self.buffer.saturating_sub(self.memory_of(held))))
    }

    /// The memory that data take while they wait, bytes.
    fn memory_of(&self, held: u64) -> u64 {
        // Nearly always nothing waits, and a division costs more than all else here.
        if held == 0 { 0 } else { held * u64::from(self.memory) / u64::from(self.data) }
    }

    /// The window that was offered when `next` was expected.
    pub(super) fn offered_from(&self, next: u64) -> u64 {
        self.edge - next
    }

    fn share(&self, memory: u64) -> u64 {
        memory * u64::from(self.offered) / 256
    }
}

#[cfg(test)]
mod tests {
    use units::Mtu;

    use super::*;

    /// `ss` shows this for a kernel's `rcv_ssthresh` and `snd_wnd` on an emulated path with this buffer.
    #[test]
    fn it_grows_from_half_of_the_buffer_to_the_share_that_data_have_of_memory() {
        let settings = Settings { receive_buffer: 1 << 23, receive_buffer_max: 1 << 23, ..Settings::default() };
        let mut window = Window::new(&settings);
        assert_eq!(window.advertise(1, 0), 4_192_856);
        let grown = (1..).take_while(|_| window.grow(1448, 0, &settings)).count();
        assert_eq!(grown, 363, "each is acknowledged as long as the window grows");
        assert_eq!(window.advertise(1, 0), 5_242_880);
    }

    /// The window that `TCP_INFO` of a kernel showed on emulated paths: `rcv_ssthresh` at last, of a buffer of 32 MiB.
    #[test]
    fn the_share_of_data_follows_from_the_memory_of_a_frame() {
        let window = |mtu| Window::new(&Settings { mtu: Mtu::try_from(mtu).unwrap(), ..Settings::default() });
        let shares = [576, 1500, 1699, 4065, 4066, 5000, 8200, 9000].map(|mtu| window(mtu).offered);
        assert_eq!(shares, [128, 160, 96, 121, 208, 140, 158, 174]);
    }

    #[test]
    fn what_waits_behind_a_hole_takes_room_but_the_edge_never_goes_back() {
        let settings = Settings { receive_buffer: 1 << 20, receive_buffer_max: 1 << 20, ..Settings::default() };
        let mut window = Window::new(&settings);
        while window.grow(1448, 0, &settings) {}
        assert_eq!(window.advertise(1, 0), 655_360);
        assert_eq!(window.advertise(100_001, 100 * 1448), 555_360);
        assert_eq!(window.advertise(300_001, 100 * 1448), ((1 << 20) - 100 * 2304) * 160 / 256);
    }
}
