//! The memory of a snapshot is read, and never written.
//!
//! QEMU maps the file of a machine's memory, and keeps what the machine changes to itself (`share=off`). Yet it opens the file
//! for reading and writing, which a file system that is mounted read-only refuses.

use libc::{c_char, c_int, c_uint};
use std::ffi::CStr;

use crate::real;

/// Files that QEMU's parent holds for it.
const HELD: &[u8] = b"/proc/self/fd/";

/// As the C library's, but for a file that the parent holds: that one is opened for reading.
///
/// # Safety
///
/// As the C library's: see open(2). `mode` has no meaning where it was not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: what the caller promises.
    unsafe { real::open()(path, for_reading(path, flags), mode) }
}

/// As [`open64`]. Programs that are compiled with more checks call this one.
///
/// # Safety
///
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: what the caller promises.
    unsafe { real::open()(path, for_reading(path, flags), 0) }
}

/// # Safety
///
/// The path ends with a zero.
unsafe fn for_reading(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller promises it.
    let held = unsafe { CStr::from_ptr(path) }.to_bytes().starts_with(HELD);
    match flags & libc::O_ACCMODE {
        libc::O_RDWR if held => flags & !libc::O_ACCMODE | libc::O_RDONLY,
        _ => flags,
    }
}
