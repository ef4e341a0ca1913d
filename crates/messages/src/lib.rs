//! The messages of the processes of a run, to each other and to the command: JSON lines, and failures that a person can act on.

mod failure;

use std::io::Write;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

pub use failure::Failure;

/// A line from a process of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The lab is up.
    Lab {
        /// From entering the sandbox to the last host.
        build_ms: f64,
    },
    /// A process waits for the origin.
    Ready {
        /// Which.
        process: Process,
    },
    /// Traffic starts at this time.
    Started {
        /// CLOCK_MONOTONIC of time 0.
        origin_ns: i64,
    },
    /// How far the run is.
    Progress {
        /// Since the origin.
        time_ns: i64,
        /// What each flow's receiver has got.
        flows: Vec<FlowProgress>,
    },
    /// A process has written everything and ends.
    Done {
        /// Which.
        process: Process,
    },
    /// A process cannot go on.
    Failed {
        /// Which.
        process: Process,
        /// What it was, why, and what to do.
        #[serde(flatten)]
        failure: Failure,
    },
    /// The lab is gone.
    End,
}

/// Bytes that a flow's receiver has got so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowProgress {
    /// As in the plan.
    pub id: String,
    /// By its application.
    pub received_bytes: u64,
}

/// The processes of an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    /// Outside the lab, waits for its end.
    Helper,
    /// The lab's pid 1.
    Init,
    /// Runs the links.
    Emulator,
    /// Runs the flows.
    Traffic,
    /// Records every ACK.
    Probe,
}

impl Event {
    /// Write the event as one line in one go: other processes may write to the same pipe.
    pub fn emit(&self, out: &mut dyn Write) -> Result<()> {
        let mut line = serde_json::to_vec(self).context("spelling an event")?;
        line.push(b'\n');
        out.write_all(&line).and_then(|()| out.flush()).context("writing an event")
    }

    /// An error of `process` as an event.
    pub fn failed(process: Process, error: &anyhow::Error) -> Event {
        Event::Failed { process, failure: Failure::of(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_flat_line() {
        let failure = Failure::new("binding port 80", "Permission denied").hint("use a port above 1023");
        let event = Event::failed(Process::Traffic, &failure.into());
        let mut out = Vec::new();
        event.emit(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"event\":\"failed\",\"process\":\"traffic\",\"what\":\"binding port 80\",\
             \"why\":\"Permission denied\",\"hint\":\"use a port above 1023\"}\n"
        );
    }

    #[test]
    fn events_survive_the_wire() {
        let flows = vec![FlowProgress { id: "f1".into(), received_bytes: 7 }];
        for event in [Event::End, Event::Ready { process: Process::Emulator }, Event::Progress { time_ns: 5, flows }] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        }
    }
}
