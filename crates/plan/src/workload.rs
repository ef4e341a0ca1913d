//! The kinds of flow: what each sends, and the facts that follow from it. Other crates ask for facts, unless they carry
//! out a kind.

mod rpc;

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Mtu, Rate};

use crate::{Echo, Flow, OnOff};

pub use rpc::{CdfPoint, Pace, Request, Requests, Sizes};

/// The data that a flow sends.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Workload {
    /// TCP flow that sends as much as TCP allows.
    Tcp {
        /// Congestion control: the label of one of the plan's `algorithms`, or else the kernel's name of one.
        cc: String,
        /// Stop after this many bytes of application data.
        bytes: Option<u64>,
        /// Negotiate ECN (RFC 3168).
        ecn: bool,
        /// The application pauses now and then; only without `bytes`.
        #[serde(default)]
        on_off: Option<OnOff>,
    },
    /// Datagrams at a constant rate, each at its own time.
    Udp {
        /// The rate of whole frames.
        rate_bps: Rate,
        /// UDP payload of each datagram.
        payload_bytes: u32,
        /// Stop after this many bytes of payload.
        bytes: Option<u64>,
        /// Codepoint of its packets.
        #[serde(default)]
        ecn: Ecn,
        /// Pauses of the application; only without `bytes`.
        #[serde(default)]
        on_off: Option<OnOff>,
    },
    /// Echo requests at an interval, which measure round trips under load.
    Ping {
        /// End that answers.
        #[serde(default)]
        echo: Echo,
        /// From one request to the next.
        interval_ns: Duration,
        /// ICMP or UDP payload of each request.
        payload_bytes: u32,
    },
    /// Requests and their answers over a TCP connection, which the sending host opens.
    Rpc {
        /// Congestion control of both ends, as a TCP flow's.
        cc: String,
        /// Negotiate ECN (RFC 3168).
        ecn: bool,
        /// Sizes of requests.
        request: Sizes,
        /// Sizes of answers.
        answer: Sizes,
        /// Times of requests.
        pace: Pace,
        /// Stop after this many requests.
        requests: Option<u64>,
    },
    /// One QUIC connection over a stack of others in user space.
    Quic {
        /// Name of the stack; behind `@`, the build of the program that has it, if it is not the usual one.
        stack: String,
        /// The stack's name of its congestion control.
        cc: String,
        /// Stop after this many bytes of application data.
        bytes: Option<u64>,
        /// Rate of the application data; without one, the application writes as much as the stack takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_bps: Option<Rate>,
        /// Pauses of the application; only without `bytes`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_off: Option<OnOff>,
        /// Keep the stack's qlog of both ends.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schemars(extend("default" = false))]
        qlog: bool,
    },
    /// Any program, run in the sending host's namespace.
    Command {
        /// Shell command line, placeholders filled in.
        command: String,
        /// Shell command line of its peer, run in the receiving host's namespace before it.
        server_command: Option<String>,
        /// Congestion control, as a TCP flow's `cc`: `{cc}` in both command lines becomes the name that the kernel knows it
        /// by.
        #[serde(default)]
        cc: Option<String>,
    },
}

/// ECN codepoint of packets as they are sent (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// 00.
    #[default]
    NotEct,
    /// 01: low latency, low loss (RFC 9331).
    Ect1,
    /// 10.
    Ect0,
}

/// Protocol that carries a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Segments of TCP.
    Tcp,
    /// Datagrams with this many bytes of payload.
    Udp(u32),
    /// UDP datagrams whose sizes their program chooses.
    Quic,
    /// Echo requests, of ICMP or ICMPv6.
    Icmp,
}

