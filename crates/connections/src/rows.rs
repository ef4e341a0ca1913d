//! The tables of an analysed capture.

mod columns;
mod event;
mod segment;
mod series;

use records::Values::{Bool, F64, I64, Text, U32, U64, Word};
use records::{Column, Row};

pub(crate) use columns::{Columns, SackColumns, SegmentColumns};
pub use event::EventRow;
pub use segment::{SackRow, SegmentRow};
pub use series::{GapRow, IntervalRow, Round, RttRow};

/// Kind of a segment, as seen on the wire: this is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Class {
    Repeat,
    Overlap,
    Fill,
    Keepalive,
    Probe,
    Duplicate,
    Unseen,
}

impl Class {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 7] = ["repeat", "overlap", "fill", "keepalive", "probe", "duplicate", "unseen"];
}

/// Why it is there: this is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Cause {
    Fast,
    TailLossProbe,
    Timeout,
    AfterTimeout,
    Reordered,
    NetworkDuplicate,
    Syn,
    Fin,
    Unknown,
}

impl Cause {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 9] = [
        "fast",
        "tail-loss-probe",
        "timeout",
        "after-timeout",
        "reordered",
        "network-duplicate",
        "syn",
        "fin",
        "unknown",
    ];
}

/// Evidence from which a cause is inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Evidence {
    Sack,
    DuplicateAcks,
    PartialAck,
    Overtaken,
    Silence,
    Tail,
    Identification,
    Timestamp,
    LeastRtt,
    None,
}

impl Evidence {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 10] = [
        "sack",
        "duplicate-acks",
        "partial-ack",
        "overtaken",
        "silence",
        "tail",
        "identification",
        "timestamp",
        "least-rtt",
        "none",
    ];
}

/// Evidence that the retransmission was spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Needless {
    DuplicateSack,
    Eifel,
    Acknowledged,
}

impl Needless {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 3] = ["dsack", "eifel", "acknowledged"];
}

/// Where a capture was taken, seen from a connection's first endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Place {
    Client,
    Middle,
    Server,
}

impl Place {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 3] = ["client", "middle", "server"];
}

/// The directions of a connection.
pub const DIRECTIONS: [&str; 2] = ["to-server", "to-client"];

/// A connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionRow {
    /// Number in the order of first packets, from 1.
    pub connection: u64,
    /// Endpoints: address and port.
    pub client: (String, u16),
    #[allow(missing_docs)]
    pub server: (String, u16),
    /// The client sent the SYN; else it is assumed.
    pub client_is_sure: bool,
    #[allow(missing_docs)]
    pub start_ns: i64,
    #[allow(missing_docs)]
    pub end_ns: i64,
    /// Zeek's `conn_state`.
    pub state: &'static str,
    /// Zeek's `history`.
    pub history: String,
    /// Names of the tunnels and tags around its first packet, the outermost first.
    pub encapsulation: Option<String>,
    /// Names and identifiers of VLANs, VNIs, labels and keys around it.
    pub network: Option<String>,
    #[allow(missing_docs)]
    pub handshake_server_ns: Option<i64>,
    #[allow(missing_docs)]
    pub handshake_client_ns: Option<i64>,
    #[allow(missing_docs)]
    pub syn_repeats: u32,
    /// Where the capture was taken, and by what that is known.
    pub place: Option<u16>,
    #[allow(missing_docs)]
    pub place_share: Option<f64>,
    #[allow(missing_docs)]
    pub place_by: Option<&'static str>,
    /// True if the connection was given up for lack of memory: the rest of it is another connection.
    pub evicted: bool,
    #[allow(missing_docs)]
    pub one_sided: bool,
    #[allow(missing_docs)]
    pub clock_breaks: u32,
}

