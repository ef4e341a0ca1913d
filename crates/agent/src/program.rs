//! A program in a node.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use lab::Host;
use messages::Failure;
use nix::sys::signal::SigSet;
use nix::unistd::Pid;

/// A program to run.
pub(crate) struct Program<'a> {
    pub arguments: &'a [String],
    pub environment: &'a BTreeMap<String, String>,
    pub directory: &'a str,
    /// Its terminal, or else its standard input, output and error.
    pub descriptors: Vec<OwnedFd>,
}

/// Start a program in a node, in a session of its own. Whoever calls this waits for its end.
pub(crate) fn start(program: Program<'_>, node: &Host) -> Result<Pid> {
    let Some((name, arguments)) = program.arguments.split_first() else {
        return Err(Failure::new("running a program", "there is none").hint("name one: h1 ping -c1 h2").into());
    };
    let terminal = program.descriptors.len() == 1;
    ensure!(matches!(program.descriptors.len(), 1 | 3), "a program needs a terminal, or three descriptors");
    let mut descriptors = program.descriptors;
    if terminal {
        descriptors.push(descriptors[0].try_clone()?);
        descriptors.push(descriptors[0].try_clone()?);
    }
    let mut command = Command::new(name);
    command.args(arguments).env_clear().envs(program.environment);
    let [input, output, error] = <[OwnedFd; 3]>::try_from(descriptors).expect("three descriptors");
    command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(error));
    node.doors().lead(&mut command, Path::new(program.directory))?;
    // SAFETY: this runs between fork and exec of a process of one thread.
    unsafe {
        command.pre_exec(move || {
            libc::setsid();
            if terminal {
                libc::ioctl(0, libc::TIOCSCTTY, 0);
            }
            // The lab ignores them; a program must hear them.
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
                libc::signal(signal, libc::SIG_DFL);
            }
            SigSet::empty().thread_set_mask()?;
            libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
            Ok(())
        });
    }
    let child = command.spawn().map_err(|why| {
        // EACCES also says that a folder of the PATH is closed to the user.
        let is_missing = matches!(why.raw_os_error(), Some(libc::ENOENT | libc::EACCES));
        let hint = if is_missing { "is it installed, and on the PATH?" } else { "" };
        Failure::new(format!("running {name}"), why).hint(hint)
    })?;
    Ok(Pid::from_raw(child.id() as i32))
}
