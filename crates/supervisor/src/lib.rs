//! The processes of an emulated run: their starts, messages and ends.
//!
//! ```text
//!   command ──spawns──> helper ──forks──> init (pid 1 of the lab) ──forks──> services
//!      │ orders ───────────────────────────┘ stdin: JSON lines, or end of file
//!      └ events <──────────────────────────── stdout: JSON lines
//! ```
//!
//! The services of a run are the emulator, the traffic and the probe ([`services`]). A lab that stays until somebody ends it
//! has no traffic of its own: its agent carries out what users ask for. Init relays their events and the command's
//! orders ([`watch`]), and ten times a second reports the progress of flows and links ([`live`]).
//!
//! Before it enters the lab, the helper loads the plan's congestion controls into the kernel: in there it may lack the right
//! to. Their registrations live as long as the processes do.
//!
//! * The command dies: its end of the control pipe closes, init ends, and with pid 1 the kernel ends everything inside.
//! * The helper dies: init is killed with it.
//! * Init dies: the kernel kills the rest; the helper notices.
//! * A service dies: init lets the others write down what they measured, and fails the run. If a service ends that is
//!   not needed, the run goes on, and says so: the probe is needed only if the plan insists on the record of every ACK.

mod bridges;
mod child;
mod guest;
mod init;
mod live;
mod loaded;
mod machine;
mod nat;
mod rewire;
mod service;
mod services;
mod watch;
mod witness;

use std::fs::File;
use std::io::stdout;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use lab::shares::Shares;
use messages::{Event, Failure, Process};
use nix::sys::signal::{SigHandler, Signal};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use plan::Plan;

use crate::init::{Options, Purpose};
use crate::loaded::Loaded;
pub use crate::loaded::Prepared;
use crate::nat::Nat;
use crate::watch::Beginning;

/// Run `dir/plan.json` and write its records into `dir`. Returns an exit code: 0, or 1 after a `failed` event.
///
/// Orders come from standard input, events go to standard output; with `live`, events on the progress of flows and
/// links, too. The process must have one thread.
pub fn emulate(dir: &Path, live: bool) -> i32 {
    code(run(dir, Purpose::of_run(live), Beginning::Soon, Prepared::default()))
}

/// The same in a virtual machine, where some programs may be in the kernel already.
pub fn emulate_in_guest(dir: &Path, live: bool, prepared: Prepared) -> i32 {
    let run = || run(dir, Purpose::of_run(live), Beginning::Bucket, prepared);
    code(guest::give_tcp_its_memory().and_then(|()| run()))
}

/// Build the lab of `dir/plan.json`, and serve whoever connects to `listener` until somebody asks it to end.
///
/// Otherwise like [`emulate`]: the lab also ends with its standard input.
pub fn stay(dir: &Path, listener: OwnedFd) -> i32 {
    code(run(dir, Purpose::Lab(listener), Beginning::Soon, Prepared::default()))
}

fn code(ended: Result<bool>) -> i32 {
    if let Err(error) = &ended {
        let _ = Event::failed(Process::Helper, error).emit(&mut stdout());
    }
    let _ = Event::End.emit(&mut stdout());
    i32::from(!matches!(ended, Ok(true)))
}

/// `true` if init ended well.
fn run(dir: &Path, purpose: Purpose, beginning: Beginning, prepared: Prepared) -> Result<bool> {
    // A signal to everybody, as a service manager sends it, must not end the lab before the command has asked it to flush.
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: ignoring a signal runs no code.
        unsafe { nix::sys::signal::signal(signal, SigHandler::SigIgn) }?;
    }
    let plan = Plan::read(&dir.join("plan.json"))?;
    // Before there is any other process or thread: all inherit it.
    if let Some(cpus) = plan.emulate.cpus
        && !realtime::keep_to_first(cpus)
    {
        return Err(Failure::new(format!("the lab cannot be kept to {cpus} CPUs"), "this process may not use so many")
            .hint("lower emulate.cpus, or leave it out")
            .into());
    }
    // The lab gets a new /run, and `dir` may lie below the old one: hold it by descriptor.
    let held = File::open(dir).with_context(|| format!("opening the run's directory {}", dir.display()))?;
    let (outer, dir) = (dir, PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd())));
    if plan.outside().is_some() && !matches!(purpose, Purpose::Lab(_)) {
        return Err(Failure::new("only a lab reaches the machine's network", "a run depends on its plan alone")
            .hint("leave nat out, or use `dumbbell lab up`")
            .into());
    }
    let loaded = Loaded::of(&plan, &dir, prepared)?;
    // In there it has neither the machine's process numbers nor, for a user, the right to. They end after the lab does.
    let wanted: Vec<(&str, u32)> = plan.nodes.iter().filter_map(|node| Some((node.name(), node.cpu_ppm()?))).collect();
    let (_groups, shares) = match wanted.is_empty() {
        true => (None, Vec::new()),
        false => Shares::create(wanted.into_iter()).map(|(groups, doors)| (Some(groups), doors))?,
    };
    let started = Instant::now();
    // In there the machine's network is out of reach. They, too, end after the lab does.
    let mut nat = Nat::start(&plan, outer, &dir)?;
    let rootless = lab::sandbox::is_unprivileged();
    lab::sandbox::enter(rootless)?;
    // SAFETY: the sandbox has made sure that there is one thread; the child runs only our own code until it exits.
    match unsafe { fork() }.context("starting the lab's first process")? {
        ForkResult::Child => {
            let outside = nat.as_mut().and_then(Nat::take_hand);
            let options = Options { rootless, purpose, beginning, shares, outside };
            let code = init::main(&plan, &dir, &loaded, options, started);
            // `exit` would run the interpreter's exit handlers, which are the parent's to run.
            // SAFETY: ends the process.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => match waitpid(child, None).context("waiting for the lab's first process")? {
            WaitStatus::Exited(_, code) => Ok(code == 0),
            WaitStatus::Signaled(_, signal, _) => {
                Err(Failure::new("the lab's first process was killed", format!("signal {signal}"))
                    .hint("what was measured until then is kept; run it again")
                    .into())
            }
            other => Err(Failure::new("the lab's first process ended strangely", format!("{other:?}")).into()),
        },
    }
}
