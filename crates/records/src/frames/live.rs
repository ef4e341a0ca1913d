//! Packets of links on their way into a pipe, as links are done with them.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use capture::writer::Writer;

/// Bytes that may wait for the reader of the pipe.
const MOST: usize = 4 << 20;
/// Time between writes: a list that a person reads is as good with a delay of this length.
const EVERY: Duration = Duration::from_millis(50);

/// Hands packets to a thread, which writes them to a pipe. Nobody waits for the pipe's reader: packets are left out if it is slow.
pub(super) struct Live {
    shared: Arc<Mutex<Shared>>,
    thread: JoinHandle<Result<()>>,
    /// Packets that were taken.
    packets: u64,
    /// Packets that were left out, and how many of them the pipe's reader knows.
    dropped: u64,
    told: u64,
}

#[derive(Default)]
struct Shared {
    bytes: Vec<u8>,
    is_over: bool,
}

impl Live {
    /// Begin with `head` at the pipe `path`, whose other end is open.
    pub(super) fn create(path: &Path, head: Vec<u8>) -> Result<Live> {
        let pipe = File::options().write(true).custom_flags(libc::O_NONBLOCK).open(path);
        let pipe = pipe.with_context(|| format!("opening {}", path.display()))?;
        let shared = Arc::new(Mutex::new(Shared { bytes: head, is_over: false }));
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new().name("db-capture".into()).spawn(move || write(&of_thread, pipe))?;
        Ok(Live { shared, thread, packets: 0, dropped: 0, told: 0 })
    }

    /// Pass on the last packet of `writer`, or leave it out. `time_ns` is its time.
    pub(super) fn push(&mut self, writer: &mut Writer<Vec<u8>>, time_ns: i64) {
        // The thread holds the lock for some nanoseconds; what it keeps from being passed on now follows with the next packet.
        let shared = match self.shared.try_lock() {
            Ok(shared) => Some(shared),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let waiting = shared.as_ref().map_or(0, |shared| shared.bytes.len());
        if waiting + writer.get_mut().len() > MOST {
            writer.get_mut().clear();
            self.dropped += 1;
            return;
        }
        self.packets += 1;
        let Some(mut shared) = shared else { return };
        if self.dropped > self.told {
            writer.statistics(0, time_ns, self.packets + self.dropped, self.dropped).expect("memory takes it");
            self.told = self.dropped;
        }
        shared.bytes.append(writer.get_mut());
    }

    /// End, and return the number of packets. What the pipe has no room for now is lost.
    pub(super) fn finish(self, mut rest: Vec<u8>) -> Result<u64> {
        {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.bytes.append(&mut rest);
            shared.is_over = true;
        }
        self.thread.thread().unpark();
        self.thread.join().map_err(|_| anyhow!("the thread that writes the pipe panicked"))??;
        Ok(self.packets)
    }
}

fn write(shared: &Mutex<Shared>, mut pipe: File) -> Result<()> {
    // A list is less urgent than packets, whatever priority the creating thread has.
    // SAFETY: plain system calls on the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, 19) };
    let mut bytes = Vec::new();
    let mut written = 0;
    loop {
        let mut is_over = false;
        if written == bytes.len() {
            bytes.clear();
            written = 0;
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut bytes, &mut shared.bytes);
            is_over = shared.is_over;
        }
        while written < bytes.len() {
            match pipe.write(&bytes[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // The reader has gone, and with it whoever wants the packets.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(error).context("writing captured frames into a pipe"),
            }
        }
        let ends = is_over || shared.lock().unwrap_or_else(PoisonError::into_inner).is_over;
        if ends && (is_over || written < bytes.len()) {
            return Ok(());
        }
        if !ends {
            std::thread::park_timeout(EVERY);
        }
    }
}
