//! Whose turn it is: two words in memory, on which both threads wait (futex(2)).

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// 1 while the CPU's thread executes instructions that may not be counted yet.
static CPU_RUNS: AtomicU32 = AtomicU32::new(0);
/// 1 while the main loop waits for the CPU's thread.
static MAIN_WAITS: AtomicU32 = AtomicU32::new(0);

/// 1 from a panic of the guest on, until the CPU's thread has waited for the main loop.
static PANICKED: AtomicU32 = AtomicU32::new(0);
/// How often the main loop has had the big lock, modulo 2^32.
static MAIN_TURNS: AtomicU32 = AtomicU32::new(0);

/// The CPU's thread goes on.
pub fn cpu_runs() {
    CPU_RUNS.store(1, SeqCst);
}

/// The CPU's thread is about to sleep, and all is counted.
pub fn cpu_sleeps() {
    set(&CPU_RUNS, 0);
}

/// The CPU's thread, which has the big lock, tells of a panic of the guest.
pub fn cpu_has_panicked() {
    PANICKED.store(1, SeqCst);
}

/// The CPU's thread is about to take the big lock, and all is counted: if the main loop waits for this, or has to pause the
/// machine, it comes first.
pub fn cpu_asks() {
    if PANICKED.swap(0, SeqCst) == 1 {
        // The main loop has not had the lock since the panic: the CPU's thread ran.
        let turns = MAIN_TURNS.load(SeqCst);
        cpu_sleeps();
        wait_while(&MAIN_TURNS, turns);
    } else if MAIN_WAITS.load(SeqCst) == 1 {
        cpu_sleeps();
        wait_while(&MAIN_WAITS, 1);
    }
    CPU_RUNS.store(0, SeqCst);
}

/// Whether the main loop, which has just got the big lock, must give it back and call [`main_waits`]. The caller has the lock.
pub fn main_must_wait() -> bool {
    let must = CPU_RUNS.load(SeqCst) == 1;
    if must {
        MAIN_WAITS.store(1, SeqCst);
    }
    must
}

/// Returns when the CPU's thread sleeps, or lets the main loop pass.
pub fn main_waits() {
    wait_while(&CPU_RUNS, 1);
}

/// The main loop has the big lock, and keeps it.
pub fn main_has_it() {
    if MAIN_WAITS.load(SeqCst) == 1 {
        set(&MAIN_WAITS, 0);
    }
    set(&MAIN_TURNS, MAIN_TURNS.load(SeqCst).wrapping_add(1));
}

fn set(word: &AtomicU32, value: u32) {
    word.store(value, SeqCst);
    futex(word, libc::FUTEX_WAKE, i32::MAX as u32);
}

fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(SeqCst) == value {
        futex(word, libc::FUTEX_WAIT, value);
    }
}

fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    let none = ptr::null::<libc::timespec>();
    // SAFETY: the word is valid, and there is no limit of time. A wait that ends early is looked at by its caller.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation | libc::FUTEX_PRIVATE_FLAG, value, none) };
}
