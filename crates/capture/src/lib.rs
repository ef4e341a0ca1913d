//! Packet captures as a stream of TCP segments.
//!
//! [`Capture`] reads pcap and pcapng files, compressed or not, in bounded memory: a length that a file only claims is never
//! allocated. [`decode`] finds the innermost TCP header of a frame, below tunnels and tags. Lengths come from IP headers, so
//! that a cut snaplen changes none. [`writer`] writes pcapng, and [`describe`] says a frame of any protocol in words.

mod bytes;
pub mod decode;
mod decode_as;
pub mod describe;
mod files;
mod fragments;
mod frame;
mod layers;
mod links;
pub mod list;
mod notes;
mod options;
mod pcap;
mod pcapng;
mod reader;
mod segment;
mod source;
mod transport;
mod tunnels;
mod window;
pub mod writer;

pub use decode_as::{DecodeAs, Tunnel};
pub use files::Capture;
pub use frame::{Frame, Interface};
pub use layers::Layers;
pub use notes::{Notes, Protocol};
pub use reader::Reader;
pub use segment::{Flags, Segment};
