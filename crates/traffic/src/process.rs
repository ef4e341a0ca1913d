//! A program of the user's in a node.

use std::env;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use lab::Doors;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::netns;

/// The kernel's default; ours is 1 ns and would be inherited.
const DEFAULT_TIMER_SLACK_NS: libc::c_ulong = 50_000;

/// A shell command line, in a separate process group. Dropping it kills the group.
pub struct Process {
    child: Child,
    pidfd: OwnedFd,
}

impl Process {
    /// Run `line` by `/bin/sh` in a node, in this process's working directory; its output goes to `<log>.stdout` and
    /// `<log>.stderr`.
    pub fn spawn(line: &str, node: Doors<'_>, log: &Path) -> Result<Process> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(line).stdin(Stdio::null());
        command.stdout(create(log, ".stdout")?).stderr(create(log, ".stderr")?);
        Process::start(command, node).with_context(|| format!("starting `{line}`"))
    }

    /// Runs a program without a shell; its errors go to `<log>.stderr`. Returns the pipes to its standard input and from
    /// its standard output.
    pub fn spawn_piped(
        mut command: Command,
        node: Doors<'_>,
        log: &Path,
    ) -> Result<(Process, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(create(log, ".stderr")?);
        let mut process = Process::start(command, node)?;
        let pipes = process.child.stdin.take().zip(process.child.stdout.take());
        let (input, output) = pipes.context("the program has no pipes")?;
        Ok((process, input, output))
    }

    fn start(mut command: Command, node: Doors<'_>) -> Result<Process> {
        command.process_group(0);
        if !netns::is_ours(node.net())? {
            node.lead(&mut command, &env::current_dir().unwrap_or_default())?;
        }
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
                libc::prctl(libc::PR_SET_TIMERSLACK, DEFAULT_TIMER_SLACK_NS);
                // We may ignore them; a program must hear them.
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        // SAFETY: the child is not reaped yet, so its pid is its own; the returned descriptor is ours.
        let pidfd = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, child.id() as libc::pid_t, 0);
            OwnedFd::from_raw_fd(Errno::result(fd).context("opening a pidfd")? as i32)
        };
        Ok(Process { child, pidfd })
    }

    /// Readable once the program has ended.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// An exit code, or minus the signal that ended it; `None` while it runs.
    ///
    /// The program stays a zombie until the drop: its process group's number can't be taken by another.
    pub fn exit_code(&self) -> Option<i32> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::PIDFd(self.pidfd.as_fd()), flags) {
            Ok(WaitStatus::Exited(_, code)) => Some(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(-(signal as i32)),
            _ => None,
        }
    }

    /// Signal the whole group. Its other members may outlive the shell.
    pub fn signal(&self, signal: Signal) {
        let _ = killpg(Pid::from_raw(self.child.id() as i32), signal);
    }
}

/// Creates the file of a program's output.
fn create(log: &Path, extension: &str) -> Result<File> {
    let mut path = log.as_os_str().to_owned();
    path.push(extension);
    let path = PathBuf::from(path);
    File::create(&path).with_context(|| format!("creating {}", path.display()))
}

/// Returns the meaning of an exit code, as the predicate of a sentence.
pub fn ended(code: i32) -> String {
    if code < 0 { format!("was ended by signal {}", -code) } else { format!("exited with {code}") }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
