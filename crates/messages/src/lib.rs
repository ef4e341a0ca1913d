//! The messages between the processes of a run and the command: events up, orders down, a JSON line each; and failures
//! that a person can act on.

mod failure;
mod order;
mod progress;
mod schema;

use std::io::Write;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use failure::Failure;
pub use order::{Capturing, Inbox, Order, Recording, RoutesWanted};
pub use progress::{
    BbrProgress, FlowCounts, FlowProgress, Health, LinkCounts, LinkProgress, Meter, PROGRESS, PUBLICATION,
};
pub use schema::schema;

/// A line from a process of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The lab is up.
    Lab {
        /// Time from entering the sandbox to the last host.
        build_ms: f64,
    },
    /// A process waits for the origin.
    Ready {
        /// The process that waits.
        process: Process,
    },
    /// Time 0 waits for routing or a spanning tree, about once a second.
    Converging {
        /// Routers whose kernels lack a route, 0 while routes still change; or ports of bridges that do not forward yet.
        lacking: u32,
    },
    /// Traffic starts at this time.
    Started {
        /// CLOCK_MONOTONIC of time 0.
        origin_ns: i64,
    },
    /// The run's progress, about ten times a second.
    Progress {
        /// Since the origin.
        time_ns: i64,
        /// Every flow, in the plan's order.
        flows: Vec<FlowProgress>,
        /// The links that can do something to a packet, in the plan's order.
        links: Vec<LinkProgress>,
        /// How late the network was so far; `None`: nothing can be late, or nothing was sent yet.
        health: Option<Health>,
    },
    /// A link is another from a time on, because of an order.
    Changed {
        /// From when, since the origin.
        time_ns: i64,
        /// The link as it is from then on.
        link: Box<plan::Link>,
    },
    /// A routing daemon was killed or started, because of an order.
    #[serde(rename = "daemon-changed")]
    DaemonChanged {
        /// The router, the daemon, what happened to it, and when since the origin.
        #[serde(flatten)]
        change: plan::DaemonChange,
    },
    /// The records of a lab have begun or ended, because of an order.
    #[schemars(skip)]
    Recorded {
        /// When since the lab's origin.
        time_ns: i64,
    },
    /// The changes of routes were written, because of an order.
    #[serde(rename = "routes-written")]
    #[schemars(skip)]
    RoutesWritten,
    /// A capture of links has begun, or has ended, because of an order.
    #[schemars(skip)]
    Captured {
        /// Frames in the file, those that come to a link and those that leave one; 0 at the beginning.
        frames: u64,
    },
    /// The links take no more frames, because of an order.
    #[schemars(skip)]
    Retired {
        /// CLOCK_REALTIME of the last frame that they took.
        last_stamp_ns: i64,
    },
    /// The network of a lab is another, because of an order.
    #[schemars(skip)]
    Rewired {
        /// When since the lab's origin.
        time_ns: i64,
        /// The nodes that were added and have programs, whose descriptors the agent is given in this order.
        added: Vec<String>,
        /// Routes, neighbours and sysctls that the kernel has refused.
        refused: Vec<String>,
    },
    /// An order was not carried out. The run goes on as if it had not been given.
    Refused {
        /// Why, and what to do.
        #[serde(flatten)]
        failure: Failure,
    },
    /// A service passes on an order that somebody has given it.
    #[schemars(skip)]
    Ordered {
        /// The order.
        order: Box<Order>,
    },
    /// A process has written everything and ends.
    Done {
        /// The process that ends.
        process: Process,
    },
    /// A process cannot go on.
    Failed {
        /// The process that failed.
        process: Process,
        /// Failure: what it was, why, and what to do.
        #[serde(flatten)]
        failure: Failure,
    },
    /// The lab is gone.
    End,
}

/// The processes of an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Process {
    /// Outside the lab, waits for its end.
    Helper,
    /// The lab's pid 1.
    Init,
    /// Runs the links.
    Emulator,
    /// Waits for the bridges' spanning tree.
    Bridges,
    /// Runs the routers' daemons.
    Routers,
    /// Runs the flows.
    Traffic,
    /// Records every ACK.
    Probe,
    /// Carries out what users ask of a lab.
    Agent,
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
        let counts = FlowCounts {
            time_ns: 5,
            received_bytes: 7,
            srtt_us: None,
            cwnd_packets: Some(10),
            retransmitted_segments: Some(0),
            bytes_in_flight: Some(1448),
            bbr: None,
        };
        let flows = Meter::new(["f1".into()], []).flows(std::iter::once(counts));
        let progress = Event::Progress { time_ns: 5, flows, links: Vec::new(), health: None };
        let changed = Event::Changed { time_ns: 6, link: Box::new(plan::Link::transparent("bottleneck", "a", "b")) };
        for event in [Event::End, Event::Ready { process: Process::Emulator }, progress, changed] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        }
    }
}
