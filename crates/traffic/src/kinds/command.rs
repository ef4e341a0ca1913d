//! A flow that is a program of the user's, with a server if it needs one.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bpf::Names;
use lab::Doors;
use messages::Failure;
use nix::sys::epoll::EpollFlags;
use nix::sys::signal::Signal;
use units::Time;

use crate::agent::Agent;
use crate::diagnosed::{Diagnosed, Totals};
use crate::poller::Source;
use crate::process::{Process, ended};
use crate::report::{CommandReport, FlowReport};
use crate::shared::Shared;
use crate::sock_diag::SockDiag;

/// The program at the sending host and its server at the receiving host.
pub struct CommandFlow<'a> {
    index: u32,
    id: String,
    command: String,
    server_command: Option<String>,
    port: u16,
    from_host: String,
    to_host: String,
    from_node: Doors<'a>,
    logs: PathBuf,
    client: Option<Process>,
    server: Option<Process>,
    sockets: Diagnosed,
    names: Names,
    settled: bool,
    client_ended_by_us: bool,
    server_ended_by_us: bool,
    report: FlowReport,
}

impl<'a> CommandFlow<'a> {
    pub fn new(
        index: u32,
        flow: &plan::Flow,
        (command, server_command): (String, Option<String>),
        (from, to): (IpAddr, SocketAddr),
        from_node: Doors<'a>,
        names: &Names,
        dir: &Path,
    ) -> Result<CommandFlow<'a>> {
        let logs = dir.join("logs");
        fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
        Ok(CommandFlow {
            index,
            id: flow.id.clone(),
            command,
            server_command,
            port: flow.port,
            from_host: flow.from.clone(),
            to_host: flow.to.clone(),
            from_node,
            logs,
            client: None,
            server: None,
            sockets: Diagnosed::new(index, flow, from, to),
            names: names.clone(),
            settled: false,
            client_ended_by_us: false,
            server_ended_by_us: false,
            report: FlowReport { id: flow.id.clone(), ..FlowReport::default() },
        })
    }

    /// If the program has ended by itself, note how. It is watched no longer.
    fn on_client(&mut self, shared: &Shared) -> Result<()> {
        let Some(client) = &self.client else { return Ok(()) };
        shared.poller.remove(client.pidfd())?;
        match client.exit_code() {
            Some(0) => self.report.completed = true,
            Some(code) => self.report.error = Some(format!("its command {}; see logs/{}.stderr", ended(code), self.id)),
            None => {}
        }
        Ok(())
    }

    /// Same as `on_client`, for the server.
    fn on_server(&mut self, shared: &Shared) -> Result<()> {
        let Some(server) = &self.server else { return Ok(()) };
        shared.poller.remove(server.pidfd())?;
        if let Some(code) = server.exit_code().filter(|code| *code != 0) {
            self.report.error = Some(format!("its server {}; see logs/{}.server.stderr", ended(code), self.id));
        }
        Ok(())
    }

    /// Signal both programs with all their children.
    fn signal(&self, signal: Signal) {
        self.programs().for_each(|program| program.signal(signal));
    }

    fn programs(&self) -> impl Iterator<Item = &Process> {
        self.client.iter().chain(&self.server)
    }

    fn open_diagnosis(host: &str, shared: &mut Shared) -> Result<()> {
        if !shared.diags.contains_key(host) {
            shared.diags.insert(host.to_owned(), SockDiag::open()?);
        }
        Ok(())
    }
}

