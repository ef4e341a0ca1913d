//! The functions of the C library that ours replace.

use libc::{c_char, c_int, c_uint, c_void, msghdr, pthread_cond_t, pthread_mutex_t};
use std::ffi::CStr;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

type CondWait = unsafe extern "C" fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int;
type MutexLock = unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int;
type Open = unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int;
type SendMsg = unsafe extern "C" fn(c_int, *const msghdr, c_int) -> isize;

static COND_WAIT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static MUTEX_LOCK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static OPEN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static SENDMSG: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// pthread_cond_wait(3).
pub fn cond_wait() -> CondWait {
    // On x86-64, glibc has an older one of the same name, which dlsym(3) would find.
    let version = cfg!(target_arch = "x86_64").then_some(c"GLIBC_2.3.2");
    // SAFETY: it is a function of this type.
    unsafe { mem::transmute::<*mut c_void, CondWait>(next_function(&COND_WAIT, c"pthread_cond_wait", version)) }
}

/// pthread_mutex_lock(3).
pub fn mutex_lock() -> MutexLock {
    // SAFETY: it is a function of this type.
    unsafe { mem::transmute::<*mut c_void, MutexLock>(next_function(&MUTEX_LOCK, c"pthread_mutex_lock", None)) }
}

/// open(2).
pub fn open() -> Open {
    // SAFETY: it is a function of this type: its last argument is there or not, and lies in the same place.
    unsafe { mem::transmute::<*mut c_void, Open>(next_function(&OPEN, c"open64", None)) }
}

/// sendmsg(2).
pub fn sendmsg() -> SendMsg {
    // SAFETY: it is a function of this type.
    unsafe { mem::transmute::<*mut c_void, SendMsg>(next_function(&SENDMSG, c"sendmsg", None)) }
}

/// The next function of this name behind ours, looked up once. A program that has none ends here.
fn next_function(place: &AtomicPtr<c_void>, name: &CStr, version: Option<&CStr>) -> *mut c_void {
    let known = place.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: names end with a zero.
    let there = unsafe {
        match version {
            Some(version) => dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()),
            None => libc::dlsym(libc::RTLD_NEXT, name.as_ptr()),
        }
    };
    if there.is_null() {
        // SAFETY: it ends the process.
        unsafe { libc::abort() };
    }
    place.store(there, Relaxed);
    there
}
