//! A program of a QUIC flow.

use std::cell::RefCell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command};

use anyhow::{Context, Result, anyhow};
use lab::Doors;
use messages::Failure;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use quic_lines::{Line, Order, line, parse};

use crate::process::{Process, ended};

/// Environment variable with the path of the program. Without it, the program is on the PATH.
const VARIABLE: &str = "DUMBBELL_QUIC";
const NAME: &str = "dumbbell-quic";
/// The most bytes that a program writes between two looks, and that are read of what it says on standard error. A sample
/// has 500.
const MOST_BYTES: usize = 4 << 20;

/// One of both programs.
pub struct End {
    process: Process,
    orders: ChildStdin,
    output: RefCell<Output<ChildStdout>>,
    stderr: PathBuf,
}

struct Output<R> {
    pipe: R,
    pending: Vec<u8>,
    /// Lines that nobody has taken yet.
    lines: Vec<Line>,
    /// Bytes of these lines.
    waiting: usize,
    /// The pipe has come to its end.
    has_ended: bool,
}

impl End {
    /// Starts the program, or another build of it, with these arguments in a node.
    pub fn start(build: Option<&str>, arguments: &[&OsStr], node: Doors<'_>, log: &Path) -> Result<End> {
        let program = program(build)?;
        let mut command = Command::new(&program);
        command.args(arguments);
        let (process, orders, pipe) = Process::spawn_piped(command, node, log).map_err(|error| {
            let hint = "build it: make quic; dumbbell doctor says whether it is there";
            Failure::new(format!("cannot start {}", program.display()), format!("{error:#}")).hint(hint)
        })?;
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).context("preparing a pipe")?;
        let mut stderr = log.as_os_str().to_owned();
        stderr.push(".stderr");
        let output = RefCell::new(Output::new(pipe));
        Ok(End { process, orders, output, stderr: stderr.into() })
    }

    /// True if the program has its socket open.
    ///
    /// # Errors
    /// It has ended.
    pub fn is_ready(&self) -> Result<bool> {
        let mut output = self.output.borrow_mut();
        output.read()?;
        if output.lines.iter().any(|line| matches!(line, Line::Ready(_))) {
            return Ok(true);
        }
        match self.process.exit_code() {
            None => Ok(false),
            Some(code) => {
                let mut said = String::new();
                if let Ok(file) = File::open(&self.stderr) {
                    // A part that is no text is left out.
                    let _ = file.take(MOST_BYTES as u64).read_to_string(&mut said);
                }
                Err(anyhow!("it {} before the run began. It said: {}", ended(code), said.trim()))
            }
        }
    }

    /// Gives an order. A program that has ended gets none.
    pub fn order(&mut self, order: Order) {
        let _ = self.orders.write_all(line(&order).as_bytes());
    }

    /// Takes the lines that it has written by now.
    ///
    /// # Errors
    /// It has written something else.
    pub fn read(&mut self) -> Result<Vec<Line>> {
        let output = self.output.get_mut();
        output.read()?;
        Ok(output.take())
    }

    /// The pipe of its lines.
    pub fn pipe(&mut self) -> BorrowedFd<'_> {
        self.output.get_mut().pipe.as_fd()
    }

    /// True if it will write no more lines.
    pub fn is_silent(&mut self) -> bool {
        self.output.get_mut().has_ended
    }

    /// An exit code, or minus the signal that ended it; `None` while it runs.
    pub fn exit_code(&self) -> Option<i32> {
        self.process.exit_code()
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.process.signal(Signal::SIGKILL);
    }
}

/// Path of the program. A build has its name behind that of the program, beside it.
fn program(build: Option<&str>) -> Result<OsString> {
    let mut program = env::var_os(VARIABLE).unwrap_or_else(|| OsString::from(NAME));
    if let Some(build) = build {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !build.bytes().all(is_plain) {
            return Err(anyhow!("{build:?} is no name of a build: letters, digits, and - _ ."));
        }
        program.push("-");
        program.push(build);
    }
    Ok(program)
}

impl<R: Read> Output<R> {
    fn new(pipe: R) -> Output<R> {
        Output { pipe, pending: Vec::new(), lines: Vec::new(), waiting: 0, has_ended: false }
    }

    /// # Errors
    /// The program has written what is no line of its own, or so much that something is wrong with it.
    fn read(&mut self) -> Result<()> {
        let mut room = [0; 1 << 16];
        loop {
            match self.pipe.read(&mut room) {
                Ok(0) => {
                    self.has_ended = true;
                    break;
                }
                Ok(bytes) => self.pending.extend_from_slice(&room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("reading from a QUIC program"),
            }
            if self.waiting + self.pending.len() > MOST_BYTES {
                let why = format!("more than {} MiB between two looks at its lines", MOST_BYTES >> 20);
                return Err(Failure::new("a QUIC program writes too much", why).into());
            }
        }
        let Some(end) = self.pending.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let whole: Vec<u8> = self.pending.drain(..=end).collect();
        self.waiting += whole.len();
        let text = String::from_utf8_lossy(&whole);
        for one in text.lines() {
            let why = |error| Failure::new("a QUIC program wrote a line that is none of its own", error);
            self.lines.push(parse(one).map_err(why)?);
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Line> {
        self.waiting = 0;
        std::mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_program_that_writes_without_end_is_given_up() {
        let lines = line(&Line::Connected { time_ns: 1 }).repeat(MOST_BYTES / 8);
        let sources: [Box<dyn Read>; 2] = [Box::new(io::repeat(b'x')), Box::new(io::Cursor::new(lines))];
        for pipe in sources {
            let mut output = Output::new(pipe);
            let error = output.read().unwrap_err().to_string();
            assert!(error.contains("writes too much"), "{error}");
            assert!(output.pending.len() < 2 * MOST_BYTES);
        }
    }

    #[test]
    fn a_build_is_a_program_beside_the_other() {
        let path = program(Some("branch-2.1")).unwrap();
        assert!(path.to_str().unwrap().ends_with("dumbbell-quic-branch-2.1"), "{path:?}");
        assert!(program(Some("/../../sh")).is_err());
    }

    #[test]
    fn lines_that_are_taken_make_room_for_others() {
        let some = line(&Line::Connected { time_ns: 1 }).repeat(50_000);
        let mut output = Output::new(io::Cursor::new(Vec::new()));
        for _ in 0..4 {
            output.pipe = io::Cursor::new(some.clone().into_bytes());
            output.read().unwrap();
            assert_eq!(output.take().len(), 50_000);
        }
    }
}
