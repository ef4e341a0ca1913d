//! The kernel's structures, as far as they are modelled: each field has 8 bytes, in the order of its table.

use cc::{AckSample, EcnFlags, RateSample, Socket};

/// A field of a structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Structure and field, e.g. `tcp_sock.snd_cwnd`.
    pub path: &'static str,
    /// The bytes that it has in the kernel.
    pub bytes: usize,
    pub is_signed: bool,
}

/// Declares the fields of a structure with their types in the kernel, and their values.
macro_rules! structure {
    ($(#[$doc:meta])* $fields:ident, $spell:ident($source:ident: &$of:ty), $($path:literal: $type:ty = $value:expr;)*) => {
        $(#[$doc])*
        pub(crate) const $fields: &[Field] = &[$(Field {
            path: $path,
            bytes: size_of::<$type>(),
            is_signed: <$type>::MIN != 0,
        }),*];

        /// Writes the values to the fields' places.
        pub(crate) fn $spell($source: &$of, places: &mut [u8]) {
            let values = [$($value as u64),*];
            for (place, value) in places.chunks_exact_mut(8).zip(values) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
    };
}

structure! {
    /// A connection.
    SOCKET_FIELDS, spell_socket(sk: &Socket),
    // A congestion control may write these ...
    "tcp_sock.snd_cwnd": u32 = sk.snd_cwnd;
    "tcp_sock.snd_cwnd_cnt": u32 = sk.snd_cwnd_cnt;
    "tcp_sock.snd_ssthresh": u32 = sk.snd_ssthresh.min(INFINITE_SSTHRESH);
    "tcp_sock.app_limited": u32 = sk.app_limited;
    "sock.sk_pacing_rate": u64 = sk.sk_pacing_rate;
    "sock.sk_pacing_status": u32 = sk.sk_pacing_needed;
    "tcp_sock.ecn_flags": u8 = spelled(sk.ecn_flags);
    "inet_connection_sock.icsk_ack.pending": u8 = if sk.is_ack_pending { ACK_TIMER } else { 0 };
    // ... and not these.
    "sock.sk_max_pacing_rate": u64 = sk.sk_max_pacing_rate;
    "sock.sk_gso_max_size": u32 = sk.sk_gso_max_size;
    "sock.sk_pacing_shift": u8 = sk.sk_pacing_shift;
    "inet_connection_sock.icsk_ca_state": u8 = sk.ca_state;
    "tcp_sock.tcp_mstamp": u64 = sk.tcp_mstamp;
    "tcp_sock.tcp_clock_cache": u64 = sk.tcp_clock_cache;
    "tcp_sock.tcp_wstamp_ns": u64 = sk.tcp_wstamp_ns;
    "tcp_sock.delivered_mstamp": u64 = sk.delivered_mstamp;
    "tcp_sock.lsndtime": u32 = sk.lsndtime / cc::TICK_US;
    "tcp_sock.rcv_nxt": u32 = sk.rcv_nxt;
    "tcp_sock.snd_nxt": u32 = sk.snd_nxt;
    "tcp_sock.snd_una": u32 = sk.snd_una;
    "tcp_sock.mss_cache": u32 = sk.mss_cache;
    "tcp_sock.snd_cwnd_clamp": u32 = sk.snd_cwnd_clamp;
    "tcp_sock.prior_cwnd": u32 = sk.prior_cwnd;
    "tcp_sock.max_packets_out": u32 = sk.max_packets_out;
    "tcp_sock.packets_out": u32 = sk.packets_out;
    "tcp_sock.retrans_out": u32 = sk.retrans_out;
    "tcp_sock.lost_out": u32 = sk.lost_out;
    "tcp_sock.sacked_out": u32 = sk.sacked_out;
    "tcp_sock.delivered": u32 = sk.delivered;
    "tcp_sock.delivered_ce": u32 = sk.delivered_ce;
    "tcp_sock.lost": u32 = sk.lost;
    "tcp_sock.srtt_us": u32 = sk.srtt_us;
    "tcp_sock.rtt_min.s.0.v": u32 = sk.min_rtt_us;
    "tcp_sock.is_cwnd_limited": u8 = sk.is_cwnd_limited;
}

structure! {
    /// An ACK's sample of the delivery rate.
    RATE_FIELDS, spell_rate(rs: &RateSample),
    "rate_sample.prior_mstamp": u64 = rs.prior_mstamp;
    "rate_sample.prior_delivered": u32 = rs.prior_delivered;
    "rate_sample.prior_delivered_ce": u32 = rs.prior_delivered_ce;
    "rate_sample.delivered": i32 = rs.delivered;
    "rate_sample.delivered_ce": i32 = rs.delivered_ce;
    "rate_sample.interval_us": i64 = rs.interval_us;
    "rate_sample.snd_interval_us": u32 = rs.snd_interval_us;
    "rate_sample.rcv_interval_us": u32 = rs.rcv_interval_us;
    "rate_sample.rtt_us": i64 = rs.rtt_us;
    "rate_sample.losses": i32 = rs.losses;
    "rate_sample.acked_sacked": u32 = rs.acked_sacked;
    "rate_sample.prior_in_flight": u32 = rs.prior_in_flight;
    "rate_sample.last_end_seq": u32 = rs.last_end_seq;
    "rate_sample.is_app_limited": u8 = rs.is_app_limited;
    "rate_sample.is_retrans": u8 = rs.is_retrans;
    "rate_sample.is_ack_delayed": u8 = rs.is_ack_delayed;
}

structure! {
    /// The arguments of `pkts_acked`.
    ACK_FIELDS, spell_ack(sample: &AckSample),
    "ack_sample.pkts_acked": u32 = sample.pkts_acked;
    "ack_sample.rtt_us": i32 = sample.rtt_us;
    "ack_sample.in_flight": u32 = sample.in_flight;
}

/// Structures whose first member is another one: structure, member, structure of the member.
pub(crate) const EMBEDDED: [(&str, &str, &str); 3] = [
    ("tcp_sock", "inet_conn", "inet_connection_sock"),
    ("inet_connection_sock", "icsk_inet", "inet_sock"),
    ("inet_sock", "sk", "sock"),
];

/// `icsk_ca_priv`: its bytes, and where they are in the socket's place.
pub(crate) const PRIVATE_BYTES: usize = 104;
pub(crate) const PRIVATE_AT: usize = 8 * SOCKET_FIELDS.len();
pub(crate) const PRIVATE: &str = "inet_connection_sock.icsk_ca_priv";

pub(crate) const SOCKET_BYTES: usize = PRIVATE_AT + PRIVATE_BYTES;
pub(crate) const SAMPLE_BYTES: usize = 8 * RATE_FIELDS.len();

/// The kernel's infinite slow-start threshold (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// The timer of a delayed ACK runs (`ICSK_ACK_TIMER`).
const ACK_TIMER: u8 = 2;
/// Bits of `ecn_flags`: ECN is negotiated (`TCP_ECN_OK`), ACKs carry ECE (`TCP_ECN_DEMAND_CWR`).
const ECN_OK: u8 = 1;
const ECN_DEMAND_CWR: u8 = 4;

fn spelled(flags: EcnFlags) -> u8 {
    (u8::from(flags.ok) * ECN_OK) | (u8::from(flags.demand_cwr) * ECN_DEMAND_CWR)
}

/// The place of a field in its structure.
const fn place(fields: &[Field], path: &str) -> usize {
    let mut at = 0;
    while !is_equal(fields[at].path.as_bytes(), path.as_bytes()) {
        at += 1;
    }
    8 * at
}

const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

const CWND: usize = place(SOCKET_FIELDS, "tcp_sock.snd_cwnd");
const CWND_CNT: usize = place(SOCKET_FIELDS, "tcp_sock.snd_cwnd_cnt");
const SSTHRESH: usize = place(SOCKET_FIELDS, "tcp_sock.snd_ssthresh");
const APP_LIMITED: usize = place(SOCKET_FIELDS, "tcp_sock.app_limited");
const PACING_RATE: usize = place(SOCKET_FIELDS, "sock.sk_pacing_rate");
const PACING_STATUS: usize = place(SOCKET_FIELDS, "sock.sk_pacing_status");
const FLAGS: usize = place(SOCKET_FIELDS, "tcp_sock.ecn_flags");
/// The fields that the kernel lets a congestion control write come first.
const WRITABLE: usize = 8;

/// True if a congestion control may write there: one of these fields, or its private state.
#[inline(always)]
pub(crate) fn is_writable(at: usize, count: usize) -> bool {
    at >= PRIVATE_AT || (at < 8 * WRITABLE && at % 8 + count <= 8)
}

/// Takes over what a program may have written.
pub(crate) fn take_back(sk: &mut Socket, places: &[u8; SOCKET_BYTES]) {
    let value = |at: usize| u64::from_le_bytes(places[at..at + 8].try_into().expect("8 bytes"));
    sk.snd_cwnd = value(CWND) as u32;
    sk.snd_cwnd_cnt = value(CWND_CNT) as u32;
    let ssthresh = value(SSTHRESH) as u32;
    sk.snd_ssthresh = if ssthresh >= INFINITE_SSTHRESH { u32::MAX } else { ssthresh };
    sk.app_limited = value(APP_LIMITED) as u32;
    sk.sk_pacing_rate = value(PACING_RATE);
    sk.sk_pacing_needed = value(PACING_STATUS) as u32 != 0;
    sk.ecn_flags.demand_cwr = value(FLAGS) as u8 & ECN_DEMAND_CWR != 0;
}

/// The place of the flags of ECN, for an ACK that a program sends.
pub(crate) fn demands_cwr(places: &[u8; SOCKET_BYTES]) -> bool {
    places[FLAGS] & ECN_DEMAND_CWR != 0
}
