//! Why bytes were sent again: the first rule that holds.

use crate::rows::{Cause, Evidence};

/// Facts that are known when bytes are sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Highest byte acknowledged and sent before.
    pub(crate) una: i64,
    pub(crate) nxt: i64,
    /// Time since these bytes were last sent, or since a hole was seen in their place.
    pub(crate) since_sent_ns: i64,
    /// Time since the last acknowledgement with news.
    pub(crate) since_news_ns: i64,
    /// Time since the last data.
    pub(crate) since_data_ns: i64,
    pub(crate) rto_ns: i64,
    pub(crate) srtt_ns: Option<i64>,
    /// Bytes above were sacked.
    pub(crate) is_below_sack: bool,
    /// Something that was sent later was delivered; `None` if it is not known when these bytes were sent.
    pub(crate) is_overtaken: Option<bool>,
    pub(crate) duplicate_acks: u32,
    /// The bytes were sent again before.
    pub(crate) is_again: bool,
    /// The end of what had been sent at the last timeout.
    pub(crate) timeout_to: Option<i64>,
    /// The end of what had been sent when recovery began.
    pub(crate) recovery_to: Option<i64>,
}

/// The least share of the timer that passes before it runs out: the capture sees another RTT than the sender.
const TIMER_SHARE: f64 = 0.9;

/// The cause of a retransmission, its evidence, and whether that leaves no other.
pub(crate) fn cause(scene: &Scene) -> (Cause, Evidence, bool) {
    let timer_ns = (scene.rto_ns as f64 * TIMER_SHARE) as i64;
    let is_first = scene.start <= scene.una;
    let is_tail = scene.end >= scene.nxt;
    let ran_out = is_first && scene.since_sent_ns >= timer_ns && scene.since_news_ns >= timer_ns / 2;
    if ran_out && (!is_tail || scene.is_again) {
        return (Cause::Timeout, Evidence::Silence, true);
    }
    let is_signalled = scene.is_below_sack || (scene.duplicate_acks >= 3 && is_first);
    if is_signalled && !ran_out && (!scene.is_again || scene.is_overtaken.unwrap_or(true)) {
        let evidence = if scene.is_below_sack { Evidence::Sack } else { Evidence::DuplicateAcks };
        return (Cause::Fast, evidence, true);
    }
    if scene.timeout_to.is_some_and(|to| scene.start < to) {
        return (Cause::AfterTimeout, Evidence::Silence, true);
    }
    let in_recovery = scene.recovery_to.is_some_and(|to| scene.start < to);
    if in_recovery && is_first && !is_tail {
        return (Cause::Fast, Evidence::PartialAck, false);
    }
    if is_tail {
        // RFC 8985: two RTTs of silence, and with one segment under way the time of a delayed ACK.
        let probe_ns = scene.srtt_ns.map_or(timer_ns, |srtt| srtt + srtt / 2);
        if scene.since_data_ns >= probe_ns && !scene.is_again {
            return (Cause::TailLossProbe, Evidence::Tail, !is_first);
        }
    }
    if in_recovery && is_first {
        return (Cause::Fast, Evidence::PartialAck, false);
    }
    if is_signalled {
        return (Cause::Fast, if scene.is_below_sack { Evidence::Sack } else { Evidence::DuplicateAcks }, false);
    }
    if scene.is_overtaken == Some(true) {
        // RFC 8985: what was sent later may be what was sent again, below or above.
        return (Cause::Fast, Evidence::Overtaken, false);
    }
    (Cause::Unknown, Evidence::None, false)
}
