//! The links as a library that a user-mode kernel loads into its process: [`emu::hosted`] behind a C interface.
//!
//! The other side is `kernel/include/dumbbell/links.h`. The kernel calls from its one thread, on a small stack and never twice at a
//! time. An order may need more stack than that and may take long, so a thread of its own carries it out while the kernel
//! waits.

mod abi;
mod signals;

use std::ffi::{CStr, OsStr, c_char, c_long, c_longlong, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;
use std::sync::{Mutex, MutexGuard};

use emu::hosted::{Frame, Hosted, Outlet};

use abi::{ABI, Kernel, NEVER, RawFrame};

static LINKS: Mutex<Option<Hosted<Kernel>>> = Mutex::new(None);

static LIBRARY: abi::Library = abi::Library { abi: ABI, order, arrived, due, next };

/// Called by the kernel before it boots. Null after it has said why on standard error.
///
/// # Safety
/// `kernel` points to the kernel's half of the interface, `directory` to a path; both stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_links(kernel: *const Kernel, directory: *const c_char) -> *const abi::Library {
    // SAFETY: as the caller promises.
    let (kernel, directory) = unsafe { (*kernel, CStr::from_ptr(directory)) };
    if kernel.abi != ABI {
        eprintln!("dumbbell.links: this kernel is of another version than the library: build the kernel again");
        return std::ptr::null();
    }
    let directory = Path::new(OsStr::from_bytes(directory.to_bytes()));
    *links() = Some(Hosted::new(directory, kernel));
    &LIBRARY
}

fn links() -> MutexGuard<'static, Option<Hosted<Kernel>>> {
    LINKS.try_lock().expect("the kernel never calls twice at a time")
}

fn with<T>(work: impl FnOnce(&mut Hosted<Kernel>) -> T) -> T {
    work(links().as_mut().expect("the kernel calls what it was given"))
}

/// Returns the bytes of the answer, negative if they are an error's words.
unsafe extern "C" fn order(text: *const c_void, bytes: u64, answer: *mut c_void, room: u64, now: c_longlong) -> c_long {
    // SAFETY: the kernel gives the text and the room for an answer.
    let (text, answer) = unsafe {
        (
            slice::from_raw_parts(text.cast::<u8>(), bytes as usize),
            slice::from_raw_parts_mut(answer.cast::<u8>(), room as usize),
        )
    };
    let carry_out = || with(|links| links.order(text, now));
    let done = signals::blocked(|| std::thread::scope(|scope| scope.spawn(carry_out).join()));
    let (words, sign) = match done {
        Ok(Ok(words)) => (words, 1),
        Ok(Err(error)) => (format!("{error:#}").into_bytes(), -1),
        // The panic has spoken, on standard error.
        Err(_) => (b"a bug, see the kernel's output".to_vec(), -1),
    };
    let written = words.len().min(answer.len());
    answer[..written].copy_from_slice(&words[..written]);
    sign * written as c_long
}

unsafe extern "C" fn arrived(frame: *const RawFrame, now: c_longlong) {
    // SAFETY: the kernel's frame stays until this returns.
    let frame = unsafe {
        let frame = &*frame;
        Frame {
            port: frame.port,
            bytes: slice::from_raw_parts(frame.bytes.cast(), frame.present as usize),
            length: frame.length as u32,
            checksum_missing: frame.checksum_missing != 0,
            vnet: *frame.vnet,
        }
    };
    with(|links| links.arrived(&frame, now));
}

unsafe extern "C" fn due(now: c_longlong) {
    with(|links| links.due(now));
}

unsafe extern "C" fn next() -> c_longlong {
    with(|links| links.next_due()).unwrap_or(NEVER)
}

impl Outlet for Kernel {
    fn send(&mut self, port: u16, parts: &[libc::iovec], vnet: bool) -> std::io::Result<()> {
        // SAFETY: the parts stay until the call returns; the kernel reads them.
        let code = unsafe { (self.send)(u32::from(port), parts.as_ptr(), parts.len() as u64, i32::from(vnet)) };
        if code == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(-code)) }
    }
}
