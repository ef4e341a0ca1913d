//! Tests everything that a lab needs.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use anyhow::{Context, Result};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, pipe};
use plan::Plan;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{enter, is_unprivileged, mounts};
use crate::Lab;
use messages::Failure;

/// One requirement of a lab on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The tested action.
    pub name: String,
    /// True if it works.
    pub ok: bool,
    /// The observation.
    pub detail: String,
    /// A fix if it does not work; else empty.
    pub fix: String,
}

/// Tries each thing that a lab needs, in a child process, up to the first that fails; changes nothing here.
pub fn check() -> Result<Vec<Fact>> {
    let (read, write) = pipe()?;
    // SAFETY: the caller may have other threads. The child has only this one, and waits for no lock but the allocator's,
    // which the C library keeps usable across a fork.
    let child = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let done = outside(&mut Facts(write.into())).is_ok();
            // SAFETY: ends this copy of the caller without running the caller's exit handlers.
            unsafe { libc::_exit(i32::from(!done)) }
        }
    };
    drop(write);
    let lines = BufReader::new(File::from(read)).lines();
    let facts = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect();
    waitpid(child, None).context("waiting for the check of the sandbox")?;
    facts
}

/// Pipe on which a child reports its results, one JSON object a line.
struct Facts(File);

impl Facts {
    /// Records a test. An error ends the checks, because later ones depend on it.
    fn tried<T>(&mut self, name: &str, outcome: Result<T>, detail: impl FnOnce(&T) -> String) -> Result<T> {
        let (detail, fix) = match &outcome {
            Ok(value) => (detail(value), String::new()),
            Err(error) => explain(error),
        };
        let fact = Fact { name: name.to_owned(), ok: outcome.is_ok(), detail, fix };
        self.0.write_all(format!("{}\n", serde_json::to_string(&fact)?).as_bytes())?;
        outcome
    }
}

/// The chain of failures, and the hint at its end.
fn explain(error: &anyhow::Error) -> (String, String) {
    let hint = error.chain().find_map(|cause| cause.downcast_ref::<Failure>()).map(|error| error.hint.clone());
    let text = format!("{error:#}");
    (text.split("\nhint: ").next().unwrap_or_default().to_owned(), hint.unwrap_or_default())
}

fn outside(facts: &mut Facts) -> Result<()> {
    let rootless = is_unprivileged();
    let privileges =
        if rootless { "an ordinary user: labs get a user namespace" } else { "root: no user namespace needed" };
    facts.tried("privileges", Ok(()), |()| privileges.to_owned())?;
    facts.tried("namespaces", enter(rootless), |()| "user (if needed), mount, network, PID, IPC, UTS".to_owned())?;
    // SAFETY: this process has one thread.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => waitpid(child, None).map(drop).map_err(Into::into),
        ForkResult::Child => {
            let done = inside(facts).is_ok();
            // SAFETY: as in `check`.
            unsafe { libc::_exit(i32::from(!done)) }
        }
    }
}

fn inside(facts: &mut Facts) -> Result<()> {
    facts.tried("mounts", mounts(), |mounts| match mounts.proc {
        true => "a fresh /proc and /run".to_owned(),
        false => "a fresh /run; this container refuses a fresh /proc, which labs can do without".to_owned(),
    })?;
    let sysctl = json!({"net.ipv4.tcp_rmem": "4096 131072 8388608"});
    let host = |name, address| json!({"kind": "host", "name": name, "address": address, "sysctl": sysctl});
    let plan = Plan::of(json!({"name": "check", "duration_ns": 1, "seed": 1, "flows": [], "links": [],
        "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
        "record": {"sample_interval_ns": 1, "packets": false},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}}))?;
    let built = Lab::build(&plan);
    let lab = facts.tried("hosts", built, |_| "network namespaces, veth pairs, routes, sysctls".to_owned())?;
    let offloads = lab.offloads().and_then(|hosts| {
        let on: Vec<String> = hosts["a"].iter().filter(|(_, on)| **on).map(|(feature, _)| feature.clone()).collect();
        anyhow::ensure!(on.is_empty(), "these stay on: {}", on.join(", "));
        Ok(hosts["a"].len())
    });
    facts.tried("offloads", offloads, |count| format!("all {count} of a veth pair can be switched off"))?;
    let raw =
        socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll).map_err(|why| {
            Failure::new("opening a packet socket", why.desc())
                .hint("the kernel needs CONFIG_PACKET; as root: `modprobe af_packet`")
                .into()
        });
    facts.tried("packet sockets", raw, |_| "the emulator can read and write frames".to_owned())?;
    Ok(())
}
