//! Waits until the bridges of a lab have their spanning tree.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab::{Lab, Port, PortState};
use messages::{Event, Failure, Inbox, Order, Process};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use plan::{Node, Plan};

/// How often the ports are looked at: a tree takes seconds.
const LOOK: Duration = Duration::from_millis(20);
/// How often the command hears that there is no tree yet.
const TELL: Duration = Duration::from_secs(1);
/// The ports that an error names.
const NAMED: usize = 3;

/// The bridges with a part in a spanning tree, by name.
pub(crate) fn of(plan: &Plan) -> Vec<&str> {
    plan.nodes.iter().filter(|node| node.stp().is_some()).map(Node::name).collect()
}

/// Says on `events` that it is ready once each port of these bridges forwards or is blocked, which is to take no longer than
/// `limit`. Then it waits for `control` to say stop.
///
/// # Errors
/// It takes longer, or the run is stopped before it begins.
pub(crate) fn run(
    bridges: &[&str],
    lab: &Lab,
    limit: Option<Duration>,
    control: OwnedFd,
    events: &mut File,
) -> Result<()> {
    let mut control = Inbox::new(File::from(control));
    let began = Instant::now();
    let mut tell = began + TELL;
    while let Some(limit) = limit {
        let mut waiting = lab.ports(bridges)?;
        waiting.retain(|port| !matches!(port.state, PortState::Forwarding | PortState::Blocking));
        if waiting.is_empty() {
            break;
        }
        ensure!(began.elapsed() < limit, late(limit, &waiting));
        if Instant::now() >= tell {
            tell += TELL;
            Event::Converging { lacking: waiting.len() as u32 }.emit(events)?;
        }
        let told = is_stopped(&mut control, Some(LOOK))?;
        ensure!(!told, Failure::new("waiting for the spanning tree", "the run was stopped before it began"));
    }
    Event::Ready { process: Process::Bridges }.emit(events)?;
    while !is_stopped(&mut control, None)? {}
    Event::Done { process: Process::Bridges }.emit(events)
}

/// Wait for orders, at most for `timeout`. True once there is one to stop.
fn is_stopped(control: &mut Inbox<File>, timeout: Option<Duration>) -> Result<bool> {
    let timeout = timeout.map_or(Ok(PollTimeout::NONE), PollTimeout::try_from).context("a time to wait")?;
    match poll(&mut [PollFd::new(control.pipe().as_fd(), PollFlags::POLLIN)], timeout) {
        Ok(0) | Err(Errno::EINTR) => return Ok(false),
        Ok(_) => {}
        Err(errno) => return Err(errno).context("waiting for orders"),
    }
    let stops = control.receive()?.iter().any(|order| matches!(order, Order::Stop | Order::StopNow));
    Ok(stops || control.is_closed())
}

fn late(limit: Duration, waiting: &[Port]) -> Failure {
    let words = |port: &Port| {
        let what = if port.state == PortState::Disabled { "has no carrier" } else { "does not forward yet" };
        format!("{} of {} {what}", port.interface, port.bridge)
    };
    let mut why: Vec<String> = waiting.iter().take(NAMED).map(words).collect();
    why.extend((waiting.len() > NAMED).then(|| format!("and {} more", waiting.len() - NAMED)));
    let what = format!("the bridges have no spanning tree within {} s", limit.as_secs_f64());
    Failure::new(what, why.join(", ")).hint("raise topology.wait; topology.timers = \"fast\" takes about 4 s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_wait_are_named() {
        let port = |number: usize, state| Port { bridge: "s1".into(), interface: format!("eth{number}"), state };
        let mut waiting = vec![port(1, PortState::Waiting), port(2, PortState::Disabled)];
        let said = late(Duration::from_secs(2), &waiting).to_string();
        let wanted =
            "the bridges have no spanning tree within 2 s: eth1 of s1 does not forward yet, eth2 of s1 has no carrier";
        assert!(said.starts_with(wanted), "{said}");
        waiting.extend((3..9).map(|number| port(number, PortState::Waiting)));
        assert!(late(Duration::from_secs(2), &waiting).to_string().contains("and 5 more"));
    }
}
