//! The flows of all programs while a lab is recorded: a child samples them.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use messages::{Failure, Order, Recording};
use nix::fcntl::OFlag;
use nix::unistd::{ForkResult, Pid, fork, pipe2};
use serde::Serialize;
use traffic::Watched;
use units::Duration;

use crate::Setting;

/// The file with the flows that were seen, in the directory of the records.
const FILE: &str = "watched.json";

/// Lines of that file.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Report {
    Flows(Vec<Watched>),
    Failed(Failure),
}

/// The child. It ends when this is dropped.
pub(crate) struct Recorder {
    pub pid: Pid,
    stop: File,
    /// The locks of the directory: somebody writes there.
    _lock: Vec<OwnedFd>,
    /// The client that waits for its end, and how long the record was.
    pub awaited: Option<(u64, i64)>,
}

impl Recorder {
    /// Sample from `origin_ns` on, a time of CLOCK_MONOTONIC.
    pub(crate) fn start(
        setting: &Setting<'_>,
        recording: &Recording,
        origin_ns: i64,
        lock: Vec<OwnedFd>,
    ) -> Result<Recorder> {
        let (control, stop) = pipe2(OFlag::O_CLOEXEC).context("making a pipe")?;
        // SAFETY: the agent has one thread; the child runs only our own code until it exits.
        match unsafe { fork() }.context("starting a child of the agent")? {
            ForkResult::Child => {
                drop(stop);
                let _ = nix::unistd::setsid();
                // SAFETY: a plain system call.
                unsafe { libc::prctl(libc::PR_SET_NAME, c"db-sockets".as_ptr()) };
                let written = watch(setting, recording, origin_ns, control);
                // SAFETY: ends the process without running what the interpreter registered in its parent.
                unsafe { libc::_exit(i32::from(written.is_err())) }
            }
            ForkResult::Parent { child } => {
                Ok(Recorder { pid: child, stop: File::from(stop), _lock: lock, awaited: None })
            }
        }
    }

    /// The record has ended after so long. The client with this number waits until all is written.
    pub(crate) fn stop(&mut self, client: u64, duration_ns: i64) {
        self.awaited = Some((client, duration_ns));
        // One that has ended needs no order.
        let _ = Order::Stop.line().map(|line| self.stop.write_all(&line));
    }
}

fn watch(setting: &Setting<'_>, recording: &Recording, origin_ns: i64, control: OwnedFd) -> Result<()> {
    let dir = Path::new(&recording.directory);
    let netns = |node: &str| setting.node(node).map(|node| node.netns.as_fd());
    let grid = (origin_ns, Duration(recording.sample_interval_ns));
    let said = match traffic::watch(&setting.plan, &netns, setting.names, setting.datagrams, dir, grid, control) {
        Ok(flows) => Report::Flows(flows),
        Err(error) => Report::Failed(Failure::of(&error)),
    };
    std::fs::write(dir.join(FILE), serde_json::to_vec(&said)?).with_context(|| format!("writing {FILE}"))
}
