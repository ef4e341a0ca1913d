//! The memory of a snapshot is read, and never written.
//!
//! QEMU maps the file of a machine's memory, and keeps what the machine changes to itself (`share=off`). Yet it opens the file
//! for reading and writing, which a file system that is mounted read-only refuses.
//!
//! Most of the file is holes. The pages of a hole that the machine uses would be read as zeros into the cache of files, one
//! by one, and then be copied. So large holes are anonymous memory, in huge pages where this machine has them.

use libc::{c_char, c_int, c_uint, c_void, off_t, size_t};
use std::ffi::CStr;
use std::iter;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

use crate::real;

/// Files that QEMU's parent holds for it.
const HELD: &[u8] = b"/proc/self/fd/";
/// The file of the memory, from when it was opened on.
static MEMORY: AtomicI32 = AtomicI32::new(-1);
/// Bytes of a hole from which on it is worth a mapping: a huge page.
const LARGE: off_t = 2 << 20;

/// Opens a file as the C library does, but for one that the parent holds: that one is opened for reading.
///
/// # Safety
///
/// As the C library's: see open(2). `mode` has no meaning where it was not given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: what the caller promises.
    unsafe {
        if !is_memory(path, flags) {
            return real::open()(path, flags, mode);
        }
        let file = real::open()(path, flags & !libc::O_ACCMODE | libc::O_RDONLY, mode);
        MEMORY.store(file, SeqCst);
        file
    }
}

/// Opens a file as [`open64`] does. Programs that are compiled with more checks call this one.
///
/// # Safety
///
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: what the caller promises.
    unsafe { open64(path, flags, 0) }
}

/// Returns true if the path is the memory's: of the files that the parent holds, only that is opened for writing.
///
/// # Safety
///
/// The path ends with a zero.
unsafe fn is_memory(path: *const c_char, flags: c_int) -> bool {
    // SAFETY: the caller promises it.
    flags & libc::O_ACCMODE == libc::O_RDWR && unsafe { CStr::from_ptr(path) }.to_bytes().starts_with(HELD)
}

/// Maps a file as the C library does, but for that of the memory: large holes of it are anonymous memory.
///
/// # Safety
///
/// As the C library's: see mmap(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    place: *mut c_void,
    length: size_t,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: what the caller promises.
    let whole = unsafe { map(place, length, access, flags, file, offset) };
    if file < 0 || file != MEMORY.load(SeqCst) || flags & libc::MAP_PRIVATE == 0 || whole == libc::MAP_FAILED {
        return whole;
    }
    let flags = flags | libc::MAP_FIXED | libc::MAP_ANONYMOUS;
    for hole in holes(file, offset, offset + length as off_t) {
        // SAFETY: it replaces a part of what was just mapped by as many zeros. Where that is refused, the part stays.
        unsafe {
            let place = whole.byte_add((hole.start - offset) as usize);
            map(place, (hole.end - hole.start) as usize, access, flags, -1, 0);
        }
    }
    whole
}

/// The system call.
///
/// # Safety
///
/// See mmap(2).
unsafe fn map(
    place: *mut c_void,
    length: size_t,
    access: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: what the caller promises.
    let mapped = unsafe { libc::syscall(libc::SYS_mmap, place, length, access, flags, file, offset) };
    ptr::with_exposed_provenance_mut(mapped as usize)
}

/// The large holes of a file between two places.
fn holes(file: c_int, from: off_t, to: off_t) -> impl Iterator<Item = Range<off_t>> {
    // SAFETY: it moves the place in the file, which nobody else uses. Without another one it answers -1.
    let next = move |from: off_t, what: c_int| unsafe { libc::lseek(file, from, what) };
    let mut at = from;
    let all = iter::from_fn(move || {
        let start = next(at, libc::SEEK_HOLE);
        if !(at..to).contains(&start) {
            return None;
        }
        at = match next(start, libc::SEEK_DATA) {
            data if data > start => data.min(to),
            _ => to,
        };
        Some(start..at)
    });
    all.filter(|hole| hole.end - hole.start >= LARGE)
}
