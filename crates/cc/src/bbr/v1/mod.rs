//! BBRv1 as Linux runs it (section 18 of `../SPECIFICATION.md`). Gains are of 256.

mod cycle;
mod long_term;
mod min_rtt;
mod outputs;
#[cfg(test)]
mod tests;

use super::aggregation::Aggregation;
use super::fixed::{INF, UNIT, bdp, delivery_rate, packets, scale_bw};
use super::model::until_departure;
use super::plateau::FullBandwidth;
use super::signals::Rounds;
use super::tso::{floor_by_rate, tso_goal};
use super::windowed::WindowedMax;
use crate::state::{BbrState, NONE, bbr_state, narrow};
use crate::{CaEvent, CaState, Column, CongestionControl, RateSample, Socket, State};
use long_term::LongTerm;
use min_rtt::MinRtt;

/// BBRv1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bbr1 {
    mode: Mode,
    pacing_gain: u32,
    cwnd_gain: u32,
    rounds: Rounds,
    /// The greatest delivery rate of the last 10 rounds.
    bw: WindowedMax,
    long_term: LongTerm,
    full: FullBandwidth,
    /// The phase of PROBE_BW, 0..8.
    cycle_idx: u32,
    /// The start of that phase, us.
    cycle_start: u64,
    rtt: MinRtt,
    aggregation: Aggregation,
    /// The window before recovery or PROBE_RTT.
    prior_cwnd: u32,
    prev_ca_state: CaState,
    /// The flow sends no more than is delivered in the first round of recovery.
    is_conserving: bool,
    has_seen_rtt: bool,
    is_idle_restart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// 2/ln 2 = 2.885: the least gain that doubles the rate each round.
const HIGH_GAIN: u32 = 739;
/// 1/2.885.
const DRAIN_GAIN: u32 = 88;
/// Window gain of PROBE_BW.
const CWND_GAIN: u32 = 512;
/// Rounds of the bandwidth filter.
const BW_ROUNDS: u32 = 10;
/// The plateau: three rounds without 25 % of growth.
const FULL_BW_THRESHOLD: u32 = 320;
const FULL_BW_ROUNDS: u32 = 3;
/// The least window, packets.
const MIN_CWND: u32 = 4;

impl Default for Bbr1 {
    fn default() -> Bbr1 {
        Bbr1 {
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            rounds: Rounds::default(),
            bw: WindowedMax::default(),
            long_term: LongTerm::default(),
            full: FullBandwidth::default(),
            cycle_idx: 0,
            cycle_start: 0,
            rtt: MinRtt::default(),
            aggregation: Aggregation::slots(0),
            prior_cwnd: 0,
            prev_ca_state: CaState::Open,
            is_conserving: false,
            has_seen_rtt: false,
            is_idle_restart: false,
        }
    }
}

impl CongestionControl for Bbr1 {
    /// Linux's name for it.
    fn name(&self) -> &'static str {
        "bbr"
    }

    fn init(&mut self, sk: &mut Socket) {
        *self = Bbr1 {
            rounds: Rounds::begin(sk.delivered),
            rtt: MinRtt::begin(sk.min_rtt_us, sk.tcp_mstamp),
            aggregation: Aggregation::slots(sk.tcp_mstamp),
            ..Bbr1::default()
        };
        sk.snd_ssthresh = u32::MAX;
        sk.sk_pacing_needed = true;
        self.long_term.reset(sk);
        self.init_pacing_rate(sk);
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.save_cwnd(sk);
        sk.snd_ssthresh
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        self.update_bw(sk, rs);
        self.aggregation.on_ack(sk, rs, self.bw(), self.rounds.is_start, true);
        self.update_cycle_phase(sk, rs);
        self.check_full_bw(rs);
        self.check_drain(sk);
        self.update_min_rtt(sk, rs);
        self.refresh_gains();
        self.set_pacing_rate(sk, self.bw(), self.pacing_gain);
        self.set_cwnd(sk, rs);
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        if state == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.full.bw = 0;
            self.rounds.is_start = true; // A timeout is the end of a round.
            self.sample_long_term(sk, &RateSample { losses: 1, ..RateSample::default() });
        }
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        if event != CaEvent::TxStart || sk.app_limited == 0 {
            return;
        }
        self.is_idle_restart = true;
        self.aggregation.restart(sk.tcp_mstamp);
        match self.mode {
            // Pacing restarts at the bandwidth, whatever the gain of the phase: the cycle stood still while the flow was idle.
            Mode::ProbeBw => self.set_pacing_rate(sk, self.bw(), UNIT),
            Mode::ProbeRtt => self.maybe_end_probe_rtt(sk),
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.full.reset(0);
        self.long_term.reset(sk);
        sk.snd_cwnd
    }

    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        floor_by_rate(sk)
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }

    fn state(&self) -> State {
        BbrState {
            state: self.mode.published(),
            bw: narrow(self.bw()),
            min_rtt: self.rtt.min_rtt,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            round: self.rounds.count,
            cycle: if self.mode == Mode::ProbeBw { self.cycle_idx } else { NONE },
            ..BbrState::default()
        }
        .into()
    }

    /// Bandwidths are packets per us << 24, gains of 256.
    fn publish(&self, column: &mut dyn FnMut(Column)) {
        const BW: &str = "packets/us<<24";
        column(Column::text("bbr.state", self.mode.name()));
        column(Column::number("bbr.cycle_idx", "", self.cycle_idx));
        column(Column::wide("bbr.bw", BW, self.bw()));
        column(Column::wide("bbr.max_bw", BW, self.bw.get()));
        column(Column::wide("bbr.lt_bw", BW, self.long_term.bw));
        column(Column::flag("bbr.lt_use_bw", self.long_term.is_used));
        column(Column::wide("bbr.full_bw", BW, self.full.bw));
        column(Column::flag("bbr.full_bw_reached", self.full.is_reached));
        column(Column::number("bbr.min_rtt", "us", self.rtt.min_rtt));
        column(Column::number("bbr.pacing_gain", "1/256", self.pacing_gain));
        column(Column::number("bbr.cwnd_gain", "1/256", self.cwnd_gain));
        column(Column::number("bbr.extra_acked", "packets", self.aggregation.max()));
        column(Column::number("bbr.prior_cwnd", "packets", self.prior_cwnd));
        column(Column::number("bbr.round", "rounds", self.rounds.count));
        column(Column::flag("bbr.packet_conservation", self.is_conserving));
    }
}

