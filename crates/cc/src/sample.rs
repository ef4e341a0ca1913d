/// An ACK's information about the path: `struct rate_sample`, field by field
/// (draft-cheng-iccrg-delivery-rate-estimation).
///
/// The last four fields are not in mainline Linux; spec section 2 says what they mean, `bpf-struct-ops.md` section 2 how a
/// BPF program recovers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// The time at which the sample's interval begins, us.
    pub prior_mstamp: u64,
    /// `delivered` when the newest packet that was ACKed was sent.
    pub prior_delivered: u32,
    /// `delivered_ce` at that time.
    pub prior_delivered_ce: u32,
    /// Packets delivered over the interval; negative: no sample.
    pub delivered: i32,
    /// The part of these packets reported as CE-marked.
    pub delivered_ce: i32,
    /// The longer of the send phase and the ACK phase, us; 0 or less: no sample.
    pub interval_us: i64,
    /// The send phase, us.
    pub snd_interval_us: u32,
    /// The ACK phase, us.
    pub rcv_interval_us: u32,
    /// The RTT of the newest packet that was ACKed, us; negative: none.
    pub rtt_us: i64,
    /// Packets that this ACK newly marks lost.
    pub losses: i32,
    /// Packets that this ACK newly acknowledges or SACKs.
    pub acked_sacked: u32,
    /// Packets in flight before this ACK was processed.
    pub prior_in_flight: u32,
    /// The end of the newest packet that was ACKed or SACKed; for algorithms with `cong_control` that of what is left of its train,
    /// as in Linux.
    pub last_end_seq: u32,
    /// True if that packet was sent while the application limited the flow.
    pub is_app_limited: bool,
    /// True if that packet was a retransmission.
    pub is_retrans: bool,
    /// The receiver probably delayed this ACK.
    pub is_ack_delayed: bool,
    /// Packets in flight right after the one that ends there was sent, with it; 0: not known.
    pub tx_in_flight: u32,
    /// Packets marked lost since that packet was sent.
    pub lost: i32,
    /// This ACK acknowledges the sequence of a TLP's retransmission.
    pub is_acking_tlp_retrans_seq: bool,
    /// This ACK carries ECE.
    pub is_ece: bool,
}

/// The arguments of `pkts_acked`: `struct ack_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// Packets newly cumulatively ACKed or SACKed.
    pub pkts_acked: u32,
    /// The RTT, us; negative: none (RFC 6298 section 3, Karn).
    pub rtt_us: i32,
    /// Bytes in flight when the newest of these packets was sent.
    pub in_flight: u32,
}

/// A packet as it is marked lost: the argument of `skb_marked_lost` in Google's kernel. Mainline Linux does not have
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostPacket {
    /// Packets in flight right after it was sent, with it.
    pub tx_in_flight: u32,
    /// [`Socket::lost`](crate::Socket::lost) when it was sent.
    pub tx_lost: u32,
    /// [`Socket::delivered`](crate::Socket::delivered) when it was sent.
    pub tx_delivered: u32,
    /// The sequence number after its last byte.
    pub end_seq: u32,
    /// Segments in it.
    pub segments: u32,
    /// True if the packet was sent while the application limited the flow.
    pub is_app_limited: bool,
    /// True if the packet was SACKed before: the receiver reneged.
    pub was_sacked: bool,
}