impl Workload {
    /// Name of the kind, as in plans and records.
    pub fn kind(&self) -> &'static str {
        match self {
            Workload::Tcp { .. } => "tcp",
            Workload::Udp { .. } => "udp",
            Workload::Ping { .. } => "ping",
            Workload::Rpc { .. } => "rpc",
            Workload::Quic { .. } => "quic",
            Workload::Command { .. } => "command",
        }
    }

    /// Protocol of its packets; `None` of programs, which may open connections of any.
    pub fn transport(&self) -> Option<Transport> {
        match self {
            Workload::Tcp { .. } | Workload::Rpc { .. } => Some(Transport::Tcp),
            Workload::Udp { payload_bytes, .. } | Workload::Ping { echo: Echo::Udp, payload_bytes, .. } => {
                Some(Transport::Udp(*payload_bytes))
            }
            Workload::Ping { echo: Echo::Icmp, .. } => Some(Transport::Icmp),
            Workload::Quic { .. } => Some(Transport::Quic),
            Workload::Command { .. } => None,
        }
    }

    /// True if it may have TCP connections.
    pub fn may_have_tcp(&self) -> bool {
        self.transport().is_none_or(|transport| transport == Transport::Tcp)
    }

    /// Label of the congestion control of its own sockets in the kernel. Programs set theirs.
    pub fn cc(&self) -> Option<&str> {
        match self {
            Workload::Tcp { cc, .. } | Workload::Rpc { cc, .. } => Some(cc),
            Workload::Udp { .. } | Workload::Ping { .. } | Workload::Quic { .. } | Workload::Command { .. } => None,
        }
    }

    /// Bytes after which it is complete.
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Workload::Tcp { bytes, .. } | Workload::Udp { bytes, .. } | Workload::Quic { bytes, .. } => *bytes,
            Workload::Ping { .. } | Workload::Rpc { .. } | Workload::Command { .. } => None,
        }
    }

    fn on_off(&self) -> Option<OnOff> {
        match self {
            Workload::Tcp { on_off, .. } | Workload::Udp { on_off, .. } | Workload::Quic { on_off, .. } => *on_off,
            Workload::Ping { .. } | Workload::Rpc { .. } | Workload::Command { .. } => None,
        }
    }

    /// True of a flow of TCP or QUIC without a size, a rate or pauses.
    pub fn is_bulk(&self) -> bool {
        matches!(
            self,
            Workload::Tcp { bytes: None, on_off: None, .. }
                | Workload::Quic { bytes: None, rate_bps: None, on_off: None, .. }
        )
    }

    /// True of a flow that is one connection of TCP for its whole time.
    pub fn is_one_connection(&self) -> bool {
        matches!(self, Workload::Tcp { .. })
    }

    /// Name of the table that only flows of its kind have rows in.
    pub fn table(&self) -> Option<&'static str> {
        match self {
            Workload::Ping { .. } => Some("pings"),
            Workload::Rpc { .. } => Some("requests"),
            Workload::Tcp { .. } | Workload::Udp { .. } | Workload::Quic { .. } | Workload::Command { .. } => None,
        }
    }

    /// Number of programs that it runs, of the user's or of dumbbell's.
    pub fn programs(&self) -> u64 {
        match self {
            Workload::Quic { .. } => 2,
            Workload::Command { server_command, .. } => 1 + u64::from(server_command.is_some()),
            Workload::Tcp { .. } | Workload::Udp { .. } | Workload::Ping { .. } | Workload::Rpc { .. } => 0,
        }
    }

    /// True if the kernel counts segments that it sends again.
    pub fn repeats_segments(&self) -> bool {
        self.may_have_tcp()
    }

    /// True if its ends are programs of the user's.
    pub fn runs_programs(&self) -> bool {
        matches!(self, Workload::Command { .. })
    }

    /// # Errors
    /// Values that do not go together, in a network whose largest MTU is `mtu`.
    pub(crate) fn check(&self, flow: &Flow, mtu: Mtu) -> Result<()> {
        if let Some(on_off) = self.on_off() {
            ensure!(on_off.is_possible(), "flow {}: bursts or pauses of no length", flow.id);
            ensure!(self.size_bytes().is_none(), "flow {}: a size beside bursts and pauses", flow.id);
        }
        if let Workload::Ping { interval_ns, payload_bytes, .. } = self {
            let (least, most) = (Echo::LEAST_PAYLOAD, mtu.datagram_bytes(flow.ip));
            ensure!(*interval_ns > Duration::ZERO, "flow {}: pings without an interval", flow.id);
            let fits = (least..=most).contains(payload_bytes);
            ensure!(fits, "flow {}: a ping's payload has {least} to {most} bytes", flow.id);
        }
        if let Workload::Rpc { request, answer, pace, .. } = self {
            request.check(&flow.id)?;
            answer.check(&flow.id)?;
            match pace {
                Pace::Open { interval_ns, .. } => {
                    ensure!(*interval_ns > Duration::ZERO, "flow {}: datagrams without an interval", flow.id)
                }
                Pace::Closed { outstanding, think_ns } => {
                    let is_possible = *outstanding > 0 && *think_ns >= Duration::ZERO;
                    ensure!(is_possible, "flow {}: a closed loop without requests", flow.id);
                }
            }
        }
        Ok(())
    }
}
