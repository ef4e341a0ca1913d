//! A plan's network, hosts and traffic in virtual time: deterministic, packet by packet.
//!
//! A [`Simulation`] runs a [`plan::Plan`] on the [`link`] crate's links, between TCP ends that behave as Linux's do, with
//! the [`cc`] crate's congestion controls. It has no clock and no other chance than the plan's seed: the same plan gives the
//! same packets on every machine. An [`Observer`] gets all events; one that doesn't listen costs nothing.
//!
//! ```
//! use sim::{Options, Simulation};
//!
//! let link = |name: &str, from: &str, to: &str| serde_json::json!({"name": name, "from": from, "to": to,
//!     "rate_bps": 10_000_000, "delay_ns": 20_000_000, "buffer": {"bytes": 50_000}, "overhead_bytes": 0});
//! let host = |name: &str, address: &str| serde_json::json!({"kind": "host", "name": name, "address": address,
//!     "sysctl": {}});
//! let plan: plan::Plan = plan::Plan::of(serde_json::json!({
//!     "name": "example", "duration_ns": 5_000_000_000i64, "seed": 1,
//!     "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
//!     "links": [link("there", "a", "b"), link("back", "b", "a")],
//!     "flows": [{"id": "f1", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 5_000_000_000i64, "port": 5001,
//!         "workload": {"kind": "tcp", "cc": "cubic", "bytes": 1_000_000, "ecn": false}}],
//!     "record": {"sample_interval_ns": 10_000_000, "packets": false},
//!     "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
//! }))?;
//! let mut simulation = Simulation::new(&plan, Options::default(), ())?;
//! simulation.run();
//! assert!(simulation.reports().next().unwrap().completed);
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! # What is modelled
//!
//! - Every link, by the code that the emulator runs. Links on which nothing can happen to a packet at any time are not
//!   passed through at all.
//! - TCP as Linux 6.x runs it: handshake and FIN, SACK scoreboard (RFC 2018, 2883, 6675), RACK-TLP (RFC 8985), PRR (RFC 6937), RTO
//!   (RFC 6298) with Linux's variance and floor, F-RTO (RFC 5682), undo by timestamps and D-SACKs (RFC 4015, 3708),
//!   delivery-rate samples, pacing by TCP itself, trains and when they wait for company, Nagle, window validation, slow
//!   start after idle, ECN (RFC 3168) and DCTCP's echo (RFC 8257), delayed, quick and compressed ACKs, those that PSH
//!   calls for, segments refused because their timestamps are too old (RFC 7323, PAWS), and a receive window that grows.
//! - Timers of Linux's wheel, which count ticks of 4 ms and fire at the end of a bucket.
//! - UDP at a constant rate, in fragments where a datagram is longer than the MTU allows, echo requests at an interval, requests and answers over TCP.
//! - QUIC by the stacks that a caller brings ([`QuicStacks`]): they get datagrams and times, and give datagrams.
//! - Applications that always have more to say, that say so many bytes, or that write and pause in turns.
//!
//! # What is not
//!
//! - Senders take no time: a sender answers an ACK at once, and TCP Small Queues never hold anything back, as an interface
//!   is infinitely fast. A receiver takes some time until an ACK is on the wire ([`Options::turnaround`]).
//! - A receiver never takes back what it has SACKed.
//! - MTU probing, fast open, zero-window persistence beyond a plain probe, AccECN, urgent data.
//! - A connection that was opened is never given up, however many timeouts pass; the kernel's ends after `tcp_retries2`.
//! - A flow that is stopped falls silent at both ends at once; the kernel's ends it within a round trip, by resets.

mod algorithm;
mod event_queue;
pub mod held;
mod kinds;
mod memory;
mod network;
mod observer;
mod problem;
mod quic;
mod reassembly;
pub mod rows;
mod segment;
mod simulation;
mod store;
pub mod tcp;
mod traffic;

pub use algorithm::Objects;
pub use bpf_vm::{Call, Tracer};
pub use kinds::Datagrams;
pub use network::Tally;
pub use observer::{AckRow, DatagramRow, FlowRow, LinkRow, Observer, PacketRow};
pub use problem::{Problem, check};
pub use quic::{QuicAccount, QuicEnd, QuicEnds, QuicStacks, Turn};
pub use segment::{Flags, MAX_SACKS, Resent, Segment};
pub use simulation::{Options, Simulation};
pub use traffic::FlowReport;
