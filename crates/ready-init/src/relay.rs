//! Events to the host, and orders from it, while a run goes on.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe};

use crate::shared::Shared;

/// Time between two looks for orders, in milliseconds of the machine's clock. None comes by itself, so a run that nobody
/// stops is the same each time.
const LOOK_MS: u16 = 50;

/// The process that relays.
pub(crate) struct Relay(Pid);

/// Connect standard input and output of this process to the host. The process must have one thread.
pub(crate) fn start(shared: &Shared) -> Result<Relay> {
    let ((events, said), (given, orders)) = (pipe()?, pipe()?);
    // SAFETY: there is one thread; the child runs only our own code until it exits.
    match unsafe { fork() }.context("starting the relay")? {
        ForkResult::Child => {
            drop((said, given));
            let done = relay(shared, events, orders);
            if let Err(error) = &done {
                eprintln!("{error:#}");
            }
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(done.is_err())) }
        }
        ForkResult::Parent { child } => {
            for (number, stream) in [(0, given), (1, said)] {
                // SAFETY: both are descriptors; what the number stood for before is not owned by anything here.
                let done = unsafe { libc::dup2(stream.as_raw_fd(), number) };
                nix::errno::Errno::result(done).context("connecting the standard streams")?;
            }
            Ok(Relay(child))
        }
    }
}

impl Relay {
    /// Wait until all events are out.
    pub(crate) fn end(self) -> Result<()> {
        std::io::stdout().flush()?;
        // The end of the events: nobody else has this pipe.
        // SAFETY: nothing is written to it after this.
        unsafe { libc::close(1) };
        let ended = waitpid(self.0, None).context("waiting for the relay")?;
        ensure!(matches!(ended, WaitStatus::Exited(_, 0)), "the relay of events ended early");
        Ok(())
    }
}

fn relay(shared: &Shared, events: OwnedFd, orders: OwnedFd) -> Result<()> {
    let (mut events, mut orders) = (File::from(events), File::from(orders));
    let mut live = shared.live()?;
    let mut buffer = vec![0; 64 << 10];
    let mut passed = 0;
    loop {
        let mut wanted = [PollFd::new(events.as_fd(), PollFlags::POLLIN)];
        if poll(&mut wanted, PollTimeout::from(LOOK_MS))? > 0 {
            let length = events.read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            live.add_events(&buffer[..length])?;
        }
        let new = live.orders()?.get(passed..).context("the host counts fewer orders than before")?;
        if !new.is_empty() {
            passed += new.len();
            // The run may have ended meanwhile.
            drop(orders.write_all(new));
        }
    }
}
