use crate::{CaState, Random};

/// The kernel's tick (a jiffy), us: `CONFIG_HZ=250`, as Debian builds its kernels and dumbbell its own.
pub const TICK_US: u64 = 4_000;
/// `HZ`: ticks in a second.
pub const TICKS_PER_S: u64 = 1_000_000 / TICK_US;

/// The part of a connection that an algorithm reads and writes: the fields of `tcp_sock`, `inet_connection_sock` and
/// `sock`, under their names. Packets are segments of `mss_cache` bytes, counts wrap, times are microseconds unless the
/// name says `ns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// Now: when the ACK that is processed arrived, us.
    pub tcp_mstamp: u64,
    /// Now, ns.
    pub tcp_clock_cache: u64,
    /// The earliest departure time of the next paced packet, ns.
    pub tcp_wstamp_ns: u64,
    /// The time at which `delivered` grew last, us.
    pub delivered_mstamp: u64,
    /// The time at which data was sent last, us. Linux keeps it in jiffies.
    pub lsndtime: u64,

    /// The congestion window, packets.
    pub snd_cwnd: u32,
    /// Packets ACKed that have not grown the window yet.
    pub snd_cwnd_cnt: u32,
    /// The largest window allowed.
    pub snd_cwnd_clamp: u32,
    /// The slow-start threshold, packets; `u32::MAX`: infinite.
    pub snd_ssthresh: u32,
    /// `snd_cwnd` just before the last reduction.
    pub prior_cwnd: u32,
    /// The window was fully used at some time in the last round.
    pub is_cwnd_limited: bool,
    /// The most packets that were in flight in the last round.
    pub max_packets_out: u32,

    /// The first byte that is not acknowledged.
    pub snd_una: u32,
    /// The next byte to be sent.
    pub snd_nxt: u32,

    /// Packets sent and not cumulatively ACKed.
    pub packets_out: u32,
    /// The part of them retransmitted and not ACKed.
    pub retrans_out: u32,
    /// The part of them marked lost.
    pub lost_out: u32,
    /// The part of them SACKed.
    pub sacked_out: u32,
    /// Packets that ever were ACKed or SACKed.
    pub delivered: u32,
    /// The part of them reported as CE-marked.
    pub delivered_ce: u32,
    /// Packets ever marked lost.
    pub lost: u32,
    /// The flow is application-limited until `delivered` reaches this; 0: it is not.
    pub app_limited: u32,
    /// The data that the last TLP repeated was sent while application-limited. Mainline Linux does not have it.
    pub tlp_orig_data_app_limited: bool,

    /// The smoothed RTT, us << 3; 0: no sample yet.
    pub srtt_us: u32,
    /// The connection's windowed minimum RTT, us; `u32::MAX`: no sample yet.
    pub min_rtt_us: u32,
    /// Payload bytes of a packet.
    pub mss_cache: u32,

    /// Bytes per second.
    pub sk_pacing_rate: u64,
    /// The largest pacing rate allowed (`SO_MAX_PACING_RATE`), bytes per second.
    pub sk_max_pacing_rate: u64,
    /// A TSO train holds `sk_pacing_rate >> sk_pacing_shift` bytes; 10: about 1 ms of data.
    pub sk_pacing_shift: u32,
    /// The largest TSO train that the device takes, bytes.
    pub sk_gso_max_size: u32,
    /// The stack must pace.
    pub sk_pacing_needed: bool,

    /// The state of loss recovery.
    pub ca_state: CaState,
    /// The parts of ECN that are in force.
    pub ecn_flags: EcnFlags,
    /// The next byte expected from the peer (receiver).
    pub rcv_nxt: u32,
    /// An ACK is being delayed (receiver).
    pub is_ack_pending: bool,
    /// An ACK that the algorithm asks the stack to send at once (receiver). The stack takes it.
    pub immediate_ack: Option<ImmediateAck>,

    /// The flow's random numbers.
    pub random: Random,
}

/// The parts of ECN that are in force on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnFlags {
    /// Both ends negotiated it (`TCP_ECN_OK`).
    pub ok: bool,
    /// The path marks at a shallow threshold: Google's `TCP_ECN_LOW`, a property of the route.
    pub low: bool,
    /// ACKs carry ECE (`TCP_ECN_DEMAND_CWR`, receiver).
    pub demand_cwr: bool,
}

/// An ACK that is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImmediateAck {
    /// The sequence number that it acknowledges.
    pub rcv_nxt: u32,
    /// True if the ACK carries ECE.
    pub ece: bool,
}

/// Linux's initial window (RFC 6928), packets.
const TCP_INIT_CWND: u32 = 10;

impl Socket {
    /// An established connection that has sent nothing. `mss` in bytes; `seed` of the flow's random numbers.
    pub fn new(mss: u32, seed: u64) -> Socket {
        Socket {
            tcp_mstamp: 0,
            tcp_clock_cache: 0,
            tcp_wstamp_ns: 0,
            delivered_mstamp: 0,
            lsndtime: 0,
            snd_cwnd: TCP_INIT_CWND,
            snd_cwnd_cnt: 0,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: u32::MAX,
            prior_cwnd: 0,
            is_cwnd_limited: false,
            max_packets_out: 0,
            snd_una: 0,
            snd_nxt: 0,
            packets_out: 0,
            retrans_out: 0,
            lost_out: 0,
            sacked_out: 0,
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            app_limited: 0,
            tlp_orig_data_app_limited: false,
            srtt_us: 0,
            min_rtt_us: u32::MAX,
            mss_cache: mss,
            sk_pacing_rate: u64::MAX,
            sk_max_pacing_rate: u64::MAX,
            sk_pacing_shift: 10,
            sk_gso_max_size: 65_536,
            sk_pacing_needed: false,
            ca_state: CaState::Open,
            ecn_flags: EcnFlags::default(),
            rcv_nxt: 0,
            is_ack_pending: false,
            immediate_ack: None,
            random: Random::new(seed),
        }
    }

    /// Now, in ticks: `tcp_jiffies32`.
    pub fn ticks(&self) -> u64 {
        self.tcp_mstamp / TICK_US
    }

    /// Packets in the network: `tcp_packets_in_flight`.
    pub fn packets_in_flight(&self) -> u32 {
        let left_out = self.sacked_out.wrapping_add(self.lost_out);
        self.packets_out.wrapping_sub(left_out).wrapping_add(self.retrans_out)
    }
}
