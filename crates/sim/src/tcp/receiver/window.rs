//! The receive window (RFC 9293 section 3.8.6), which grows ahead of the sender's.

use crate::tcp::Settings;

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// No more is offered than this: it begins small, so that a burst doesn't fill the buffer.
    threshold: u64,
    /// The buffer, bytes of memory.
    buffer: u64,
    /// The right edge that was offered: it never goes back.
    edge: u64,
}

/// What is offered at first: the largest window without scaling.
const INITIAL: u64 = 65_535;
/// Memory that a full segment takes while it waits, and its data, bytes.
const MEMORY: u64 = 2304;
const DATA: u64 = 1448;
/// How much of a buffer is offered as a window, of 256. Linux derives it from the memory that frames took
/// (`scaling_ratio`); on emulated paths it comes out at this.
const OFFERED: u64 = 35;
/// ... and before any came (`TCP_DEFAULT_SCALING_RATIO`).
const OFFERED_AT_FIRST: u64 = 65;

impl Window {
    pub(super) fn new(settings: &Settings) -> Window {
        let buffer = settings.receive_buffer;
        Window { threshold: INITIAL.min(buffer * OFFERED_AT_FIRST / 256), buffer, edge: 0 }
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

    /// What to offer, with `next` expected and `held` bytes behind a hole.
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

    #[test]
    fn it_begins_small_grows_with_what_comes_and_never_goes_back() {
        let settings = Settings { receive_buffer: 1 << 20, receive_buffer_max: 1 << 20, ..Settings::default() };
        let mut window = Window::new(&settings);
        assert_eq!(window.advertise(1, 0), 65_535);
        assert!(window.grow(1448, &settings));
        assert_eq!(window.advertise(1449, 0), 65_535 + 2 * 1448);
        assert_eq!(window.advertise(1449, 1 << 20), 65_535 + 2 * 1448);
        assert_eq!(window.advertise(1449 + 60_000, 1 << 20), 65_535 + 2 * 1448 - 60_000);
    }
}
