//! The messages of libbpf and the verifier, collected instead of printed.

use std::cell::RefCell;

use libbpf_rs::{PrintLevel, set_print};

thread_local! {
    static LINES: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`, and gives what libbpf had to say at warning level meanwhile. The verifier's log is part of it if a program
/// was refused.
pub(crate) fn collecting<T>(f: impl FnOnce() -> T) -> (T, String) {
    collecting_from(PrintLevel::Warn, f)
}

/// The same as [`collecting`], with all other messages, too.
pub(crate) fn collecting_all<T>(f: impl FnOnce() -> T) -> (T, String) {
    collecting_from(PrintLevel::Debug, f)
}

fn collecting_from<T>(level: PrintLevel, f: impl FnOnce() -> T) -> (T, String) {
    // The callback is the process's, what it collects the thread's.
    set_print(Some((level, |_, message| LINES.with_borrow_mut(|lines| lines.push_str(&message)))));
    LINES.take();
    let result = f();
    (result, LINES.take())
}
