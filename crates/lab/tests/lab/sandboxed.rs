//! Running a case as pid 1 of a sandbox.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail, ensure};
use lab::sandbox;
use nix::sys::prctl::set_dumpable;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Gid, Pid, Uid, fork, pipe, setgroups, setresgid, setresuid};

/// The user who builds the lab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum User {
    /// Root, without a user namespace.
    Root,
    /// An ordinary user that root becomes.
    Other(u32),
    /// The ordinary user who runs the tests.
    Own,
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == User::Root { "root" } else { "ordinary user" })
    }
}

/// A test case.
pub enum Case {
    /// Runs as pid 1 of a sandbox.
    Inside(fn() -> Result<()>),
    /// Runs outside, and starts sandboxes itself.
    Outside(fn(User) -> Result<()>),
}

impl Case {
    pub fn run(&self, user: User) -> Result<()> {
        match self {
            Case::Inside(case) => {
                let sandbox = Sandbox::start(user, |mut report, _order| {
                    let outcome = std::panic::catch_unwind(case).unwrap_or_else(|_| bail!("it panicked"));
                    let text = outcome.map_or_else(|error| format!("{error:#}"), |()| "passed".to_owned());
                    report.write_all(text.as_bytes())?;
                    Ok(())
                })?;
                let report = sandbox.wait()?;
                ensure!(report == "passed", "{report}");
                Ok(())
            }
            Case::Outside(case) => case(user),
        }
    }
}

/// A running sandbox, seen from outside.
pub struct Sandbox {
    /// The process that entered; its only child is the sandbox's pid 1.
    outer: Pid,
    report: File,
    /// Closing it is the order to end.
    order: OwnedFd,
}

impl Sandbox {
    /// Starts `init` as pid 1 of a new sandbox, with a file to report to and one that ends with the order to exit.
    pub fn start(user: User, init: impl FnOnce(File, File) -> Result<()>) -> Result<Sandbox> {
        let (report, reporting) = pipe()?;
        let (ordered, order) = pipe()?;
        // SAFETY: the test program has one thread.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Sandbox { outer: child, report: report.into(), order }),
            ForkResult::Child => {
                drop((report, order));
                let entered = become_user(user).and_then(|()| sandbox::enter(user != User::Root));
                let complain = reporting.try_clone()?;
                // SAFETY: a child has one thread.
                let outcome = entered.and_then(|()| match unsafe { fork() }? {
                    ForkResult::Parent { child } => {
                        drop(reporting);
                        waitpid(child, None)?;
                        Ok(())
                    }
                    ForkResult::Child => {
                        sandbox::mounts()?;
                        init(reporting.into(), ordered.into())
                    }
                });
                if let Err(error) = outcome {
                    write!(File::from(complain), "in the sandbox: {error:#}")?;
                }
                std::process::exit(0)
            }
        }
    }

    /// The next bytes that pid 1 reports.
    pub fn hear(&mut self) -> Result<String> {
        let mut bytes = [0; 4096];
        let length = self.report.read(&mut bytes)?;
        ensure!(length > 0, "the sandbox ended");
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    /// The pid, outside, of the sandbox's pid 1.
    pub fn init(&self) -> Result<Pid> {
        let file = format!("/proc/{0}/task/{0}/children", self.outer);
        let text = std::fs::read_to_string(&file)?;
        Ok(Pid::from_raw(text.trim().parse().with_context(|| format!("{file} holds {text:?}"))?))
    }

    /// Orders pid 1 to end, waits until it has, and returns what it still reported.
    pub fn wait(mut self) -> Result<String> {
        drop(self.order);
        let mut text = String::new();
        self.report.read_to_string(&mut text)?;
        waitpid(self.outer, None)?;
        Ok(text)
    }
}

/// The result of `f`, run as `user` in a child process.
pub fn in_child(user: User, f: impl FnOnce() -> Result<String>) -> Result<String> {
    let (report, reporting) = pipe()?;
    // SAFETY: the test program has one thread.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            drop(reporting);
            let mut text = String::new();
            File::from(report).read_to_string(&mut text)?;
            waitpid(child, None)?;
            Ok(text)
        }
        ForkResult::Child => {
            let text = become_user(user).and_then(|()| f()).unwrap_or_else(|error| format!("{error:#}"));
            File::from(reporting).write_all(text.as_bytes())?;
            std::process::exit(0)
        }
    }
}

fn become_user(user: User) -> Result<()> {
    if let User::Other(id) = user {
        let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
        setgroups(&[gid])?;
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
        // A process that changed its user may not write its id maps until it is dumpable again, or executes a program.
        set_dumpable(true)?;
        ensure!(sandbox::is_unprivileged(), "the ordinary user has capabilities");
    }
    Ok(())
}
