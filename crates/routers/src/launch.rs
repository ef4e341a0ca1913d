//! The start of a router's daemons, step by step; nothing here waits, so that all routers start together.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use messages::Failure;

use crate::program::{Program, daemon};
use crate::{Seat, folders};

const ZEBRA: &str = "zebra";
/// The others connect to it there.
const ZEBRA_SOCKET: &str = "zserv.api";
/// The daemon that gives others their configuration, from FRR 9 on.
const MANAGER: &str = "mgmtd";
/// Daemons listen for no Telnet, and say to standard output what happens.
const ARGUMENTS: [&str; 4] = ["-P", "0", "--log", "stdout"];
const SHELLS: [&str; 2] = ["/usr/bin/vtysh", "/usr/local/bin/vtysh"];

/// The condition that a router waits for before its next step.
#[derive(Debug)]
enum Step {
    /// The manager's socket; then comes zebra.
    Manager,
    /// Zebra's socket; then come the other daemons.
    Zebra,
    /// All daemons' sockets for vtysh; then vtysh loads the configuration.
    Daemons,
    /// The end of vtysh.
    Configuration(Box<Program>),
    Running,
}

/// A router whose daemons are being started, or run.
#[derive(Debug)]
pub(crate) struct Router<'a> {
    pub seat: Seat<'a>,
    daemons: Vec<Program>,
    sockets: PathBuf,
    logs: PathBuf,
    step: Step,
    /// The daemons that were started again and have no configuration yet; at first, none of them has.
    again: Vec<String>,
    is_lab: bool,
}

impl<'a> Router<'a> {
    /// Makes a router's folders and starts its first daemon. `dir` is the run's directory.
    pub(crate) fn start(seat: Seat<'a>, dir: &Path, is_lab: bool) -> Result<Router<'a>> {
        let logs = dir.join("logs").join(&seat.name);
        fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
        folders::furnish(&seat)?;
        let sockets = folders::of(&seat.name).join("frr");
        let mut router =
            Router { seat, daemons: Vec::new(), sockets, logs, step: Step::Manager, again: Vec::new(), is_lab };
        if daemon(MANAGER).is_some() {
            router.spawn(MANAGER)?;
        } else {
            router.start_zebra()?;
        }
        Ok(router)
    }

    /// Goes on as far as possible without waiting. True once the daemons have their configuration.
    ///
    /// # Errors
    /// A daemon ended, or the configuration was refused.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        self.check()?;
        match &mut self.step {
            Step::Manager if self.sockets.join("mgmtd_be.sock").exists() => self.start_zebra()?,
            Step::Zebra if self.sockets.join(ZEBRA_SOCKET).exists() => {
                let daemons = self.seat.routing.daemons.clone();
                daemons.iter().try_for_each(|name| self.spawn(name))?;
                self.step = Step::Daemons;
            }
            Step::Daemons => {
                let listens = |daemon: &Program| self.sockets.join(format!("{}.vty", daemon.name)).exists();
                if self.daemons.iter().all(listens) {
                    let shell = SHELLS.iter().map(Path::new).find(|path| path.exists()).context("no vtysh")?;
                    let arguments = match &self.again[..] {
                        [one] => vec!["-b", "-d", one],
                        _ => vec!["-b"],
                    };
                    let shell = Program::start(&self.seat, "vtysh", shell, &arguments, &self.logs)?;
                    self.step = Step::Configuration(Box::new(shell));
                }
            }
            Step::Configuration(shell) => {
                if let Some(status) = shell.status()? {
                    if !status.success() {
                        return Err(shell.failure(status).into());
                    }
                    self.step = Step::Running;
                    self.again.clear();
                }
            }
            Step::Manager | Step::Zebra | Step::Running => {}
        }
        Ok(self.is_running())
    }

    /// All daemons have their configuration.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.step, Step::Running)
    }

    /// Kills a daemon, as a crash does: it says goodbye to nobody.
    pub(crate) fn kill(&mut self, name: &str) {
        self.daemons.retain(|daemon| daemon.name != name);
        self.again.retain(|daemon| daemon != name);
        // Its sockets would look like those of a daemon that listens.
        let _ = fs::remove_file(self.sockets.join(format!("{name}.vty")));
        if name == ZEBRA {
            let _ = fs::remove_file(self.sockets.join(ZEBRA_SOCKET));
        }
    }

    /// Takes daemons that ended by themselves as killed, and returns their names: in a lab, its user may have done it.
    pub(crate) fn lose_dead(&mut self) -> Result<Vec<String>> {
        let mut dead = Vec::new();
        for index in 0..self.daemons.len() {
            if !self.is_starting(index) && self.daemons[index].status()?.is_some() {
                dead.push(self.daemons[index].name.clone());
            }
        }
        dead.iter().for_each(|name| self.kill(name));
        Ok(dead)
    }

    /// Starts a daemon that was killed. `advance` gives it its configuration.
    pub(crate) fn start_again(&mut self, name: &str) -> Result<()> {
        self.spawn(name)?;
        self.again.push(name.to_owned());
        self.step = Step::Daemons;
        Ok(())
    }

    /// The programs that run.
    pub(crate) fn daemons(&self) -> &[Program] {
        &self.daemons
    }

    /// # Errors
    /// A daemon ended; in a lab, one that has no configuration yet.
    pub(crate) fn check(&mut self) -> Result<()> {
        for index in 0..self.daemons.len() {
            if self.is_lab && !self.is_starting(index) {
                continue;
            }
            if let Some(status) = self.daemons[index].status()? {
                return Err(self.daemons[index].failure(status).into());
            }
        }
        Ok(())
    }

    /// The daemon has no configuration yet.
    fn is_starting(&self, index: usize) -> bool {
        !self.is_running() && (self.again.is_empty() || self.again.contains(&self.daemons[index].name))
    }

    fn start_zebra(&mut self) -> Result<()> {
        self.step = Step::Zebra;
        self.spawn(ZEBRA)
    }

    fn spawn(&mut self, name: &str) -> Result<()> {
        let path = daemon(name).ok_or_else(|| {
            Failure::new(format!("router {}: {name}", self.seat.name), "this machine has no such daemon")
                .hint("install FRRouting: on Debian, the package is called frr")
        })?;
        self.daemons.push(Program::start(&self.seat, name, &path, &ARGUMENTS, &self.logs)?);
        Ok(())
    }
}