impl Mode {
    const fn published(self) -> u32 {
        match self {
            Mode::Startup => bbr_state::STARTUP,
            Mode::Drain => bbr_state::DRAIN,
            Mode::ProbeBw => bbr_state::PROBE_BW,
            Mode::ProbeRtt => bbr_state::PROBE_RTT,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Mode::Startup => "STARTUP",
            Mode::Drain => "DRAIN",
            Mode::ProbeBw => "PROBE_BW",
            Mode::ProbeRtt => "PROBE_RTT",
        }
    }
}

impl Bbr1 {
    /// Returns the rate of the policer if one was detected, otherwise the greatest delivery rate of the last 10 rounds.
    fn bw(&self) -> u64 {
        if self.long_term.is_used { self.long_term.bw } else { self.bw.get() }
    }

    fn update_bw(&mut self, sk: &mut Socket, rs: &RateSample) {
        self.rounds.is_start = false;
        if rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        self.rounds.update(sk, rs);
        if self.rounds.is_start {
            self.is_conserving = false;
        }
        self.sample_long_term(sk, rs);
        let sample = delivery_rate(rs, false);
        if !rs.is_app_limited || sample >= self.bw.get() {
            self.bw.update(BW_ROUNDS, self.rounds.count, sample);
        }
    }

    fn check_full_bw(&mut self, rs: &RateSample) {
        if self.full.is_reached || !self.rounds.is_start || rs.is_app_limited {
            return;
        }
        let bw = self.bw.get();
        if bw >= scale_bw(self.full.bw, FULL_BW_THRESHOLD) {
            self.full.reset(bw);
        } else {
            self.full.count += 1;
            self.full.is_reached = self.full.count >= FULL_BW_ROUNDS;
        }
    }

    fn check_drain(&mut self, sk: &mut Socket) {
        let drained = self.inflight(sk, self.bw.get(), UNIT);
        if self.mode == Mode::Startup && self.full.is_reached {
            self.mode = Mode::Drain;
            sk.snd_ssthresh = drained; // This is for information only.
        }
        if self.mode == Mode::Drain && self.in_net(sk, sk.packets_in_flight()) <= drained {
            self.start_probe_bw(sk);
        }
    }

    fn refresh_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (self.cycle_gain(), CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn bdp(&self, bw: u64, gain: u32) -> u32 {
        if self.rtt.min_rtt == INF { 10 } else { bdp(bw, self.rtt.min_rtt, gain) }
    }

    /// Adds room to a window for three trains (bursts of segments that the stack sends at once), makes the sum even (an ACK for every
    /// second packet), and adds two packets in the phase that probes.
    fn quantize(&self, sk: &Socket, cwnd: u32) -> u32 {
        let train = tso_goal(sk, INF, floor_by_rate(sk));
        let even = cwnd.saturating_add(3 * train).saturating_add(1) & !1;
        if self.mode == Mode::ProbeBw && self.cycle_idx == 0 { even.saturating_add(2) } else { even }
    }

    fn inflight(&self, sk: &Socket, bw: u64, gain: u32) -> u32 {
        self.quantize(sk, self.bdp(bw, gain))
    }

    /// The part of `n` packets in flight that will be in the network when the next paced train leaves.
    fn in_net(&self, sk: &Socket, n: u32) -> u32 {
        let train = if self.pacing_gain > UNIT { tso_goal(sk, INF, floor_by_rate(sk)) } else { 0 };
        n.saturating_add(train).saturating_sub(packets(self.bw(), until_departure(sk)))
    }
}
