use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Keeps threads from running so far ahead of a slow run that the results behind it pile up.
#[derive(Debug)]
pub(super) struct Gate {
    /// All runs before this place are on disk.
    floor: Mutex<usize>,
    raised: Condvar,
    ahead: usize,
}

impl Gate {
    pub(super) fn new(ahead: usize) -> Gate {
        Gate { floor: Mutex::new(0), raised: Condvar::new(), ahead }
    }

    /// Wait until `place` is less than `ahead` above the floor, or `stop` is set.
    pub(super) fn wait(&self, place: usize, stop: &AtomicBool) {
        let mut floor = self.floor.lock().expect("no thread panics with the lock held");
        while place >= *floor + self.ahead && !stop.load(Ordering::Relaxed) {
            let waited = self.raised.wait_timeout(floor, Duration::from_millis(100));
            floor = waited.expect("no thread panics with the lock held").0;
        }
    }

    pub(super) fn raise(&self, floor: usize) {
        *self.floor.lock().expect("no thread panics with the lock held") = floor;
        self.raised.notify_all();
    }
}
