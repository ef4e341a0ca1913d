//! Real-time driver of [`link::Network`] between network namespaces.
//!
//! Packets come from the hosts' interfaces through one AF_PACKET ring with kernel arrival timestamps, cross the network
//! in virtual time, and are sent to their host's interface when they are due. The model is fed with true arrival times,
//! so a late thread delays packets but never changes what the links do to them; how late each packet left is measured.
//! In a lab network they are frames of any kind, which cross wires from interface to interface as they are.
//! On the GSO path frames are bursts of segments ([`plan::EmulatePath`]); the links see the segments on either path.

mod arena;
mod carrier;
mod checksum;
mod classify;
mod clock;
mod coalescing;
mod control;
mod datagrams;
mod device;
mod driver;
mod earlier;
mod emulator;
mod fragments;
mod frame;
mod gso;
mod handover;
mod hops;
pub mod hosted;
mod identities;
mod intake;
mod outgoing;
mod plugs;
mod ports;
mod read_delay;
mod report;
mod ring;
mod stations;
mod store;
mod transmit;
mod warm_up;

pub use emulator::{Ends, LiveGauges, Witness, run};
pub use hops::Hop;
pub use report::EmulatorReport;

use serde::{Deserialize, Serialize};

/// The emulator's end of an interface of a host or router.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    /// The host's name in the plan.
    pub host: String,
    /// The interface's name in the plan of a lab network.
    pub interface: String,
    /// MAC address of the host's own interface: in a core network frames to the host carry it as destination.
    pub mac: [u8; 6],
    /// MAC address that the host takes for its gateway: frames to the host carry it as source. `None` in a lab network:
    /// frames keep their addresses.
    pub gateway_mac: Option<[u8; 6]>,
    /// Index in the emulator's namespace.
    pub ifindex: i32,
}
