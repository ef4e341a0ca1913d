//! The links as a library that a user-mode kernel loads into its process: [`emu::hosted`] behind a C interface.
//!
//! The other side is `kernel/include/dumbbell/links.h`. The kernel calls from its one thread, on a small stack and never twice at a
//! time. An order may need more stack than that and may take long, so a thread of its own carries it out while the kernel
//! waits.
//!
//! No panic leads into the kernel's C. One in an order is the order's error; any other ends the process, as a function of
//! `extern "C"` does, for frames may be lost then.

mod abi;
mod signals;

use std::ffi::{CStr, OsStr, c_char, c_long, c_longlong, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::slice;
use std::sync::{Mutex, MutexGuard, TryLockError};

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
    // SAFETY: both pointers are valid, as the caller promises.
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
    LINKS.try_lock().unwrap_or_else(|error| match error {
        TryLockError::Poisoned(_) => panic!("an order before ended with a panic"),
        TryLockError::WouldBlock => panic!("the kernel called twice at a time"),
    })
}

fn with<T>(work: impl FnOnce(&mut Hosted<Kernel>) -> T) -> T {
    work(links().as_mut().expect("the kernel calls what it was given"))
}

/// Returns the bytes of the answer, negative if they are an error's words.
unsafe extern "C" fn order(text: *const c_void, bytes: u64, answer: *mut c_void, room: u64, now: c_longlong) -> c_long {
    // SAFETY: the kernel gives the text and the room for an answer, two buffers of its own that stay until this returns.
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
    // SAFETY: the kernel's frame, its bytes and its header are valid, and stay until this returns.
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

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    const CALL: &str = "GUEST_LINKS_CALL";

    fn calls(name: &str) {
        let (frame, mut answer) = ([0_u8; 64], [0_u8; 64]);
        let header = [0; 10];
        let raw = RawFrame {
            bytes: frame.as_ptr().cast(),
            length: 64,
            present: 64,
            port: 0,
            checksum_missing: 0,
            vnet: &header,
        };
        // SAFETY: all pointers are valid during the calls.
        unsafe {
            match name {
                "arrived" => (LIBRARY.arrived)(&raw, 0),
                "due" => (LIBRARY.due)(0),
                "next" => assert_eq!((LIBRARY.next)(), NEVER),
                _ => {
                    let written = (LIBRARY.order)(frame.as_ptr().cast(), 64, answer.as_mut_ptr().cast(), 64, 0);
                    assert_eq!(written, -30);
                    assert_eq!(&answer[..30], b"a bug, see the kernel's output");
                    (LIBRARY.due)(0);
                }
            }
        }
    }

    /// Each function panics if there are no links yet.
    #[test]
    fn no_panic_leads_into_c() {
        if let Ok(name) = env::var(CALL) {
            return calls(&name);
        }
        for (name, words) in [
            ("arrived", "the kernel calls what it was given"),
            ("due", "the kernel calls what it was given"),
            ("next", "the kernel calls what it was given"),
            ("order", "an order before ended with a panic"),
        ] {
            let mut program = Command::new(env::current_exe().unwrap());
            let test = program.args(["--exact", "tests::no_panic_leads_into_c", "--nocapture"]).env(CALL, name);
            let ended = test.output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{name}: {said}");
            assert!(said.contains(words) && said.contains("cannot unwind"), "{name}: {said}");
        }
    }
}