impl Agent for CommandFlow<'_> {
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()> {
        CommandFlow::open_diagnosis(&self.to_host, shared)
    }

    fn open_sender(&mut self, _: IpAddr, shared: &mut Shared) -> Result<()> {
        CommandFlow::open_diagnosis(&self.from_host, shared)
    }

    fn start_server<'d>(&mut self, node: &dyn Fn() -> Result<Doors<'d>>, shared: &Shared) -> Result<()> {
        let Some(line) = &self.server_command else { return Ok(()) };
        let server = Process::spawn(line, node()?, &self.logs.join(format!("{}.server", self.id)))
            .with_context(|| format!("flow {}: its server", self.id))?;
        shared.poller.add(server.pidfd(), Source::Server(self.index), EpollFlags::EPOLLIN)?;
        self.server = Some(server);
        Ok(())
    }

    /// True if a program listens on the flow's port, or none will.
    fn is_served(&self, shared: &mut Shared) -> Result<bool> {
        let Some(server) = &self.server else { return Ok(true) };
        if let Some(code) = server.exit_code().filter(|code| *code != 0) {
            let log = self.logs.join(format!("{}.server.stderr", self.id));
            let said = fs::read_to_string(&log).unwrap_or_default();
            let why = format!("{} before the run began. It said: {}", ended(code), said.trim());
            let hint = "run the server command by hand; its output is in the run's logs folder";
            return Err(Failure::new(format!("flow {}: its server", self.id), why).hint(hint).into());
        }
        let Some(diag) = shared.diags.get_mut(&self.to_host) else { return Ok(true) };
        Ok(diag.has_server(self.port)?)
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        self.report.start_ns = Some(shared.clock.now().as_nanos());
        let client = Process::spawn(&self.command, self.from_node, &self.logs.join(&self.id))
            .with_context(|| format!("flow {}: its command", self.id))?;
        shared.poller.add(client.pidfd(), Source::Client(self.index), EpollFlags::EPOLLIN)?;
        self.client = Some(client);
        Ok(None)
    }

    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()> {
        match source {
            Source::Client(_) => self.on_client(shared),
            Source::Server(_) => self.on_server(shared),
            source => unreachable!("a program has no {source:?}"),
        }
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        if self.client.is_none() || self.settled {
            return Ok(());
        }
        let before = self.sockets.totals().received_bytes;
        self.sockets.sample(shared).with_context(|| format!("flow {}: asking for its sockets", self.id))?;
        let Totals { received_bytes, .. } = self.sockets.totals();
        if received_bytes > before {
            let now = shared.clock.now().as_nanos();
            self.report.first_byte_ns.get_or_insert(now);
            self.report.end_ns = Some(now);
        }
        Ok(())
    }

    /// Asks both programs to end, too.
    fn settle(&mut self, shared: &mut Shared, on_time: bool) -> Result<()> {
        self.sample(shared)?;
        if std::mem::replace(&mut self.settled, true) {
            return Ok(());
        }
        // From here on their exit codes answer the signal and are no errors; earlier ones are.
        self.on_client(shared)?;
        self.on_server(shared)?;
        let runs = |program: &Option<Process>| program.as_ref().is_some_and(|p| p.exit_code().is_none());
        self.client_ended_by_us = runs(&self.client);
        self.server_ended_by_us = runs(&self.server);
        if self.client_ended_by_us {
            self.report.completed = on_time;
        }
        self.signal(Signal::SIGTERM);
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.programs().any(|program| program.exit_code().is_none())
    }

    fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn received_bytes(&self) -> u64 {
        self.sockets.totals().received_bytes
    }

    fn report(&self, _: Time) -> FlowReport {
        let totals = self.sockets.totals();
        let exit_code = |program: &Option<Process>| program.as_ref().and_then(Process::exit_code);
        FlowReport {
            cc_actual: self.sockets.cc.as_deref().map(|cc| self.names.label(cc).to_owned()),
            received_bytes: totals.received_bytes,
            sent_bytes: totals.sent_bytes,
            retransmitted_segments: totals.retransmitted_segments,
            busy_us: totals.busy_us,
            rwnd_limited_us: totals.rwnd_limited_us,
            sndbuf_limited_us: totals.sndbuf_limited_us,
            command: Some(CommandReport {
                exit_code: exit_code(&self.client),
                ended_by_us: self.client_ended_by_us,
                server_exit_code: exit_code(&self.server),
                server_ended_by_us: self.server_ended_by_us,
            }),
            ..self.report.clone()
        }
    }
}

/// A command line with the kernel's name of its congestion control. `${cc}` is the shell's.
pub fn with_cc(line: &str, cc: &str) -> String {
    let mut parts = line.split("{cc}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        filled.push_str(if filled.ends_with('$') { "{cc}" } else { cc });
        filled.push_str(part);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_the_kernels_algorithm() {
        assert_eq!(with_cc("iperf3 -C {cc} -c x", "db3_0a1b2c"), "iperf3 -C db3_0a1b2c -c x");
        assert_eq!(with_cc("{cc}{cc}", "reno"), "renoreno");
        assert_eq!(with_cc("cc=1; echo ${cc} {cc}", "reno"), "cc=1; echo ${cc} reno");
        assert_eq!(with_cc("true", "reno"), "true");
    }
}
