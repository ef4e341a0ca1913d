use std::collections::BTreeMap;

use messages::{Capturing, Event, Failure, Recording, RoutesWanted};
use plan::{Flow, Link};
use serde::{Deserialize, Serialize};
use units::Ip;

/// A line from a client.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Run a program in a node. Descriptors: its terminal, or else its standard input, output and error.
    Run {
        /// The node.
        node: String,
        /// The program and its arguments.
        arguments: Vec<String>,
        /// Its environment, whole.
        environment: BTreeMap<String, String>,
        /// Its working directory; `/` if the lab does not have it.
        directory: String,
    },
    /// Signal the program of this connection, with all processes of its group.
    Signal {
        /// The signal's number.
        number: i32,
    },
    /// Ping each host from each other one. Answered by [`Answer::Pings`].
    PingAll {
        /// The hosts.
        hosts: Vec<String>,
        /// The version of IP.
        #[serde(default)]
        ip: Ip,
        /// Each packet is so large, with all headers of IP, and no router may fragment it; if none, it is small.
        #[serde(default)]
        bytes: Option<u16>,
        /// An answer that has not come by then is none.
        timeout_ms: u64,
    },
    /// Carry out flows, whose times count from now. Answered by [`Answer::Flows`].
    Flows {
        /// The flows.
        flows: Vec<Flow>,
        /// Everything ends after this time.
        duration_ns: i64,
    },
    /// Open a socket that sees each frame at an interface of a node, with its time. Answered by [`Answer::Done`], with the
    /// socket's descriptor beside it.
    Capture {
        /// The node.
        node: String,
        /// The name of its interface.
        interface: String,
    },
    /// Capture the frames of links, until a [`Request::Signal`], or until the client is gone. Answered by [`Answer::Told`], once
    /// at the beginning and once at the end: a `captured` or a `refused`.
    CaptureLinks {
        /// The directory, and the links.
        capture: Capturing,
    },
    /// Have another network in place of this one. Answered by [`Answer::Told`]: a `rewired` or a `refused`.
    Rewire {
        /// The file in the lab's directory with its plan.
        plan: String,
    },
    /// Change a link. Answered by [`Answer::Told`]: a `changed` or a `refused`.
    ChangeLink {
        /// The link as it is from then on.
        link: Box<Link>,
    },
    /// Kill or start a routing daemon. Answered by [`Answer::Told`]: a `daemon-changed` or a `refused`.
    ChangeDaemon {
        /// The router's name.
        router: String,
        /// The daemon, such as `ospfd`.
        daemon: String,
        /// True to start the daemon, false to kill it.
        up: bool,
    },
    /// Record the lab from now on. Answered by [`Answer::Told`]: a `recorded` or a `refused`. Descriptor: the lock of the
    /// directory, which is held as long as somebody writes there.
    Record {
        /// The directory, and what is written there.
        recording: Recording,
    },
    /// End the record. Its flows are then in `watched.json` of its directory. Answered by [`Answer::Recorded`], or [`Answer::Told`]: a `refused`.
    EndRecord,
    /// Write the changes of routes into the directory of records that have ended. Answered by [`Answer::Told`]: a
    /// `routes-written` or a `refused`.
    WriteRoutes {
        /// The directory, and the time of the records.
        routes: RoutesWanted,
    },
    /// The links' rates and queues now. Answered by [`Answer::Told`]: a `progress`, or by `done` if there is none yet.
    Look,
    /// End the lab.
    Stop,
}

/// A line to a client.
#[derive(Debug, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// The program runs.
    Started {
        /// Its number among the lab's processes.
        pid: i32,
    },
    /// The program has ended.
    Exited {
        /// Its exit code; 128 and the signal's number if a signal has ended it, as shells say.
        code: i32,
    },
    /// Round-trip times by sender and receiver, in the order of the request; `None`: no answer, or the host itself.
    Pings {
        /// In nanoseconds.
        rtt_ns: Vec<Vec<Option<u64>>>,
    },
    /// The end of flows.
    Flows {
        /// Report of a flow, in the form of `traffic.json`.
        report: serde_json::Value,
    },
    /// The record has ended.
    Recorded {
        /// When since its origin.
        duration_ns: i64,
    },
    /// An event of the run.
    Told {
        /// The event.
        event: Box<Event>,
    },
    /// Request that is done and has no more answers.
    Done,
    /// The request was not carried out.
    Failed {
        /// Why, and what to do.
        #[serde(flatten)]
        failure: Failure,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_lines_that_a_person_can_read() {
        let line = r#"{"do":"run","node":"h1","arguments":["true"],"environment":{"A":"b"},"directory":"/"}"#;
        assert!(matches!(serde_json::from_str(line).unwrap(), Request::Run { node, .. } if node == "h1"));
        assert!(matches!(serde_json::from_str(r#"{"do":"look"}"#).unwrap(), Request::Look));
        assert!(serde_json::from_str::<Request>(r#"{"do":"dance"}"#).is_err());
    }

    #[test]
    fn a_failure_is_one_flat_line() {
        let line = serde_json::to_string(&Answer::Failed { failure: Failure::new("a", "b") }).unwrap();
        assert_eq!(line, r#"{"answer":"failed","what":"a","why":"b","hint":""}"#);
    }
}
