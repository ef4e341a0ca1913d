//! The programs of a plan that are of no flow: servers, and commands that prepare nodes.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lab::Doors;
use messages::Failure;
use nix::sys::signal::Signal;
use plan::{Plan, Program, Ready};

use crate::netns::within;
use crate::process::{Process, ended};
use crate::report::ProgramReport;
use crate::sock_diag::{Protocol, SockDiag};

/// A program that is not ready by then has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// Time for programs between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// The lines of what it said that an error shows.
const SHOWN: usize = 5;

/// All programs, in the plan's order. Dropping this kills them.
pub struct Programs(Vec<Running>);

struct Running {
    name: String,
    process: Process,
}

impl Programs {
    /// Starts them one after another, each once those before it are ready, and waits for the last one. `doors` gives the
    /// way into a node. What a program says goes to `<logs>/<name>.stdout` and `<logs>/<name>.stderr`.
    ///
    /// # Errors
    /// A program failed before it was ready, or was not ready within a minute.
    pub fn start<'a>(plan: &Plan, doors: &dyn Fn(&str) -> Result<Doors<'a>>, logs: &Path) -> Result<Programs> {
        let mut programs = Programs(Vec::new());
        if plan.programs.is_empty() {
            return Ok(programs);
        }
        fs::create_dir_all(logs).with_context(|| format!("creating {}", logs.display()))?;
        for program in &plan.programs {
            let (node, log) = (doors(&program.node)?, logs.join(&program.name));
            let process = Process::spawn(&program.command, node, &log)
                .with_context(|| format!("program {} in {}", program.name, program.node))?;
            if let Some(ready) = program.ready {
                wait(program, ready, &process, node, &log)?;
            }
            programs.0.push(Running { name: program.name.clone(), process });
        }
        Ok(programs)
    }

    /// Asks those that still run to end, and ends them.
    pub fn end(self) -> Vec<ProgramReport> {
        let still: Vec<bool> = self.0.iter().map(|one| one.process.exit_code().is_none()).collect();
        self.0.iter().for_each(|one| one.process.signal(Signal::SIGTERM));
        let begun = Instant::now();
        while self.0.iter().any(|one| one.process.exit_code().is_none()) && begun.elapsed() < GRACE {
            sleep(Duration::from_millis(2));
        }
        let report = |(one, still): (&Running, bool)| ProgramReport {
            name: one.name.clone(),
            exit_code: one.process.exit_code(),
            ended_by_us: still,
        };
        self.0.iter().zip(still).map(report).collect()
    }
}

/// Waits until a program is ready.
fn wait(program: &Program, ready: Ready, process: &Process, node: Doors<'_>, log: &Path) -> Result<()> {
    let mut diag = within(node.net(), SockDiag::open)?;
    let begun = Instant::now();
    loop {
        // A shell may leave a server in the background, and end.
        let code = process.exit_code();
        let (is_ready, lacks) = match ready {
            Ready::Tcp { port } => {
                (diag.listens(Protocol::Tcp, port.get())?, format!("nothing listens on tcp {port} in {}", program.node))
            }
            Ready::Udp { port } => {
                (diag.listens(Protocol::Udp, port.get())?, format!("nothing listens on udp {port} in {}", program.node))
            }
            Ready::Exit {} => (code == Some(0), "it has not ended".to_owned()),
        };
        if is_ready {
            return Ok(());
        }
        let failed = code.filter(|code| *code != 0);
        if failed.is_none() && begun.elapsed() < PATIENCE {
            sleep(LOOK);
            continue;
        }
        let how = failed.map_or_else(|| format!("within {} s, {lacks}", PATIENCE.as_secs()), ended);
        let said = last_lines(log);
        let why = if said.is_empty() { format!("{how}, without a word") } else { format!("{how}. It said: {said}") };
        let hint = format!("its output is in the run's folder logs, in the files {}.*", program.name);
        let what = format!("program {} in {} is not ready", program.name, program.node);
        return Err(Failure::new(what, why).hint(hint).into());
    }
}

/// Returns the last lines of a program, on standard error or, if it was silent there, on standard output.
fn last_lines(log: &Path) -> String {
    let read = |kind: &str| {
        let mut path = log.as_os_str().to_owned();
        path.push(kind);
        let said = fs::read(PathBuf::from(path)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    };
    Some(read(".stderr")).filter(|said| !said.is_empty()).unwrap_or_else(|| read(".stdout"))
}
