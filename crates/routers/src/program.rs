use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use messages::Failure;
use nix::errno::Errno;

use crate::Seat;

/// The folders in which distributions keep the daemons.
const FOLDERS: [&str; 3] = ["/usr/lib/frr", "/usr/libexec/frr", "/usr/local/sbin"];
/// The lines of a log that an error shows.
const SHOWN: usize = 5;

/// The path of a daemon of FRR, or `None` if this machine lacks it.
pub fn daemon(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists())
}

/// A program in a router. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    pub name: String,
    router: String,
    child: Child,
    pidfd: OwnedFd,
    log: PathBuf,
}

impl Program {
    /// Starts a program inside a router; what it says goes to `<logs>/<name>.log`.
    pub(crate) fn start(seat: &Seat<'_>, name: &str, path: &Path, arguments: &[&str], logs: &Path) -> Result<Program> {
        let what = || format!("starting {name} in router {}", seat.name);
        let log = logs.join(format!("{name}.log"));
        let said = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
        // For vtysh: what its user typed elsewhere is not a part of the run, whose virtual time it would change.
        command.env("VTYSH_HISTFILE", "/dev/null");
        command.process_group(0);
        seat.doors().lead(&mut command, Path::new("/"))?;
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
                // We may ignore them; a program must hear them.
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        let child = command.spawn().with_context(what)?;
        // SAFETY: the child is not reaped yet, so its pid is its own; the returned descriptor is ours.
        let pidfd = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0);
            OwnedFd::from_raw_fd(Errno::result(fd).context("opening a pidfd")? as i32)
        };
        Ok(Program { name: name.to_owned(), router: seat.name.clone(), child, pidfd, log })
    }

    /// Readable once the program has ended.
    pub(crate) fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn status(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("waiting for {} in router {}", self.name, self.router))
    }

    /// Failure of a program that ended with `status`, with its last lines.
    pub(crate) fn failure(&self, status: ExitStatus) -> Failure {
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        let why =
            if last.is_empty() { format!("{status}, without a word") } else { format!("{status}. It said: {last}") };
        let hint = format!("its log is logs/{}/{}.log in the run's directory", self.router, self.name);
        Failure::new(format!("router {}: {}", self.router, self.name), why).hint(hint)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
