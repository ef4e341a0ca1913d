//! Where a capture was taken.

use crate::rows::Place;

/// Where somebody says that a capture was taken: at who sent more payload, at who received it, or between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum At {
    Sender,
    Middle,
    Receiver,
}

/// Up to this share of the round trip the capture is at an end.
const AT_END: f64 = 0.1;

/// How long a sender's answer to an acknowledgement takes to come back to the capture, ns: 0 at the sender, or if that is not known.
/// `back_ns` and `forward_ns`: the shares of the round trip towards the sender and towards the receiver.
pub(crate) fn away_ns(back_ns: Option<i64>, forward_ns: Option<i64>) -> i64 {
    let (back, forward) = (back_ns.unwrap_or(0), forward_ns.unwrap_or(0));
    if back as f64 > AT_END * (back + forward) as f64 { back } else { 0 }
}

/// The place from the shares of the round trip on both sides of the capture, in ns: `client` between client and capture.
pub(crate) fn by_times(client_ns: Option<i64>, server_ns: Option<i64>) -> Option<(Place, f64)> {
    let (client, server) = (client_ns? as f64, server_ns? as f64);
    if client + server <= 0.0 {
        return None;
    }
    let share = client / (client + server);
    let place = if share <= AT_END {
        Place::Client
    } else if share >= 1.0 - AT_END {
        Place::Server
    } else {
        Place::Middle
    };
    Some((place, share))
}

/// The place from the TTLs of packets of client and server: a common initial one was not yet counted down.
pub(crate) fn by_ttl(client: u64, server: u64) -> Option<Place> {
    let is_initial = |ttl| matches!(ttl, 64 | 128 | 255);
    match (is_initial(client), is_initial(server)) {
        (true, false) => Some(Place::Client),
        (false, true) => Some(Place::Server),
        _ => None,
    }
}
