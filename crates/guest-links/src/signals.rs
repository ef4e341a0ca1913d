use std::mem::MaybeUninit;

/// Does `work` with all signals blocked: threads that it starts never take one. Signals are the kernel's interrupts, and its
/// handlers expect its own thread.
pub fn blocked<T>(work: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are valid to write to, and are written before they are read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let done = work();
    // SAFETY: the mask of before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    done
}
