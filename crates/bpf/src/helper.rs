//! Runs a compiler, or another program that helps, on a text that may be a stranger's: within limits of time, memory and
//! output.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// CPU time of each process. A program with a `vmlinux.h` takes less than 3 s.
const CPU_S: u64 = 20;
/// On a machine with ten times as many processes as CPUs, a helper that needs less CPU time than allowed may take long.
const WALL: Duration = Duration::from_secs(120);
/// Address space. clang itself maps 0.3 GiB.
const MEMORY_GIB: u64 = 2;
/// Size of each file that it writes, and of what it says.
const FILE_MIB: u64 = 64;
/// Bytes of what it says that are read: an error that recurs is no news.
const SAID: usize = 1 << 20;
/// The longest pause between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// A helper's end.
pub struct Ended {
    /// True if the helper did what was asked.
    pub ok: bool,
    /// Its standard output and error; or which limit has ended it.
    pub said: String,
}

/// Runs `command` to its end, which its limits bring at the latest. Fails if it cannot be started.
pub fn run_helper(command: &mut Command) -> io::Result<Ended> {
    let said = File::from(memfd_create("said", MFdFlags::MFD_CLOEXEC)?);
    command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
    let limits = limits()?;
    let set = move || {
        for &(resource, soft, hard) in &limits {
            setrlimit(resource, soft, hard)?;
        }
        // SAFETY: a system call without pointers.
        match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec it makes system calls alone: it neither allocates nor takes a lock.
    unsafe { command.pre_exec(set) };
    let status = wait(command.spawn()?)?;
    let text = read(&said)?;
    let name = command.get_program().to_string_lossy();
    Ok(match status.and_then(|status| limit(status, &text)) {
        None if status.is_none() => {
            Ended { ok: false, said: format!("{name} was stopped: it took more than {} s", WALL.as_secs()) }
        }
        Some(limit) => Ended { ok: false, said: format!("{name} was stopped: it took more than {limit}") },
        None => Ended { ok: status.is_some_and(|status| status.success()), said: text },
    })
}

/// Resources, each with the limit at which a signal comes and the one that nothing exceeds.
fn limits() -> io::Result<[(Resource, u64, u64); 4]> {
    let mut found = [
        (Resource::RLIMIT_CPU, CPU_S, CPU_S + 1),
        (Resource::RLIMIT_AS, MEMORY_GIB << 30, MEMORY_GIB << 30),
        (Resource::RLIMIT_FSIZE, FILE_MIB << 20, FILE_MIB << 20),
        (Resource::RLIMIT_CORE, 0, 0),
    ];
    for (resource, soft, hard) in &mut found {
        // A limit that is there already may be lower, and nobody but root can raise it.
        let most = getrlimit(*resource)?.1;
        (*soft, *hard) = ((*soft).min(most), (*hard).min(most));
    }
    Ok(found)
}

/// Waits for the end. Returns `None` of a helper that took too long: it was killed.
fn wait(mut child: Child) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + WALL;
    let mut pause = Duration::from_millis(1);
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(pause);
        pause = PAUSE.min(pause * 2);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Returns the limit that has ended a helper.
fn limit(status: ExitStatus, output: &str) -> Option<String> {
    // A shell, and clang for a compiler inside it, tell a signal by their exit code.
    let signal = status.signal().or(status.code().filter(|code| *code > 128).map(|code| code - 128))?;
    match signal {
        libc::SIGXCPU | libc::SIGKILL => Some(format!("{CPU_S} s of CPU time")),
        libc::SIGXFSZ => Some(format!("{FILE_MIB} MiB for a file")),
        _ => output.contains("out of memory").then(|| format!("{MEMORY_GIB} GiB of memory")),
    }
}

fn read(file: &File) -> io::Result<String> {
    let mut text = vec![0; SAID.min(usize::try_from(file.metadata()?.len()).unwrap_or(SAID))];
    file.read_exact_at(&mut text, 0)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Ended {
        run_helper(Command::new("/bin/sh").args(["-c", line])).unwrap()
    }

    #[test]
    fn a_helper_is_heard() {
        let ended = shell("echo out; echo err >&2");
        assert!(ended.ok);
        assert_eq!(ended.said, "out\nerr\n");
        assert!(!shell("exit 3").ok);
    }

    #[test]
    fn limits_have_names() {
        assert_eq!(shell("kill -XCPU $$").said, "/bin/sh was stopped: it took more than 20 s of CPU time");
        assert_eq!(shell("echo 'LLVM ERROR: out of memory'; kill -ABRT $$").said.lines().count(), 1);
        let limits = shell("ulimit -t; ulimit -v; ulimit -c").said;
        assert_eq!(limits.lines().collect::<Vec<_>>(), ["20", "2097152", "0"]);
    }

    #[test]
    fn a_file_without_end_ends() {
        assert_eq!(shell("exec yes").said, "/bin/sh was stopped: it took more than 64 MiB for a file");
    }
}
