//! Real-time driver of [`link::Network`] between network namespaces.
//!
//! Packets come from the hosts' interfaces through one AF_PACKET ring with kernel arrival timestamps, cross the network
//! in virtual time, and are sent to their host's interface when they are due. The model is fed with true arrival times,
//! so a late thread delays packets but never changes what the links do to them; how late each packet left is measured.
//! On the GSO path frames are bursts of segments ([`plan::EmulatePath`]); the links see the segments on either path.

mod arena;
mod carrier;
mod checksum;
mod classify;
mod clock;
mod coalescing;
mod control;
mod device;
mod driver;
mod emulator;
mod frame;
mod gso;
mod handover;
pub mod hosted;
mod intake;
mod outgoing;
mod read_delay;
mod report;
mod ring;
mod store;
mod transmit;

pub use emulator::{LinkGauges, run};
pub use report::EmulatorReport;

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

/// A host's interface in the emulator's namespace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    /// The host's name in the plan.
    pub host: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// MAC address of the host's own interface: frames to the host carry it as destination.
    pub mac: [u8; 6],
    /// MAC address that the host takes for its gateway: frames to the host carry it as source.
    pub gateway_mac: [u8; 6],
    /// Index of the interface in the emulator's namespace.
    pub ifindex: i32,
}
