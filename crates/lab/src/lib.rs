//! A laboratory of network namespaces, built by batched netlink.
//!
//! One single-threaded process [enters a sandbox](sandbox::enter) of new namespaces, forks, and its child (pid 1 of the
//! sandbox) calls [`sandbox::mounts`] and [`Lab::build`]. When that child ends, by whatever cause, the kernel removes
//! everything: nothing of a lab outlives it, and nothing outside was touched.
//!
//! ```text
//!   host s1 (netns)                core (the caller's netns)
//!   eth0 ------------- veth ------------- s1        no IP here: the emulator reads and writes frames
//!   10.0.0.1/32, default via GATEWAY      (ARP off)
//! ```
//!
//! In a lab network hosts and routers have as many interfaces as the plan says, each with a veth
//! pair of its own, and addresses, neighbours and routes as on a real network.

mod bridge;
mod carrier;
mod doors;
mod ethtool;
pub mod ferry;
pub mod files;
mod hops;
mod host;
mod lab;
mod names;
mod namespace;
mod netlink;
mod network;
mod outside;
mod own;
mod procfs;
mod release;
mod requests;
mod rewire;
pub mod sandbox;
pub mod shares;
pub mod shortage;
mod sysctl;

pub use bridge::{Port, PortState};
pub use carrier::Carriers;
pub use doors::Doors;
pub use hops::Hop;
pub use host::{GATEWAY, Host, Interface};
pub use lab::{Counters, Lab, Side};
pub use own::Own;
pub use release::ClosedAside;
pub use rewire::Rewired;
pub use shortage::Shortages;
