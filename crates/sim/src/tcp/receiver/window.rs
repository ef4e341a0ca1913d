//! The receive window (RFC 9293 section 3.8.6), which grows ahead of the sender's.

use crate::tcp::Settings;

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// No more is offered than this: it begins smaller, since nobody knows yet how much memory frames take.
    threshold: u64,
    /// The buffer, bytes of memory.
    buffer: u64,
    /// The right edge that was offered: it never goes back.
    edge: u64,
}

/// Memory that a full segment takes while it waits, and its data, bytes.
const MEMORY: u64 = 2304;
const DATA: u64 = 1448;
/// How much of a buffer is offered as a window, of 256: the share that data have of a frame's memory, which Linux learns
/// from the first frame (`scaling_ratio`).
const OFFERED: u64 = DATA * 256 / MEMORY;

impl Window {
    pub(super) fn new(settings: &Settings) -> Window {
        let buffer = settings.receive_buffer;
        // Less a segment, which is kept back.
        let threshold = (buffer * settings.offered_at_first / 256).saturating_sub(u64::from(settings.mss));
        Window { threshold, buffer, edge: 0 }
    }

    /// In-order data came: two segments more may come for each. `true`: the window has grown.
    pub(super) fn grow(&mut self, len: u32, settings: &Settings) -> bool {
        if self.threshold >= share(self.buffer) && self.buffer < settings.receive_buffer_max {
            // Autotuning (dynamic right-sizing) keeps ahead of a sender that doubles its window each round.
            let more = 4 * u64::from(len) * 256 / OFFERED;
            self.buffer = (self.buffer + more).min(settings.receive_buffer_max);
        }
        let most = share(self.buffer);
        let grown = (self.threshold + 2 * u64::from(len.min(settings.mss))).min(most);
        let grows = grown > self.threshold;
        self.threshold = self.threshold.max(grown);
        grows
    }

    /// The window to offer, with `next` expected and `held` bytes behind a hole.
    pub(super) fn advertise(&mut self, next: u64, held: u64) -> u32 {
        let free = share(self.buffer.saturating_sub(held * MEMORY / DATA));
        self.edge = self.edge.max(next + self.threshold.min(free));
        (self.edge - next).min(u64::from(u32::MAX)) as u32
    }
}

fn share(memory: u64) -> u64 {
    memory * OFFERED / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ss` shows this for a kernel's `rcv_ssthresh` and `snd_wnd` on an emulated path with this buffer.
    #[test]
    fn it_grows_from_half_of_the_buffer_to_the_share_that_data_have_of_memory() {
        let settings = Settings { receive_buffer: 1 << 23, receive_buffer_max: 1 << 23, ..Settings::default() };
        let mut window = Window::new(&settings);
        assert_eq!(window.advertise(1, 0), 4_192_856);
        let grown = (1..).take_while(|_| window.grow(1448, &settings)).count();
        assert_eq!(grown, 363, "each is acknowledged as long as the window grows");
        assert_eq!(window.advertise(1, 0), 5_242_880);
    }

    #[test]
    fn what_waits_behind_a_hole_takes_room_but_the_edge_never_goes_back() {
        let settings = Settings { receive_buffer: 1 << 20, receive_buffer_max: 1 << 20, ..Settings::default() };
        let mut window = Window::new(&settings);
        while window.grow(1448, &settings) {}
        assert_eq!(window.advertise(1, 0), 655_360);
        assert_eq!(window.advertise(100_001, 100 * DATA), 555_360);
        assert_eq!(window.advertise(300_001, 100 * DATA), ((1 << 20) - 100 * 2304) * 160 / 256);
    }
}
