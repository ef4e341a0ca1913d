use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Words that one thread publishes and others read, without a lock: the writer never waits, and a reader never sees a mix
/// of two publications (a sequence lock).
///
/// Each gauge has separate cache lines, so that gauges don't slow each other down.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Gauge<const WORDS: usize> {
    /// Odd while the words change; 0 before anything was published.
    version: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// The number of attempts of a reader: a publication takes nanoseconds, unless its writer is taken off the CPU in
/// mid-way.
const TRIES: usize = 64;

impl<const WORDS: usize> Gauge<WORDS> {
    /// Publish. Only one thread may call this.
    pub fn publish(&self, words: [u64; WORDS]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (to, word) in self.words.iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// The last publication; `None` if there was none, or if the writer is in mid-way for longer than a reader waits.
    pub fn read(&self) -> Option<[u64; WORDS]> {
        for _ in 0..TRIES {
            let before = self.version.load(Ordering::Acquire);
            if before == 0 {
                return None;
            }
            let words = std::array::from_fn(|i| self.words[i].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                return Some(words);
            }
            std::hint::spin_loop();
        }
        None
    }
}

/// Gauges in memory that a process shares with those that it forks.
pub struct Gauges<const WORDS: usize> {
    memory: NonNull<Gauge<WORDS>>,
    count: usize,
}

// SAFETY: the memory belongs to this alone, and all access to it is atomic.
unsafe impl<const WORDS: usize> Send for Gauges<WORDS> {}
// SAFETY: as above.
unsafe impl<const WORDS: usize> Sync for Gauges<WORDS> {}

impl<const WORDS: usize> Gauges<WORDS> {
    /// `count` gauges with nothing published.
    pub fn new(count: usize) -> std::io::Result<Gauges<WORDS>> {
        // SAFETY: a new mapping.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::bytes(count),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Gauges { memory: NonNull::new(memory.cast()).expect("mmap returns no null"), count })
    }

    fn bytes(count: usize) -> usize {
        (count * size_of::<Gauge<WORDS>>()).max(1)
    }
}

impl<const WORDS: usize> Deref for Gauges<WORDS> {
    type Target = [Gauge<WORDS>];

    fn deref(&self) -> &[Gauge<WORDS>] {
        // SAFETY: as many as were mapped, page-aligned; all bits zero is a valid gauge.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.count) }
    }
}

impl<const WORDS: usize> Drop for Gauges<WORDS> {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), Self::bytes(self.count)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_before_something_is_published() {
        let gauges = Gauges::<2>::new(2).unwrap();
        assert_eq!(gauges[1].read(), None);
        gauges[1].publish([0, 7]);
        assert_eq!((gauges[0].read(), gauges[1].read()), (None, Some([0, 7])));
    }

    #[test]
    fn a_reader_never_sees_a_mix() {
        let gauges = Gauges::<4>::new(1).unwrap();
        gauges[0].publish([0; 4]);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut last = 0;
                while last < 100_000 {
                    if let Some(words) = gauges[0].read() {
                        assert!(
                            words.iter().all(|&word| word == words[0]) && words[0] >= last,
                            "{words:?} after {last}"
                        );
                        last = words[0];
                    }
                }
            });
            for n in 1..=100_000 {
                gauges[0].publish([n; 4]);
            }
            reader.join().unwrap();
        });
    }

    #[test]
    fn a_forked_process_publishes_into_the_same_memory() {
        let gauges = Gauges::<1>::new(1).unwrap();
        // SAFETY: the child makes no allocation and calls only async-signal-safe functions.
        match unsafe { nix::unistd::fork() }.unwrap() {
            nix::unistd::ForkResult::Child => {
                gauges[0].publish([42]);
                // SAFETY: ends the process.
                unsafe { libc::_exit(0) }
            }
            nix::unistd::ForkResult::Parent { child } => {
                nix::sys::wait::waitpid(child, None).unwrap();
                assert_eq!(gauges[0].read(), Some([42]));
            }
        }
    }
}
