use std::fs::{File, remove_file};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use messages::Failure;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use nix::unistd::{Pid, pipe2};
use plan::Outside;

const PROGRAM: &str = "slirp4netns";
/// Name of the socket in the lab's directory while the program starts.
const SOCKET: &str = "nat.sock";
const LOG: &str = "logs/nat.stderr";
const START: Duration = Duration::from_secs(10);

/// A running slirp4netns. Dropping it ends it.
pub(super) struct Stack {
    program: Child,
    frames: OwnedFd,
    /// The program ends when this is closed, whatever ends the carrier.
    _alive: OwnedFd,
}

impl Stack {
    /// Starts it in a process group of its own, and waits until it is ready.
    pub(super) fn start(outside: &Outside, dir: &Path, held: &Path) -> Result<Stack> {
        let (ready, says) = pipe2(OFlag::O_CLOEXEC).context("making a pipe")?;
        let (ends, alive) = pipe2(OFlag::O_CLOEXEC).context("making a pipe")?;
        let log = File::create(held.join(LOG)).context("making a log")?;
        let mut command = Command::new(PROGRAM);
        command.arg("--target-type=bess").arg(format!("--cidr={}", outside.subnet)).arg("--disable-host-loopback");
        command.arg(format!("--ready-fd={}", says.as_raw_fd())).arg(format!("--exit-fd={}", ends.as_raw_fd()));
        command.arg("--enable-seccomp");
        if !lab::sandbox::is_unprivileged() {
            // A root directory with /etc and /run alone, and no capabilities: only root may make it without a user namespace.
            command.arg("--enable-sandbox");
        }
        command.arg(SOCKET).current_dir(dir).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // SAFETY: only system calls between fork and exec.
        unsafe {
            command.pre_exec(move || {
                // Among what the helper has inherited are the lab's lock and its users' socket.
                libc::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC as i32);
                for kept in [&says, &ends] {
                    fcntl(kept, FcntlArg::F_SETFD(FdFlag::empty()))?;
                }
                Ok(())
            });
        }
        let mut program = command.spawn().map_err(|why| {
            let is_missing = why.kind() == io::ErrorKind::NotFound;
            let error = Failure::new(format!("running {PROGRAM}, which leads to the machine's network"), why);
            if is_missing { error.hint("install it: sudo apt-get install slirp4netns") } else { error }
        })?;
        // A copy of the program's ends of the pipes would hide its end.
        drop(command);
        match reach(&mut program, ready, held) {
            Ok(frames) => Ok(Stack { program, frames, _alive: alive }),
            Err(why) => {
                end(&mut program);
                Err(why)
            }
        }
    }

    /// Socket with a frame a message.
    pub(super) fn frames(&self) -> &OwnedFd {
        &self.frames
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        end(&mut self.program);
    }
}

/// While it starts, it has a child that waits for a connection.
fn end(program: &mut Child) {
    let _ = killpg(Pid::from_raw(program.id() as i32), Signal::SIGKILL);
    let _ = program.wait();
}

/// Connects to the program as soon as it listens, and waits until it is ready.
fn reach(program: &mut Child, ready: OwnedFd, held: &Path) -> Result<OwnedFd> {
    let failed = |why: String| {
        Failure::new(format!("starting {PROGRAM}, which leads to the machine's network"), why)
            .hint("`slirp4netns --version` should be 1.2 or later")
    };
    let place = UnixAddr::new(&held.join(SOCKET))?;
    let deadline = Instant::now() + START;
    let frames = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
    while let Err(why) = connect(frames.as_raw_fd(), &place) {
        if let Some(status) = program.try_wait()? {
            let log = std::fs::read_to_string(held.join(LOG)).unwrap_or_default();
            return Err(failed(format!("{status}: {}", log.trim().lines().last().unwrap_or_default())).into());
        }
        if Instant::now() > deadline {
            return Err(failed(format!("it does not listen: {}", why.desc())).into());
        }
        sleep(Duration::from_millis(2));
    }
    let _ = remove_file(held.join(SOCKET));
    match File::from(ready).read(&mut [0]) {
        Ok(1) => Ok(frames),
        _ => Err(failed("it ended before it was ready".to_owned()).into()),
    }
}
