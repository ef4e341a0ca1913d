use super::super::fixed::{INF, INF_BW};
use super::super::state::AckPhase;
use super::super::*;
use super::{ack, cruising};

#[test]
fn a_probe_that_is_too_high_is_answered_once() {
    // Spec section 8.3: inflight_hi = max(tx_inflight, 0.7 of the target), and UP ends.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.state = State::Up;
    bbr.probe.is_sampling = true;
    let rs = RateSample { lost: 10, tx_in_flight: 120, delivered: 110, interval_us: 10_000, ..RateSample::default() };
    assert!(bbr.is_too_high(&rs));
    bbr.adapt_upper(&mut sk, &rs, 0);
    assert_eq!((bbr.bounds.inflight_hi, bbr.state), (120, State::Down));
    bbr.adapt_upper(&mut sk, &RateSample { tx_in_flight: 10, ..rs }, 0);
    assert_eq!(bbr.bounds.inflight_hi, 120);
}

#[test]
fn a_risky_stop_that_proved_safe_is_followed_by_another_probe() {
    // Spec section 6: DOWN -> REFILL.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.start_down(&mut sk);
    bbr.probe.was_stopped_as_risky = true;
    bbr.rounds.is_start = true;
    assert!(bbr.adapt_upper(&mut sk, &RateSample::default(), 0));
    assert_eq!((bbr.state, bbr.probe.ack_phase), (State::Refill, AckPhase::Refilling));
}

#[test]
fn marks_without_losses_bring_the_next_probe_at_once_and_steeply() {
    // Spec section 8.8: floor(log2(100 / 2)) doublings [v3].
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.start_down(&mut sk);
    (bbr.ecn.is_eligible, bbr.signals.ecn_in_cycle, bbr.bounds.inflight_hi) = (true, true, 100);
    bbr.step_probe_bw(&mut sk, &RateSample { prior_in_flight: 100, ..RateSample::default() }, 0);
    assert_eq!((bbr.state, bbr.probe.up_rounds), (State::Refill, 5));
}

#[test]
fn the_bandwidth_filter_advances_by_a_cycle_unless_app_limited() {
    // Spec section 8.3.
    for (is_app_limited, bw_win) in [(false, [7, 0]), (true, [9, 7])] {
        let (mut bbr, mut sk) = cruising(Parameters::v3());
        bbr.start_down(&mut sk);
        (bbr.rounds.is_start, bbr.bounds.bw_win) = (true, [9, 7]);
        bbr.adapt_upper(&mut sk, &RateSample { is_app_limited, ..ack(1) }, 0);
        assert_eq!(bbr.bounds.bw_win, bw_win);
        assert_eq!(bbr.probe.ack_phase, AckPhase::Init);
    }
}

#[test]
fn while_inflight_hi_limits_the_flow_a_plateau_means_nothing() {
    // Spec section 8.8 [v3].
    for (inflight_hi, state, full_bw) in [(200, State::Up, 7), (201, State::Down, 9)] {
        let (mut bbr, mut sk) = cruising(Parameters::v3());
        (bbr.state, bbr.bounds.inflight_hi, sk.is_cwnd_limited) = (State::Up, inflight_hi, true);
        (bbr.full.is_now, bbr.full.bw) = (true, 9);
        bbr.step_probe_bw(&mut sk, &ack(1), 7);
        assert_eq!((bbr.state, bbr.full.bw), (state, full_bw));
    }
}

#[test]
fn a_probe_after_one_that_was_too_high_stops_at_the_bound() {
    // Spec section 8.8, "precautionary stop".
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    (bbr.state, bbr.bounds.inflight_hi, bbr.probe.was_too_high) = (State::Up, 100, true);
    bbr.step_probe_bw(&mut sk, &RateSample { prior_in_flight: 99, ..ack(1) }, 0);
    assert_eq!(bbr.state, State::Up);
    bbr.step_probe_bw(&mut sk, &RateSample { prior_in_flight: 100, ..ack(1) }, 0);
    assert_eq!((bbr.state, bbr.probe.was_stopped_as_risky, bbr.probe.was_too_high), (State::Down, true, false));
}

#[test]
fn inflight_hi_grows_by_the_slope_which_doubles_at_a_round_start() {
    // Spec section 8.3, "grow_inflight_hi".
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    (bbr.bounds.inflight_hi, sk.is_cwnd_limited, bbr.probe.up_cnt) = (200, true, 10);
    bbr.grow_inflight_hi(&sk, &ack(25));
    assert_eq!((bbr.bounds.inflight_hi, bbr.probe.up_acks, bbr.probe.up_rounds), (202, 5, 0));
    bbr.rounds.is_start = true;
    sk.snd_cwnd = 202;
    bbr.grow_inflight_hi(&sk, &ack(1));
    assert_eq!((bbr.probe.up_cnt, bbr.probe.up_rounds), (202, 1));
}

#[test]
fn cruise_keeps_its_short_term_bound_under_the_long_term_one() {
    // Spec section 8.8.
    for (inflight_lo, expected) in [(150, 120), (100, 100), (INF, INF)] {
        let (mut bbr, _) = cruising(Parameters::v3());
        (bbr.bounds.inflight_lo, bbr.bounds.inflight_hi) = (inflight_lo, 120);
        bbr.start_cruise();
        assert_eq!(bbr.bounds.inflight_lo, expected);
    }
}

#[test]
fn probe_rtt_marks_the_flow_as_app_limited_and_ends_without_short_term_bounds() {
    // Spec section 8.9.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    sk.tcp_mstamp += 5_000_001;
    bbr.update_min_rtt(&mut sk, &ack(1));
    assert_eq!((bbr.state, sk.app_limited), (State::ProbeRtt, 5_100));
    sk.packets_out = 50;
    bbr.update_min_rtt(&mut sk, &ack(1));
    (bbr.rounds.is_start, bbr.bounds.inflight_lo, bbr.bounds.bw_lo) = (true, 70, 7);
    sk.tcp_mstamp += 200_000;
    bbr.update_min_rtt(&mut sk, &ack(1));
    assert_eq!(bbr.state, State::ProbeRtt);
    sk.tcp_mstamp += 1;
    bbr.update_min_rtt(&mut sk, &ack(1));
    assert_eq!((bbr.state, bbr.bounds.inflight_lo, bbr.bounds.bw_lo), (State::Cruise, INF, INF_BW));
}
