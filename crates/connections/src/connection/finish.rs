//! The rows of a connection that ended.

use std::net::Ipv6Addr;

use super::{Connection, direction, least};
use crate::place::{At, by_times, by_ttl};
use crate::rows::{ConnectionRow, DirectionRow, Place};
use crate::table::Sink;

/// Packets with data that tell a rate. A request's only packet tells how fast somebody has acknowledged it.
const LEAST_PACKETS: u64 = 10;

impl Connection {
    /// Give what waits, and the rows of the connection; `at`: where the capture was taken, if somebody says so.
    pub(crate) fn finish(&mut self, evicted: bool, at: Option<At>, sink: &mut impl Sink) {
        let (client, server) = (self.client, 1 - self.client);
        let mut figures = [None, None];
        for (of, figures) in figures.iter_mut().enumerate() {
            let (back_ns, forward_ns) = self.halves_of_round_trip(of);
            let half = &self.halves[of];
            if let Some(stream) = &mut self.streams[of] {
                let back_ns = least(back_ns, stream.rtt_back.least_ns).unwrap_or(0);
                let round_ns = back_ns + least(forward_ns, stream.rtt.least_ns).unwrap_or(0);
                let is_short = half.counters.wire_packets < LEAST_PACKETS || stream.acknowledged_for_ns() < round_ns;
                *figures = Some(stream.finish(half.una, half.is_acked, is_short, sink));
                if stream.unseen_bytes() > 0 {
                    self.story.once(b'g', of == client);
                }
            }
        }
        if self.halves[client].counters.zero_windows > 0 {
            self.story.once(b'w', true);
        }
        if self.halves[server].counters.zero_windows > 0 {
            self.story.once(b'w', false);
        }
        let place = at.map(|at| (self.stated_place(at), None, "said")).or_else(|| self.place());
        let endpoint = |of: usize| {
            let (address, port) = if of == 0 { (self.key.a, self.key.ports.0) } else { (self.key.b, self.key.ports.1) };
            (spelt(address), port)
        };
        sink.connection(ConnectionRow {
            connection: self.number,
            client: endpoint(client),
            server: endpoint(server),
            client_is_sure: self.client_is_sure,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            state: self.story.state(),
            history: self.story.history().to_owned(),
            encapsulation: self.layers.names(),
            network: self.layers.network(self.key.network),
            handshake_server_ns: self.handshake_server_ns,
            handshake_client_ns: self.handshake_client_ns,
            syn_repeats: self.halves.iter().map(|half| (half.counters.syns as u32).saturating_sub(1)).sum(),
            place: place.map(|(place, ..)| place as u16),
            place_share: place.and_then(|(_, share, _)| share),
            place_by: place.map(|(.., by)| by),
            evicted,
            one_sided: self.halves.iter().any(|half| half.counters.packets == 0),
            clock_breaks: self.clock_breaks,
        });
        for of in [client, server] {
            let half = &self.halves[of];
            if half.counters.packets == 0 {
                continue;
            }
            let mut counters = half.counters.clone();
            let or_zero = |value: u64| if value == u64::MAX { 0 } else { value };
            counters.window_min_bytes = or_zero(counters.window_min_bytes);
            counters.segment_min_bytes = or_zero(counters.segment_min_bytes);
            let mut stream = figures[of].take().unwrap_or_default();
            stream.window_shift = self.shift(1 - of).map(u64::from);
            if self.halves[1 - of].counters.cut_options > 0 {
                // What ACKs report by SACK blocks and timestamps is not known.
                (stream.needless_retransmissions, stream.late_behind_packets) = (None, None);
                (stream.rtt_timestamp_samples, stream.rtt_back_samples) = (None, None);
            }
            sink.direction(DirectionRow {
                connection: self.number,
                direction: direction(of, client),
                counters,
                start_ns: half.start_ns,
                end_ns: half.start_ns.map(|_| half.end_ns),
                stream,
            });
        }
        sink.ended(self.number);
    }

    /// The place that somebody says, from the direction with more payload.
    fn stated_place(&self, at: At) -> Place {
        let payload = |of: usize| self.halves[of].counters.payload_bytes;
        let client_sends = payload(self.client) >= payload(1 - self.client);
        match (at, client_sends) {
            (At::Middle, _) => Place::Middle,
            (At::Sender, true) | (At::Receiver, false) => Place::Client,
            (At::Sender, false) | (At::Receiver, true) => Place::Server,
        }
    }

    pub(super) fn place(&self) -> Option<(Place, Option<f64>, &'static str)> {
        if let Some((place, share)) = by_times(self.handshake_client_ns, self.handshake_server_ns) {
            return Some((place, Some(share), "handshake"));
        }
        let stream = |of: usize| self.streams[of].as_deref();
        let (to_server, to_client) = (stream(self.client), stream(1 - self.client));
        let server = least(
            to_server.and_then(|stream| stream.rtt.least_ns),
            to_client.and_then(|stream| stream.rtt_back.least_ns),
        );
        let client = least(
            to_client.and_then(|stream| stream.rtt.least_ns),
            to_server.and_then(|stream| stream.rtt_back.least_ns),
        );
        if let Some((place, share)) = by_times(client, server) {
            return Some((place, Some(share), "rtt"));
        }
        let ttl = |of: usize| self.halves[of].counters.ttl;
        by_ttl(ttl(self.client), ttl(1 - self.client)).map(|place| (place, None, "ttl"))
    }
}

/// An address as users write it.
fn spelt(address: u128) -> String {
    let address = Ipv6Addr::from(address);
    address.to_ipv4_mapped().map_or_else(|| address.to_string(), |four| four.to_string())
}
