use super::super::fixed::INF;
use super::super::*;
use super::cruising;

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
fn the_window_comes_back_when_the_timeout_is_over() {
    // Spec section 12.
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    bbr.ssthresh(&mut sk);
    sk.snd_cwnd = 1;
    bbr.set_state(&mut sk, CaState::Loss);
    bbr.set_state(&mut sk, CaState::Open);
    assert_eq!(sk.snd_cwnd, 200);
}

#[test]
fn a_timeout_restarts_the_search_for_a_plateau() {
    // Spec section 12: v2 forgets the bandwidth only, v3 the rounds too.
    for (params, count) in [(Parameters::v2(), 2), (Parameters::v3(), 0)] {
        let (mut bbr, mut sk) = cruising(params);
        (bbr.full.bw, bbr.full.count) = (9, 2);
        bbr.set_state(&mut sk, CaState::Loss);
        assert_eq!((bbr.full.bw, bbr.full.count, bbr.full.is_reached), (0, count, true));
    }
}

#[test]
fn an_undo_without_a_saved_window_leaves_the_window() {
    let (mut bbr, mut sk) = cruising(Parameters::v3());
    assert_eq!(bbr.undo_cwnd(&mut sk), 200);
}
