//! Flows over real sockets, and the sampler that watches them.
//!
//! One thread and one event loop serve every host: a socket belongs to the network namespace in which it was created, so
//! [`run`] enters each host's namespace to open its sockets, and leaves. Flows are agents in that loop, of a kind
//! each; UDP's schedule goes first, then the sampler, then bulk data.
//!
//! Congestion control is set per socket, before the handshake, at both ends, and read back after it. ECN is not: Linux
//! negotiates it as the namespace's `net.ipv4.tcp_ecn` says, which the lab pins from the flows that start there.

mod agent;
mod diagnosed;
mod event_loop;
mod found;
pub mod icmp;
mod kernel_sampler;
mod kinds;
mod netns;
mod poller;
mod process;
mod programs;
mod report;
mod run;
mod sampler;
mod shared;
mod sink;
mod sock_diag;
mod sockets;
mod tcp_info;
mod tcp_receiver;
mod udp_receiver;

pub use found::{Watched, watch};
pub use report::{CommandReport, FlowReport, ProgramReport, Sampling, TrafficReport, UdpReport};
pub use run::{FlowGauges, run};
