//! Lets QEMU's threads take turns, so that a virtual machine's clock is the same in each run. QEMU loads it by
//! `LD_PRELOAD`.
//!
//! With `-icount shift=0,sleep=off` two threads move the clock. The thread of the virtual CPU counts the instructions that
//! were executed, and while the CPU waits for an interrupt, the main loop's thread lets the clock jump to the next timer. The
//! CPU says that it waits before its last instructions are counted. If the main loop takes QEMU's big lock between these two,
//! the clock jumps from a moment that is too early, and the guest goes on with other times than in the run before.
//!
//! So the main loop gets the big lock only while the CPU's thread sleeps or asks for the lock itself: then all instructions
//! are counted.
//!
//! A machine that a panic of the guest pauses, which is how ours say that they are done, has the same choice once more: the
//! clock jumps if the CPU sleeps before the main loop pauses the machine. So the CPU's thread waits for the main loop when
//! it has told of a panic.
//!
//! The functions of the C library through which QEMU sleeps, locks and tells are replaced for that. All other threads,
//! locks and messages are as they were. Three functions more keep the memory of a snapshot as it is (`memory`). No panic
//! leads into QEMU: one in a function of `extern "C"` ends the process.

mod memory;
mod real;
mod turns;

use libc::{c_int, msghdr, pthread_cond_t, pthread_mutex_t};
use std::cell::Cell;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

/// Part of the name of the CPU's thread under `-name NAME,debug-threads=on`: `CPU 0/TCG` or `ALL CPUs/TCG`.
const CPU: &[u8] = b"/TCG";
/// The monitor's event of a panic of the guest. The CPU's thread sends it while it has the big lock.
const PANIC: &[u8] = b"GUEST_PANICKED";
/// QEMU's big lock: that with which the CPU's thread sleeps.
static BIG_LOCK: AtomicPtr<pthread_mutex_t> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    static IS_CPU: Cell<bool> = const { Cell::new(false) };
}

/// Waits as the C library does. Where the CPU's thread sleeps, the main loop may have the big lock.
///
/// # Safety
///
/// As the C library's: see pthread_cond_wait(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t) -> c_int {
    // SAFETY: what the caller promises.
    let wait = || unsafe { real::cond_wait()(condition, lock) };
    if !IS_CPU.get() && !is_named_cpu() {
        return wait();
    }
    IS_CPU.set(true);
    BIG_LOCK.store(lock, SeqCst);
    turns::cpu_sleeps();
    let error = wait();
    turns::cpu_runs();
    error
}

/// Locks as the C library does. The main loop gets the big lock only when all of the CPU's instructions are counted.
///
/// # Safety
///
/// As the C library's: see pthread_mutex_lock(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(lock: *mut pthread_mutex_t) -> c_int {
    // SAFETY: what the caller promises.
    let take = || unsafe { real::mutex_lock()(lock) };
    if lock.is_null() || lock != BIG_LOCK.load(SeqCst) {
        return take();
    }
    if IS_CPU.get() {
        turns::cpu_asks();
        let error = take();
        turns::cpu_runs();
        return error;
    }
    let mut error = take();
    // SAFETY: both only read.
    if error == 0 && unsafe { libc::getpid() == libc::gettid() } {
        while turns::main_must_wait() {
            // SAFETY: this thread has it.
            unsafe { libc::pthread_mutex_unlock(lock) };
            turns::main_waits();
            error = take();
        }
        turns::main_has_it();
    }
    error
}

/// Sends as the C library does. A CPU that tells of a panic lets the main loop come next.
///
/// # Safety
///
/// As the C library's: see sendmsg(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> isize {
    // SAFETY: the caller promises a valid message.
    if IS_CPU.get() && unsafe { tells_of_a_panic(&*message) } {
        turns::cpu_has_panicked();
    }
    // SAFETY: what the caller promises.
    unsafe { real::sendmsg()(socket, message, flags) }
}

/// # Safety
///
/// The message's buffers are valid.
unsafe fn tells_of_a_panic(message: &msghdr) -> bool {
    // SAFETY: the caller promises it.
    let buffers = unsafe { slice_of(message.msg_iov, message.msg_iovlen) };
    buffers.iter().any(|buffer| {
        // SAFETY: the caller promises it.
        let text = unsafe { slice_of(buffer.iov_base.cast::<u8>(), buffer.iov_len) };
        has(text, PANIC)
    })
}

/// C's arrays may be null if they are empty, and Rust's slices may not.
///
/// # Safety
///
/// There are `length` values from `start` on, for as long as the slice is used.
unsafe fn slice_of<'a, T>(start: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts(start, length) }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|there| there == part)
}

fn is_named_cpu() -> bool {
    let mut name = [0_u8; 16];
    // SAFETY: PR_GET_NAME writes 16 bytes (prctl(2)).
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    has(&name, CPU)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn an_empty_array_of_c_may_be_null() {
        // SAFETY: no value is promised.
        let none: &[libc::iovec] = unsafe { slice_of(black_box(ptr::null()), black_box(0)) };
        assert!(none.is_empty() && !black_box(none.as_ptr()).is_null());
    }

    #[test]
    fn a_message_may_have_no_buffers() {
        let telling = |buffers: &mut [libc::iovec]| {
            // SAFETY: all-zero is a valid message, of no buffers at a null pointer.
            let mut message: msghdr = unsafe { std::mem::zeroed() };
            if !buffers.is_empty() {
                (message.msg_iov, message.msg_iovlen) = (buffers.as_mut_ptr(), buffers.len() as _);
            }
            // SAFETY: the buffers are valid.
            unsafe { tells_of_a_panic(&message) }
        };
        let none = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        let event = b"{\"event\": \"GUEST_PANICKED\"}";
        let event = libc::iovec { iov_base: event.as_ptr().cast_mut().cast(), iov_len: event.len() };
        assert_eq!([telling(&mut []), telling(&mut [none]), telling(&mut [none, event])], [false, false, true]);
    }
}
