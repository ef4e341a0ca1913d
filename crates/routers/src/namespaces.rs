use std::fs::File;
use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use lab::{Doors, Host};
use nix::sched::{CloneFlags, setns};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use plan::Routing;

/// A router of the lab: its name, its daemons, and its namespaces.
#[derive(Debug)]
pub struct Seat<'a> {
    /// The router's name.
    pub name: String,
    /// Its daemons and their configuration.
    pub routing: Routing,
    /// The way in.
    pub entrance: Entrance<'a>,
}

/// The way into a router.
#[derive(Debug)]
pub enum Entrance<'a> {
    /// The doors of a router that another part of the program holds.
    Lent(Doors<'a>),
    /// A router that was added to a lab that is up.
    Own(Box<Host>),
}

impl Seat<'_> {
    pub(crate) fn doors(&self) -> Doors<'_> {
        match &self.entrance {
            Entrance::Lent(doors) => *doors,
            Entrance::Own(host) => host.doors(),
        }
    }

    /// Does `work` in a child process inside the router.
    pub(crate) fn within(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let (read, write) = nix::unistd::pipe().context("making a pipe")?;
        // SAFETY: the caller has one thread; the child runs only `work`, and ends without the caller's exit handlers.
        match unsafe { fork() }.context("starting a process in a router")? {
            ForkResult::Child => {
                let done = self.doors().enter().context("entering its namespaces").and_then(|()| work());
                let code = i32::from(done.is_err());
                if let Err(error) = done {
                    let _ = File::from(write).write_all(format!("{error:#}").as_bytes());
                }
                // SAFETY: as above.
                unsafe { libc::_exit(code) }
            }
            ForkResult::Parent { child } => {
                drop(write);
                let said = io::read_to_string(File::from(read)).unwrap_or_default();
                match waitpid(child, None).context("waiting for a process in a router")? {
                    WaitStatus::Exited(_, 0) => Ok(()),
                    _ => bail!("router {}: {said}", self.name),
                }
            }
        }
    }

    /// Does `work` with the calling thread in the router's network, then goes back.
    pub(crate) fn in_network<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let home = File::open("/proc/thread-self/ns/net").context("opening this thread's network namespace")?;
        setns(self.doors().net(), CloneFlags::CLONE_NEWNET)
            .with_context(|| format!("entering the network of {}", self.name))?;
        let done = work();
        setns(&home, CloneFlags::CLONE_NEWNET).context("leaving a router's network namespace")?;
        done.with_context(|| format!("in router {}", self.name))
    }
}