impl Row for ConnectionRow {
    const TABLE: &'static str = "connections";
    const COLUMNS: &'static [Column<ConnectionRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number in the order of the first packets, from 1"),
        Column::required("client", Text(|r| Some(&r.client.0)), "address of the client"),
        Column::required("client_port", U32(|r| Some(r.client.1.into())), "its port"),
        Column::required("server", Text(|r| Some(&r.server.0)), "address of the server"),
        Column::required("server_port", U32(|r| Some(r.server.1.into())), "its port"),
        Column::required(
            "client_is_sure",
            Bool(|r| Some(r.client_is_sure)),
            "the client is who sent the SYN; else who has the higher port, which is assumed",
        ),
        Column::required("start_ns", I64(|r| Some(r.start_ns)), "its first packet"),
        Column::required("end_ns", I64(|r| Some(r.end_ns)), "its last packet"),
        Column::required("state", Text(|r| Some(r.state)), "Zeek's `conn_state`: `SF` began and ended normally"),
        Column::required(
            "history",
            Text(|r| Some(&r.history)),
            "Zeek's `history`: a letter per kind of event, upper case from the client; `^` first: the server's packet was the first",
        ),
        Column::optional(
            "encapsulation",
            Text(|r| r.encapsulation.as_deref()),
            "tunnels and tags around its packets, the outermost first, as `802.1Q VXLAN`; null if there are none",
        ),
        Column::optional(
            "network",
            Text(|r| r.network.as_deref()),
            "VLAN, VNI, MPLS label (the lowest of a stack), key, PPPoE session or TEID around its first packet, as `802.1Q 10`, \
             the innermost two at most; null if there is none",
        ),
        Column::optional(
            "handshake_server_ns",
            I64(|r| r.handshake_server_ns),
            "from the SYN that was answered to the SYN-ACK: from the capture to the server and back",
        ),
        Column::optional(
            "handshake_client_ns",
            I64(|r| r.handshake_client_ns),
            "from the SYN-ACK to its ACK: from the capture to the client and back",
        ),
        Column::required("syn_repeats", U32(|r| Some(r.syn_repeats)), "SYNs and SYN-ACKs that were sent again"),
        Column::optional(
            "place",
            Word(|r| r.place, &Place::NAMES),
            "where the capture was taken: at the `client`, at the `server`, or in the `middle`; null if it cannot be told",
        ),
        Column::optional(
            "place_share",
            F64(|r| r.place_share),
            "the share of the round trip between client and capture: 0 at the client, 1 at the server",
        ),
        Column::optional(
            "place_by",
            Text(|r| r.place_by),
            "what tells the place: `handshake`, `rtt` or `ttl`; `said`: `--at` does",
        ),
        Column::required("evicted", Bool(|r| Some(r.evicted)), "it was given up while it lived, for lack of memory"),
        Column::required("one_sided", Bool(|r| Some(r.one_sided)), "packets of one direction only were captured"),
        Column::required(
            "clock_breaks",
            U32(|r| Some(r.clock_breaks)),
            "steps back of the clock of more than 1 s; nothing is measured across one",
        ),
    ];
}

/// A direction of a connection. All counts leave out packets that were captured twice.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct DirectionRow {
    pub connection: u64,
    pub direction: u16,
    pub counters: crate::half::Counters,
    pub start_ns: Option<i64>,
    pub end_ns: Option<i64>,
    pub stream: crate::stream::Figures,
}

macro_rules! counters {
    ($($name:ident $meaning:literal),* $(,)?) => {
        [$(Column::required(stringify!($name), U64(|r: &DirectionRow| Some(r.counters.$name)), $meaning)),*]
    };
}

macro_rules! figures {
    ($($name:ident $kind:ident $meaning:literal),* $(,)?) => {
        [$(Column::optional(stringify!($name), $kind(|r: &DirectionRow| r.stream.$name), $meaning)),*]
    };
}

const COUNTED: [Column<DirectionRow>; 33] = counters! {
    packets "packets",
    data_packets "packets with payload",
    payload_bytes "payload, repeats included",
    ip_bytes "IP packets",
    frame_bytes "frames",
    ack_packets "packets with the ACK flag",
    pure_acks "packets with the ACK flag and without payload, SYN, FIN and RST",
    syns "packets with the SYN flag",
    fins "packets with the FIN flag",
    resets "packets with the RST flag",
    pushed_packets "packets with the PSH flag",
    urgent_packets "packets with the URG flag",
    ece_packets "packets with the ECE flag",
    cwr_packets "packets with the CWR flag",
    ce_packets "packets marked Congestion Experienced on their way to the capture",
    sack_packets "packets with SACK blocks",
    sack_blocks_max "the most SACK blocks of a packet",
    dsack_packets "packets that report a duplicate (RFC 2883)",
    duplicate_acks "duplicate ACKs (RFC 5681)",
    zero_windows "packets with a window of 0, SYN, FIN and RST left out",
    window_min_bytes "smallest window, scaled, SYN and RST left out",
    window_max_bytes "largest window, scaled",
    segment_min_bytes "smallest payload of a packet",
    segment_max_bytes "largest payload of a packet",
    large_packets "packets with more payload than the MSS: offloads had merged them, and packets are fewer than on the wire",
    wire_packets "packets on the wire, estimated as payload / MSS where offloads had merged them",
    capture_duplicates "packets that were captured twice, at different places or each of them; left out of everything else",
    ttl "smallest TTL or hop limit",
    mss_bytes "MSS option; 0 without one, or if it was cut",
    keepalives "keepalives",
    probes "probes of a zero window",
    reset_bytes "payload of packets with the RST flag, which is no data of the stream (RFC 9293 3.5.3)",
    cut_options "packets whose TCP options were cut: SACK, timestamps and what a SYN offers are not known of them",
};

