use super::Bbr;
use crate::Column;
use crate::state::{BbrState, narrow};

impl Bbr {
    pub(super) fn published(&self) -> BbrState {
        BbrState {
            state: self.state.published(),
            ack_phase: self.probe.ack_phase.published(),
            bw: narrow(self.bw()),
            bw_lo: narrow(self.bounds.bw_lo),
            bw_hi: narrow(self.max_bw().min(self.bounds.bw_hi)),
            min_rtt: self.rtt.min_rtt,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            inflight_lo: self.bounds.inflight_lo,
            inflight_hi: self.bounds.inflight_hi,
            round: self.rounds.count,
            cycle: self.probe.probes,
        }
    }

    /// Bandwidths are packets per us << 24, gains and shares of 256.
    pub(super) fn publish_columns(&self, column: &mut dyn FnMut(Column)) {
        const BW: &str = "packets/us<<24";
        column(Column::text("bbr.state", self.state.name()));
        column(Column::text("bbr.ack_phase", self.probe.ack_phase.name()));
        column(Column::wide("bbr.bw", BW, self.bw()));
        column(Column::wide("bbr.max_bw", BW, self.max_bw()));
        column(Column::wide("bbr.bw_lo", BW, self.bounds.bw_lo));
        column(Column::wide("bbr.bw_hi", BW, self.bounds.bw_hi));
        column(Column::wide("bbr.full_bw", BW, self.full.bw));
        column(Column::flag("bbr.full_bw_reached", self.full.is_reached));
        column(Column::number("bbr.min_rtt", "us", self.rtt.min_rtt));
        column(Column::number("bbr.pacing_gain", "1/256", self.pacing_gain));
        column(Column::number("bbr.cwnd_gain", "1/256", self.cwnd_gain));
        column(Column::number("bbr.inflight_lo", "packets", self.bounds.inflight_lo));
        column(Column::number("bbr.inflight_hi", "packets", self.bounds.inflight_hi));
        column(Column::number("bbr.extra_acked", "packets", self.aggregation.max()));
        column(Column::number("bbr.prior_cwnd", "packets", self.prior_cwnd));
        column(Column::number("bbr.round", "rounds", self.rounds.count));
        column(Column::number("bbr.probes", "probes", self.probe.probes));
        column(Column::number("bbr.rounds_since_probe", "rounds", u32::from(self.probe.rounds_since)));
        column(Column::number("bbr.probe_wait", "us", self.probe.wait_us));
        column(Column::wide("bbr.cycle_start", "us", self.probe.cycle_start));
        column(Column::number("bbr.ecn_alpha", "1/256", self.ecn.alpha));
        column(Column::flag("bbr.ecn_eligible", self.ecn.is_eligible));
        column(Column::flag("bbr.loss_in_round", self.signals.loss_in_round));
        column(Column::flag("bbr.ecn_in_round", self.signals.ecn_in_round));
    }
}
