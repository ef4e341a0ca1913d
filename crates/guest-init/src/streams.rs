//! The standard streams of a guest.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Orders come from this console.
pub(crate) const ORDERS: &str = "/dev/tty1";
/// Events go to a file: a write to it takes no time inside, however slowly they are read.
const EVENTS: &str = "logs/events.jsonl";
const STDERR: &str = "logs/guest.stderr";

/// Connect orders, events and messages of the lab.
pub(crate) fn connect(directory: &Path) -> Result<()> {
    let streams = [orders()?, appended(&directory.join(EVENTS))?, appended(&directory.join(STDERR))?];
    for (number, stream) in streams.iter().enumerate() {
        // SAFETY: both are descriptors; what the number stood for before is not owned by anything here.
        let done = unsafe { libc::dup2(stream.as_raw_fd(), number as i32) };
        nix::errno::Errno::result(done).context("connecting the standard streams")?;
    }
    Ok(())
}

/// The console, which neither echoes nor edits what comes.
fn orders() -> Result<OwnedFd> {
    let console = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(ORDERS)
        .with_context(|| format!("opening {ORDERS}"))?;
    // SAFETY: an all-zero termios is one, and the descriptor is open.
    let done = unsafe {
        let mut mode: libc::termios = std::mem::zeroed();
        libc::tcgetattr(console.as_raw_fd(), &mut mode);
        libc::cfmakeraw(&mut mode);
        libc::tcsetattr(console.as_raw_fd(), libc::TCSAFLUSH, &mode)
    };
    nix::errno::Errno::result(done).with_context(|| format!("setting {ORDERS} to raw"))?;
    Ok(console.into())
}

fn appended(file: &Path) -> Result<OwnedFd> {
    let opened = OpenOptions::new().append(true).create(true).mode(0o644).open(file);
    Ok(opened.with_context(|| format!("opening {}", file.display()))?.into())
}
