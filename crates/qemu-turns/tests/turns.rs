//! A program with the threads and the lock of QEMU, which loads the library into itself.

use std::cell::UnsafeCell;
use std::env;
use std::io::Read;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const ROUNDS: u32 = 2_000;
/// The round behind the last one.
const DONE: u32 = u32::MAX;

/// State that QEMU's threads share.
struct Machine {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    woken: UnsafeCell<libc::pthread_cond_t>,
    /// True while the CPU executes.
    runs: AtomicBool,
    /// Rounds that the CPU has begun.
    round: AtomicU32,
}

// SAFETY: the C library's functions take both from any thread.
unsafe impl Sync for Machine {}

impl Machine {
    fn take(&self) {
        // SAFETY: the lock is valid.
        assert_eq!(unsafe { libc::pthread_mutex_lock(self.lock.get()) }, 0);
    }

    fn give(&self) {
        // SAFETY: this thread has it.
        assert_eq!(unsafe { libc::pthread_mutex_unlock(self.lock.get()) }, 0);
    }

    /// Sleeps, as long as it is this round. The caller has the lock.
    fn sleep_while(&self, round: u32) {
        while self.round.load(SeqCst) == round {
            // SAFETY: this thread has the lock.
            assert_eq!(unsafe { libc::pthread_cond_wait(self.woken.get(), self.lock.get()) }, 0);
        }
    }

    /// The CPU's thread: sleeps once, then executes without the lock, and takes it between two slices.
    fn cpu(&self) {
        self.take();
        self.sleep_while(0);
        for _ in 0..ROUNDS {
            self.runs.store(true, SeqCst);
            self.give();
            thread::sleep(Duration::from_micros(20));
            self.runs.store(false, SeqCst);
            self.take();
        }
        // QEMU's sleeps at its end, too: one that is gone would never ask again.
        self.round.store(DONE, SeqCst);
        self.sleep_while(DONE);
        self.give();
    }

    fn wake(&self, round: u32) {
        self.take();
        self.round.store(round, SeqCst);
        // SAFETY: it is valid.
        assert_eq!(unsafe { libc::pthread_cond_signal(self.woken.get()) }, 0);
        self.give();
    }
}

fn machine(work: impl FnOnce(&Machine) + Send + 'static) -> (Arc<Machine>, JoinHandle<()>) {
    let machine = Arc::new(Machine {
        lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
        woken: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
        runs: AtomicBool::new(false),
        round: AtomicU32::new(0),
    });
    let theirs = Arc::clone(&machine);
    let cpu = thread::Builder::new().name("ALL CPUs/TCG".into()).spawn(move || work(&theirs)).unwrap();
    thread::sleep(Duration::from_millis(50));
    machine.wake(1);
    (machine, cpu)
}

/// How often the main loop had the lock, and how often the CPU executed then.
fn measure() -> (u32, u32) {
    let (machine, cpu) = machine(Machine::cpu);
    let (mut had, mut beside) = (0, 0);
    while machine.round.load(SeqCst) != DONE {
        machine.take();
        had += 1;
        beside += u32::from(machine.runs.load(SeqCst));
        machine.give();
    }
    machine.wake(0);
    cpu.join().unwrap();
    (had, beside)
}

/// Whether a CPU that has told of a panic gets the lock before the main loop had it.
fn overtakes() -> bool {
    let (mut monitor, mut theirs) = UnixStream::pair().unwrap();
    let (machine, cpu) = machine(move |machine| {
        machine.take();
        machine.sleep_while(0);
        tell(&mut theirs, b"{\"event\": \"GUEST_PANICKED\"}");
        machine.give();
        machine.take();
        // Where the main loop was before, this changes nothing.
        let _ = machine.round.compare_exchange(1, DONE, SeqCst, SeqCst);
        machine.give();
    });
    let mut told = [0; 27];
    monitor.read_exact(&mut told).unwrap();
    thread::sleep(Duration::from_millis(50));
    machine.take();
    let _ = machine.round.compare_exchange(1, 2, SeqCst, SeqCst);
    machine.give();
    cpu.join().unwrap();
    machine.round.load(SeqCst) == DONE
}

/// Sends as QEMU's monitor does.
fn tell(socket: &mut UnixStream, text: &[u8]) {
    let mut buffer = libc::iovec { iov_base: text.as_ptr().cast_mut().cast(), iov_len: text.len() };
    // SAFETY: a message of zeros is an empty one.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut buffer, 1);
    // SAFETY: the message and its buffer are valid.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, 0) };
    assert_eq!(sent, text.len() as isize);
}

fn main() {
    // Threads that wait for each other would wait for ever.
    // SAFETY: it only sets a timer.
    unsafe { libc::alarm(60) };
    if env::var_os("LD_PRELOAD").is_some() {
        let (had, beside) = measure();
        assert!(had > 100, "the main loop had the lock {had} times only");
        assert_eq!(beside, 0, "{beside} of {had} times the CPU was executing");
        assert!(!overtakes(), "the CPU went on behind a panic");
        return;
    }
    // Without the library it is otherwise: the program can tell.
    let (had, beside) = measure();
    assert!(beside > 0, "in none of {had} turns the CPU was executing");
    assert!(overtakes());
    let own = env::current_exe().unwrap();
    let library = own.ancestors().find_map(|folder| {
        let there = folder.join("libqemu_turns.so");
        there.exists().then_some(there)
    });
    let status = Command::new(&own).env("LD_PRELOAD", library.expect("the library is built")).status().unwrap();
    assert!(status.success());
    println!("turns: ok");
}
