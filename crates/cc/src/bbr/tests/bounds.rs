use super::super::fixed::{INF, INF_BW};
use super::super::*;
use super::{ack, cruising};

#[test]
fn a_lossy_round_cuts_the_short_term_bounds_by_30_percent_but_not_below_what_it_delivered() {
    // Spec section 8.2.
    for params in [Parameters::v2(), Parameters::v3()] {
        let (mut bbr, sk) = cruising(params);
        bbr.signals.loss_in_round = true;
        bbr.adapt_lower(&sk);
        assert_eq!(bbr.bounds.bw_lo, (bbr.max_bw() * 180) >> 8);
        assert_eq!(bbr.bounds.inflight_lo, 140);
        bbr.signals.inflight_latest = 130;
        bbr.adapt_lower(&sk);
        assert_eq!(bbr.bounds.inflight_lo, 130);
    }
}

#[test]
fn probing_does_not_lower_the_bounds() {
    let (mut bbr, sk) = cruising(Parameters::v3());
    for state in [State::Startup, State::Refill, State::Up] {
        (bbr.state, bbr.signals.loss_in_round) = (state, true);
        bbr.adapt_lower(&sk);
        assert_eq!((bbr.bounds.bw_lo, bbr.bounds.inflight_lo), (INF_BW, INF));
    }
}

#[test]
fn marks_cut_the_volume_and_in_v2_the_rate() {
    // Spec section 14, item 6; alpha = 1: a third.
    for (params, cuts_bw) in [(Parameters::v2(), true), (Parameters::v3(), false)] {
        let (mut bbr, sk) = cruising(params);
        (bbr.ecn.is_eligible, bbr.signals.ecn_in_round) = (true, true);
        bbr.adapt_lower(&sk);
        assert_eq!(bbr.bounds.inflight_lo, (200 * 171) >> 8);
        assert_eq!(bbr.bounds.bw_lo != INF_BW, cuts_bw);
    }
}

#[test]
fn one_loss_among_51_packets_is_too_high_and_among_52_is_not() {
    // Spec section 8.3: the threshold is truncated.
    let (bbr, _) = cruising(Parameters::v3());
    let rs = |tx_in_flight| RateSample { lost: 1, tx_in_flight, ..RateSample::default() };
    assert!(bbr.is_too_high(&rs(51)));
    assert!(!bbr.is_too_high(&rs(52)));
}

#[test]
fn half_of_the_packets_marked_is_too_high_for_v2_only() {
    // Spec section 3, "ECN threshold".
    for (params, is_too_high) in [(Parameters::v2(), true), (Parameters::v3(), false)] {
        let (mut bbr, _) = cruising(params);
        bbr.ecn.is_eligible = true;
        assert_eq!(
            bbr.is_too_high(&RateSample { delivered: 10, delivered_ce: 5, ..RateSample::default() }),
            is_too_high
        );
    }
}

#[test]
fn without_marks_or_deliveries_marks_are_not_too_high() {
    // Of one packet, half is 0 packets: v2 would find no mark at the threshold.
    for params in [Parameters::v2(), Parameters::v3()] {
        let (mut bbr, _) = cruising(params);
        bbr.ecn.is_eligible = true;
        for (delivered, delivered_ce, is_too_high) in [(1, 0, false), (0, 1, false), (-1, 1, false), (1, 1, true)] {
            let rs = RateSample { delivered, delivered_ce, ..RateSample::default() };
            assert_eq!(bbr.is_too_high(&rs), is_too_high, "{delivered_ce} of {delivered}");
        }
    }
}

#[test]
fn an_echoed_mark_counts_in_v2_and_where_marks_are_answered() {
    // Spec section 7.
    for (params, is_ece, is_eligible, is_counted) in [
        (Parameters::v2(), true, false, true),
        (Parameters::v2(), false, true, false),
        (Parameters::v3(), true, true, true),
        (Parameters::v3(), true, false, false),
        (Parameters::v3(), false, true, false),
    ] {
        let (mut bbr, mut sk) = cruising(params);
        bbr.ecn.is_eligible = is_eligible;
        bbr.cong_control(&mut sk, &RateSample { is_ece, ..ack(1) });
        assert_eq!(bbr.signals.ecn_in_round, is_counted);
    }
}

#[test]
fn an_ack_that_delivers_nothing_is_no_signal() {
    // Spec section 8.1: not even of the end of a loss round.
    for params in [Parameters::v2(), Parameters::v3()] {
        let (mut bbr, sk) = cruising(params);
        let before = (bbr.signals.clone(), bbr.bounds.clone());
        let rs = RateSample { losses: 1, prior_delivered: sk.delivered + 1, ..ack(0) };
        bbr.update_latest(&sk, &rs, u64::MAX);
        bbr.update_congestion_signals(&sk, &rs, u64::MAX);
        assert_eq!((bbr.signals, bbr.bounds), before);
    }
}

