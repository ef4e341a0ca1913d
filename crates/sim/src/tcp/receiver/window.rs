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
/// Data and memory of a full frame: no more of a buffer can be data.
const DATA: u64 = 1448;
const MEMORY: u64 = 2304;

impl Window {
    pub(super) fn new(settings: &Settings) -> Window {
        let buffer = settings.receive_buffer;
        Window { threshold: INITIAL.min(share(buffer)), buffer, edge: 0 }
    }

    /// In-order data came: two segments more may come for each.
    pub(super) fn grow(&mut self, len: u32, settings: &Settings) {
        let most = share(self.buffer);
        if self.threshold < most {
            self.threshold = (self.threshold + 2 * u64::from(len.min(settings.mss))).min(most);
        } else if self.buffer < settings.receive_buffer_max {
            // Autotuning (dynamic right-sizing) keeps ahead of a sender that doubles its window each round.
            self.buffer = (self.buffer + 4 * u64::from(len)).min(settings.receive_buffer_max);
        }
    }

    /// What to offer, with `next` expected and `held` bytes behind a hole.
    pub(super) fn advertise(&mut self, next: u64, held: u64) -> u32 {
        let free = share(self.buffer.saturating_sub(held * MEMORY / DATA));
        self.edge = self.edge.max(next + self.threshold.min(free));
        (self.edge - next).min(u64::from(u32::MAX)) as u32
    }
}

fn share(memory: u64) -> u64 {
    memory * DATA / MEMORY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_small_grows_with_what_comes_and_never_goes_back() {
        let settings = Settings { receive_buffer: 1 << 20, receive_buffer_max: 1 << 20, ..Settings::default() };
        let mut window = Window::new(&settings);
        assert_eq!(window.advertise(1, 0), 65_535);
        window.grow(1448, &settings);
        assert_eq!(window.advertise(1449, 0), 65_535 + 2 * 1448);
        assert_eq!(window.advertise(1449, 1 << 20), 65_535 + 2 * 1448);
        assert_eq!(window.advertise(1449 + 60_000, 1 << 20), 65_535 + 2 * 1448 - 60_000);
    }
}
