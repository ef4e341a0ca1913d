//! The flows of a lab's records, which nobody has planned: what hosts were found to send each other.

use std::net::IpAddr;

use realtime::Gauge;
use serde::{Deserialize, Serialize};

use crate::Names;
use crate::packets::OTHER_FLOW;

/// The file in the directory of the records: a line for each flow, in the order in which they were found.
pub const FILE: &str = "flows.jsonl";
/// The most flows that are told apart; packets of further ones are `other`.
pub const MOST: u16 = 4096;

/// The protocol of a flow that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Its sockets say how it goes.
    #[default]
    Tcp,
    /// Its packets are counted by the links: a socket of UDP knows nothing of them.
    Udp,
}

/// All TCP connections, or all datagrams, from one address to one port of another, and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFlow {
    /// Its protocol.
    pub protocol: Protocol,
    /// The host that connects, or sends the first datagram.
    pub from: String,
    /// The host that accepts.
    pub to: String,
    /// The address that connects.
    pub from_address: IpAddr,
    /// The address that accepts.
    pub to_address: IpAddr,
    /// The port of the first connection or datagram at the host that connects.
    pub from_port: u16,
    /// The port that accepts.
    pub port: u16,
}

impl FoundFlow {
    /// The flow as a line of the file.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a flow is plain data") + "\n"
    }
}

/// Counts of links for one direction of a flow of datagrams. Bytes are UDP payload. Each fragment of a datagram counts
/// as a packet: links don't know which datagrams get whole.
///
/// Of a flow of TCP it is `sent_bytes` alone: payload that was not sent before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sent into the first link.
    pub sent_packets: u64,
    /// Payload sent, like `sent_packets`.
    pub sent_bytes: u64,
    /// Came out of the last link, duplicates included.
    pub received_packets: u64,
    /// Payload received, like `received_packets`.
    pub received_bytes: u64,
    /// Dropped or lost by a link.
    pub lost_packets: u64,
    /// When the first one was sent, in ns since the records' begin; 0 before.
    pub first_sent_ns: u64,
    /// When the first and the last one came out; 0 before.
    pub first_received_ns: u64,
    /// Time of the last datagram received, like the first one's.
    pub last_received_ns: u64,
}

/// Shared memory with these counts of each flow: of flow `i`, those of its own direction at `2 * i`, those back behind them.
pub type DatagramGauges = [Gauge<{ Datagrams::WORDS }>];

impl Datagrams {
    /// The number of its fields.
    pub const WORDS: usize = 8;

    /// Its fields, to be shared.
    pub fn words(self) -> [u64; Datagrams::WORDS] {
        let Datagrams { sent_packets, sent_bytes, received_packets, received_bytes, lost_packets, .. } = self;
        let Datagrams { first_sent_ns, first_received_ns, last_received_ns, .. } = self;
        [
            sent_packets,
            sent_bytes,
            received_packets,
            received_bytes,
            lost_packets,
            first_sent_ns,
            first_received_ns,
            last_received_ns,
        ]
    }
}

impl From<[u64; Datagrams::WORDS]> for Datagrams {
    fn from(words: [u64; Datagrams::WORDS]) -> Datagrams {
        let [sent_packets, sent_bytes, received_packets, received_bytes, lost_packets, ..] = words;
        let [.., first_sent_ns, first_received_ns, last_received_ns] = words;
        Datagrams {
            sent_packets,
            sent_bytes,
            received_packets,
            received_bytes,
            lost_packets,
            first_sent_ns,
            first_received_ns,
            last_received_ns,
        }
    }
}

/// The name of the flow that was found as number `index`, from 0.
pub fn name(index: u16) -> String {
    format!("f{}", u32::from(index) + 1)
}

/// The names in tables of a lab's records, whose flows are not known when they begin.
pub fn names(plan: &plan::Plan) -> Names {
    let flows = (0..MOST).map(name).chain([OTHER_FLOW.to_owned()]).collect();
    Names { flows, ..Names::of(plan) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_shared_memory() {
        let words = std::array::from_fn(|i| i as u64 + 1);
        assert_eq!(Datagrams::from(words).words(), words);
    }
}