const FIGURES: [Column<DirectionRow>; 48] = figures! {
    unique_bytes U64 "payload without repeats: bytes seen at least once",
    repeated_packets U64 "packets whose payload was seen before, in part or all of it",
    repeated_bytes U64 "payload that was seen before",
    fill_packets U64 "packets with bytes below the highest that were not seen before",
    reordered_packets U64 "of these, packets that came late and were not sent again",
    network_duplicates U64 "packets that the network had doubled",
    fast_retransmissions U64 "retransmissions by SACK or duplicate ACKs",
    tail_loss_probes U64 "retransmissions of the last segment after about two RTTs",
    timeouts U64 "retransmissions by the timer",
    after_timeouts U64 "retransmissions behind one by the timer",
    unknown_retransmissions U64 "retransmissions whose cause is not known",
    needless_retransmissions U64 "retransmissions that were needless, by DSACK, Eifel, or an ACK seen before; null if options of ACKs were cut",
    lost_before_packets U64 "packets lost before the capture: their retransmission filled a hole",
    lost_behind_packets U64 "packets lost behind the capture, as far as it can tell: seen, sent again, and not needless",
    late_behind_packets U64 "packets that came late behind the capture, as SACK blocks tell, and were not sent again; null if options of ACKs were cut",
    unseen_bytes U64 "bytes that were acknowledged and never seen: the capture lost them",
    acknowledged_bytes U64 "bytes that were acknowledged",
    goodput_bps U64 "acknowledged bytes per time from the first data to the last acknowledgement; null of fewer than 10 packets, or less than a round trip",
    throughput_bps U64 "payload per time from the first to the last packet with data; null as `goodput_bps`",
    efficiency F64 "payload without repeats / payload",
    rtt_samples U64 "samples of `rtt`: from a segment's only transmission to the ACK or SACK that covers it, seen from the capture",
    rtt_min_ns I64 "least `rtt`: the way from the capture to the receiver and back",
    rtt_mean_ns I64 "mean `rtt`",
    rtt_p50_ns I64 "median `rtt`",
    rtt_p95_ns I64 "95th percentile of `rtt`",
    rtt_max_ns I64 "largest `rtt`",
    rtt_timestamp_samples U64 "samples by timestamps: from data to the first ACK that echoes its TSval",
    rtt_timestamp_min_ns I64 "the least of them",
    rtt_timestamp_p50_ns I64 "their median",
    rtt_back_samples U64 "samples of the way back: from an ACK to the first data that echoes its TSval",
    rtt_back_min_ns I64 "the least of them: from the capture to the sender and back",
    rtt_back_p50_ns I64 "their median, which contains waiting at the sender",
    in_flight_max_bytes U64 "most bytes in flight: outstanding, less those sacked or deemed lost, plus those sent again",
    outstanding_max_bytes U64 "most bytes sent and not acknowledged",
    initial_window_bytes U64 "payload before the first acknowledgement of data",
    initial_window_packets U64 "the same in packets",
    idle_max_ns I64 "longest time between two of its packets with data",
    gap_p50_ns I64 "median time between packets with data",
    bursts U64 "runs of data with gaps of at most 20 us, or least `rtt` / 32 if that is longer",
    burst_max_bytes U64 "most bytes of one",
    limited_window_ns U64 "time limited by the receiver's window",
    limited_application_ns U64 "time limited by the application: all is acknowledged, and for longer than the sender's answer takes to the capture",
    limited_recovery_ns U64 "time in recovery from losses",
    limited_network_ns U64 "the rest of its time, limited by congestion window or network",
    zero_window_ns U64 "time for which the receiver's window was 0",
    reneged_bytes U64 "bytes sent again after the receiver had sacked them",
    hidden_packets U64 "packets that were too many to follow: RTT and causes are without them",
    window_shift U64 "window scale of the receiver; null if a SYN is missing or was cut: then its window is not known, and `window_max_bytes` a lower bound",
};

const fn joined() -> [Column<DirectionRow>; 85] {
    let mut all = [COUNTED[0]; 85];
    all[0] = Column::required("connection", U64(|r| Some(r.connection)), "number of the connection");
    all[1] = Column::required(
        "direction",
        Word(|r| Some(r.direction), &DIRECTIONS),
        "of the data: `to-server` or `to-client`",
    );
    all[2] = Column::optional("start_ns", I64(|r| r.start_ns), "its first packet");
    all[3] = Column::optional("end_ns", I64(|r| r.end_ns), "its last packet");
    let mut at = 0;
    while at < COUNTED.len() {
        all[4 + at] = COUNTED[at];
        at += 1;
    }
    at = 0;
    while at < FIGURES.len() {
        all[4 + COUNTED.len() + at] = FIGURES[at];
        at += 1;
    }
    all
}

impl Row for DirectionRow {
    const TABLE: &'static str = "directions";
    const COLUMNS: &'static [Column<DirectionRow>] = &{ joined() };
}
