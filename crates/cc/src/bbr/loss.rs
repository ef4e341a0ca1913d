//! Packets that are marked lost (spec section 8.4).

use super::Bbr;
use super::fixed::{GAIN_SHIFT, INF, UNIT, scale};
use crate::{LostPacket, RateSample, Socket};

impl Bbr {
    /// The first loss of a round starts a new round, and a whole one is measured.
    fn note_loss(&mut self, sk: &Socket) {
        if !self.signals.loss_in_round {
            self.signals.loss_round_end = sk.delivered;
            if self.params.undo_from_first_loss {
                self.save_undo();
            }
        }
        (self.signals.loss_in_round, self.signals.loss_in_cycle) = (true, true);
    }

    /// An ACK or a timer marked the packet as lost.
    pub(super) fn packet_lost(&mut self, sk: &mut Socket, packet: &LostPacket) {
        self.note_loss(sk);
        if !self.probe.is_sampling || packet.was_sacked {
            return;
        }
        let lost = sk.lost.wrapping_sub(packet.tx_lost);
        if (lost as i32) <= 0 {
            return;
        }
        let threshold = self.params.loss_threshold;
        if let Some(inflight) = inflight_at_loss(packet.tx_in_flight, lost, packet.segments, threshold) {
            self.on_too_high(sk, inflight, packet.is_app_limited);
        }
    }

    /// A TLP repaired a loss: one packet of what was in flight with it \[v3\].
    pub(super) fn loss_repaired_by_tlp(&mut self, sk: &mut Socket) {
        self.note_loss(sk);
        if !self.probe.is_sampling {
            return;
        }
        let rs = RateSample {
            lost: 1,
            tx_in_flight: self.signals.inflight_latest.saturating_add(1),
            is_app_limited: sk.tlp_orig_data_app_limited,
            ..RateSample::default()
        };
        if self.is_too_high(&rs) {
            self.on_too_high(sk, rs.tx_in_flight, rs.is_app_limited);
        }
    }
}

/// The part of the data in flight that fitted before the share of losses crossed the threshold; `None`: it did not
/// cross it.
///
/// `tx_in_flight`: with the lost packet, when it was sent; `lost`: since then, with it; `segments`: in it.
fn inflight_at_loss(tx_in_flight: u32, lost: u32, segments: u32, threshold: u32) -> Option<u32> {
    if lost <= scale(tx_in_flight, threshold) {
        return None;
    }
    // A share of 1 would leave nothing to divide by.
    let threshold = threshold.min(UNIT - 1);
    let (Some(inflight), Some(lost_before)) = (tx_in_flight.checked_sub(segments), lost.checked_sub(segments)) else {
        return Some(INF);
    };
    let budget = (u64::from(inflight) * u64::from(threshold)).div_ceil(u64::from(UNIT));
    let room = budget.saturating_sub(u64::from(lost_before)) << GAIN_SHIFT;
    let prefix = (room / u64::from(UNIT - threshold)) as u32;
    Some(inflight.saturating_add(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_burst_that_fitted() {
        // Spec section 16: packets in flight, lost, segments.
        assert_eq!(inflight_at_loss(100, 1, 1, 5), None);
        assert_eq!(inflight_at_loss(100, 2, 1, 5), Some(100));
        assert_eq!(inflight_at_loss(100, 45, 45, 5), Some(57));
        assert_eq!(inflight_at_loss(1000, 30, 30, 5), Some(989));
        assert_eq!(inflight_at_loss(50, 1, 1, 5), Some(50));
    }

    #[test]
    fn a_threshold_of_all_still_knows_what_was_in_flight() {
        assert_eq!(inflight_at_loss(100, 100, 1, 256), None);
        assert_eq!(inflight_at_loss(100, 101, 1, 256), Some(99));
    }

    #[test]
    fn counts_that_make_no_sense_set_no_bound() {
        assert_eq!(inflight_at_loss(1, 2, 2, 5), Some(INF));
    }
}
