/// The state of loss recovery: `enum tcp_ca_state`, in Linux's order, so that states can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// No sign of loss.
    #[default]
    Open,
    /// The first duplicate ACKs or SACKs: maybe reordering.
    Disorder,
    /// The window is being reduced without a loss: ECN, or a TLP that repaired one.
    Cwr,
    /// Fast retransmit.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// The events of `cwnd_event`: `enum tcp_ca_event`, and the TLP event of Google's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaEvent {
    /// The first transmission with no packet in flight.
    TxStart,
    /// The window restarts after idleness (RFC 2861, RFC 5681 section 4.1).
    CwndRestart,
    /// The end of a window reduction (Cwr or Recovery).
    CompleteCwr,
    /// The retransmission timer expired.
    Loss,
    /// Data came that is ECT but not CE (receiver).
    EcnNoCe,
    /// Data came that is CE (receiver).
    EcnIsCe,
    /// A tail loss probe repaired a loss (RFC 8985 section 7.4.2). Mainline Linux does not have it.
    TlpRecovery,
}

/// Bits of `in_ack_event`: `enum tcp_ca_ack_event_flags`.
pub mod ack_event {
    /// The ACK was not one of the expected kind (header prediction failed).
    pub const SLOWPATH: u32 = 1;
    /// The ACK changed the send window.
    pub const WIN_UPDATE: u32 = 2;
    /// The ACK carries ECE.
    pub const ECE: u32 = 4;
}