#[test]
fn losses_at_the_end_of_startup_bound_the_volume() {
    // Spec section 8.5, section 14 item 1.
    for (params, events, inflight_hi) in [(Parameters::v2(), 8, 101), (Parameters::v3(), 6, 150)] {
        let (mut bbr, mut sk) = cruising(params);
        (bbr.state, bbr.full.is_reached, bbr.signals.is_loss_round_start) = (State::Startup, false, true);
        (bbr.signals.inflight_latest, sk.ca_state) = (150, CaState::Recovery);
        let rs = RateSample { losses: 1, lost: 20, tx_in_flight: 200, ..RateSample::default() };
        bbr.signals.loss_events_in_round = events - 2;
        bbr.check_startup_loss(&sk, &rs);
        assert!(!bbr.full.is_reached);
        bbr.signals.loss_events_in_round = events - 1;
        bbr.check_startup_loss(&sk, &rs);
        assert_eq!((bbr.full.is_reached, bbr.bounds.inflight_hi), (true, inflight_hi));
    }
}

#[test]
fn two_rounds_of_marks_end_startup() {
    // Spec section 10.
    let (mut bbr, mut sk) = cruising(Parameters { ecn: true, ..Parameters::v3() });
    (bbr.full.is_reached, bbr.rtt.min_rtt) = (false, 4_000);
    for is_reached in [false, true] {
        (sk.delivered, sk.delivered_ce) = (sk.delivered + 5_000, sk.delivered_ce + 5_000);
        bbr.update_ecn_alpha(&sk);
        assert_eq!(bbr.full.is_reached, is_reached);
    }
}

#[test]
fn marks_are_answered_on_short_paths_only() {
    // Spec section 10: min_rtt <= 5 ms, and only if allowed: by parameter, or in v3 by the route.
    for (min_rtt, low, params, is_eligible) in [
        (5_000, true, Parameters::v3(), true),
        (5_001, true, Parameters::v3(), false),
        (5_000, false, Parameters::v3(), false),
        (5_000, true, Parameters::v2(), false),
        (5_000, false, Parameters { ecn: true, ..Parameters::v2() }, true),
    ] {
        let (mut bbr, mut sk) = cruising(params);
        bbr.rtt.min_rtt = min_rtt;
        (sk.ecn_flags.ok, sk.ecn_flags.low) = (true, low);
        bbr.update_ecn_alpha(&sk);
        assert_eq!(bbr.ecn.is_eligible, is_eligible);
    }
}

#[test]
fn an_app_limited_sample_counts_only_if_it_is_not_lower() {
    // Spec section 8.2.
    let (mut bbr, sk) = cruising(Parameters::v3());
    let max_bw = bbr.max_bw();
    let rs = RateSample { is_app_limited: true, ..ack(1) };
    bbr.bounds.bw_win = [max_bw, 0];
    bbr.update_congestion_signals(&sk, &rs, max_bw - 1);
    assert_eq!(bbr.bounds.bw_win, [max_bw, 0]);
    bbr.update_congestion_signals(&sk, &rs, max_bw);
    assert_eq!(bbr.bounds.bw_win, [max_bw, max_bw]);
}

#[test]
fn a_sample_above_bw_hi_raises_it_in_v2() {
    // Spec section 8.3.
    let (mut bbr, mut sk) = cruising(Parameters::v2());
    bbr.bounds.bw_hi = 1_000;
    bbr.adapt_upper(&mut sk, &ack(1), 1_001);
    assert_eq!(bbr.bounds.bw_hi, 1_001);
}

#[test]
fn a_marked_probe_without_a_good_sample_cuts_bw_hi_in_v2() {
    // Spec section 8.3: by a third of max_bw.
    for (has_ok_sample, is_cut) in [(false, true), (true, false)] {
        let (mut bbr, mut sk) = cruising(Parameters::v2());
        (bbr.ecn.is_eligible, bbr.probe.has_ok_sample) = (true, has_ok_sample);
        bbr.on_too_high(&mut sk, 100, false);
        assert_eq!(bbr.bounds.bw_hi, if is_cut { (bbr.max_bw() * 171) >> 8 } else { INF_BW });
    }
}

#[test]
fn losses_end_startup_only_in_recovery() {
    // Spec section 8.5.
    for (state, is_reached) in [(CaState::Disorder, false), (CaState::Recovery, true)] {
        let (mut bbr, mut sk) = cruising(Parameters::v3());
        (bbr.full.is_reached, bbr.signals.is_loss_round_start, sk.ca_state) = (false, true, state);
        bbr.signals.loss_events_in_round = 15;
        bbr.check_startup_loss(&sk, &RateSample { lost: 20, tx_in_flight: 200, ..ack(1) });
        assert_eq!(bbr.full.is_reached, is_reached);
    }
}

#[test]
fn a_new_loss_round_starts_the_latest_signals_but_not_on_a_tlps_ack() {
    // Spec section 7 step 13 [v3].
    for (is_tlp, inflight_latest) in [(false, 2), (true, 50)] {
        let (mut bbr, _) = cruising(Parameters::v3());
        (bbr.signals.inflight_latest, bbr.signals.is_loss_round_start) = (50, true);
        bbr.advance_latest(&RateSample { is_acking_tlp_retrans_seq: is_tlp, ..ack(1) }, 7);
        assert_eq!(bbr.signals.inflight_latest, inflight_latest);
    }
}

#[test]
fn drain_forgets_the_signals_of_startup() {
    // Spec section 8.7.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    (bbr.state, bbr.signals.loss_in_round, bbr.signals.bw_latest, sk.packets_out) = (State::Startup, true, 7, 1_000);
    bbr.check_drain(&mut sk);
    assert_eq!((bbr.state, bbr.signals.loss_in_round, bbr.signals.bw_latest), (State::Drain, false, 0));
    assert_eq!(sk.snd_ssthresh, 101);
}
