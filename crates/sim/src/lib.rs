//! A plan's network, hosts and traffic in virtual time: deterministic, packet by packet.
//!
//! A [`Simulation`] runs a [`plan::Plan`] on the [`link`] crate's links, between TCP ends that behave as Linux's do, with
//! the [`cc`] crate's congestion controls. It has no clock and no other chance than the plan's seed: the same plan gives the
//! same packets on every machine. What happens is told to an [`Observer`]; one that doesn't listen costs nothing.
//!
//! Hosts take no time: a segment that arrives is answered at once. Links on which nothing can happen to a packet are not
//! passed through at all.

mod events;
mod network;
mod observer;
mod segment;
mod simulation;
mod store;
pub mod tcp;
mod traffic;
mod udp;

pub use observer::{AckRow, FlowRow, LinkRow, Observer, PacketRow};
pub use segment::{Flags, MAX_SACKS, Segment};
pub use simulation::{Options, Simulation};
pub use traffic::FlowReport;
