use super::fixed::{INF, INF_BW, UNIT};
use super::state::AckPhase;
use super::*;

#[test]
fn the_constants_of_the_specification() {
    // Spec section 16: 739, 710, 88, 232 (0.91), 192 (0.75), 320, keep-beta 180, loss 5, headroom 38, ECN.
    let (v2, v3) = (Parameters::v2(), Parameters::v3());
    assert_eq!([v2.startup_pacing_gain, v3.startup_pacing_gain, v3.drain_pacing_gain], [739, 710, 88]);
    assert_eq!([v3.down_pacing_gain, v2.down_pacing_gain, v3.up_pacing_gain], [232, 192, 320]);
    assert_eq!([v3.beta_keep, v3.loss_threshold, v3.headroom], [180, 5, 38]);
    assert_eq!([v3.ecn_factor, v3.ecn_threshold, v3.ecn_alpha_gain], [85, 128, 16]);
}

/// A flow of 100 packets in PROBE_BW on a path of 1 packet per 100 us and 10 ms.
fn cruising(params: Parameters) -> (Bbr, Socket) {
    let mut sk = Socket { snd_cwnd: 200, delivered: 5_000, tcp_mstamp: 1_000_000, ..Socket::new(1448, 1) };
    (sk.min_rtt_us, sk.srtt_us, sk.packets_out) = (10_000, 80_000, 100);
    let mut bbr = Bbr::new(params);
    bbr.init(&mut sk);
    bbr.bounds.bw_win = [(1 << 24) / 100 + 1; 2];
    bbr.full.is_reached = true;
    bbr.state = State::Cruise;
    sk.sk_pacing_rate = 1_000_000; // Short trains.
    (bbr, sk)
}

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
fn marks_without_losses_bring_the_next_probe_at_once_and_steeply() {
    // Spec section 8.8: floor(log2(100 / 2)) doublings [v3].
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.start_down(&mut sk);
    (bbr.ecn.is_eligible, bbr.signals.ecn_in_cycle, bbr.bounds.inflight_hi) = (true, true, 100);
    bbr.step_probe_bw(&mut sk, &RateSample { prior_in_flight: 100, ..RateSample::default() }, 0);
    assert_eq!((bbr.state, bbr.probe.up_rounds), (State::Refill, 5));
}

#[test]
fn a_timeout_bounds_the_volume_and_an_undo_lifts_the_bound() {
    // Spec section 12.
    for (params, inflight_lo) in [(Parameters::v2(), 200), (Parameters::v3(), 200)] {
        let (mut bbr, mut sk) = cruising(params);
        bbr.ssthresh(&mut sk);
        sk.snd_cwnd = 1;
        bbr.set_state(&mut sk, CaState::Loss);
        sk.ca_state = CaState::Loss;
        assert_eq!(bbr.bounds.inflight_lo, inflight_lo);
        assert_eq!(bbr.undo_cwnd(&mut sk), 200);
        assert_eq!(bbr.bounds.inflight_lo, INF);
    }
}

#[test]
fn a_draft_undo_goes_back_to_startup_or_to_refill() {
    // Spec section 15, "undo".
    for (lost_in, back_in) in
        [(State::Startup, State::Startup), (State::Up, State::Refill), (State::Cruise, State::Down)]
    {
        let (mut bbr, mut sk) = cruising(Parameters::v3_draft());
        bbr.state = lost_in;
        bbr.skb_marked_lost(&mut sk, &LostPacket::default());
        bbr.start_down(&mut sk);
        bbr.undo_cwnd(&mut sk);
        assert_eq!((bbr.state, bbr.full.is_reached), (back_in, lost_in != State::Startup));
    }
}

#[test]
fn a_tlp_that_repaired_a_loss_counts_as_one_in_v3() {
    // Spec section 8.4: one loss in inflight_latest + 1.
    for (params, is_noted) in [(Parameters::v2(), false), (Parameters::v3(), true)] {
        let (mut bbr, mut sk) = cruising(params);
        (bbr.probe.is_sampling, bbr.signals.inflight_latest) = (true, 40);
        bbr.cwnd_event(&mut sk, CaEvent::TlpRecovery);
        assert_eq!((bbr.signals.loss_in_round, bbr.probe.was_too_high), (is_noted, is_noted));
    }
}

#[test]
fn a_reneged_packet_is_a_loss_but_no_bound() {
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.probe.is_sampling = true;
    sk.lost = 1;
    let packet = LostPacket { tx_in_flight: 10, segments: 1, was_sacked: true, ..LostPacket::default() };
    bbr.skb_marked_lost(&mut sk, &packet);
    assert!(bbr.signals.loss_in_round && !bbr.probe.was_too_high);
    bbr.skb_marked_lost(&mut sk, &LostPacket { was_sacked: false, ..packet });
    assert!(bbr.probe.was_too_high);
}

#[test]
fn the_bdp_is_the_initial_window_before_there_is_an_rtt() {
    let mut sk = Socket::new(1448, 1);
    let mut bbr = Bbr::new(Parameters::v3());
    bbr.init(&mut sk);
    assert_eq!(bbr.bdp(1 << 24, UNIT), 10);
    // Spec section 11: 10 packets in 1 ms, at 2.77, less 1 %.
    assert_eq!(sk.sk_pacing_rate, fixed::pacing_rate((10 << 24) / 1000, 1448, 710));
}

#[test]
fn a_restart_from_idle_paces_at_the_bandwidth() {
    // Spec section 13.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    (bbr.state, sk.app_limited) = (State::Up, 1);
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert_eq!(sk.sk_pacing_rate, fixed::pacing_rate(bbr.bw(), 1448, UNIT));
    assert!(bbr.is_idle_restart);
    sk.app_limited = 0;
    bbr.is_idle_restart = false;
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert!(!bbr.is_idle_restart);
}
