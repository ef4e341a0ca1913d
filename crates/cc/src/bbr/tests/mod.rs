mod bounds;
mod probing;
mod recovery;

use super::fixed::UNIT;
use super::*;

/// A flow of 100 packets in PROBE_BW on a path of 1 packet per 100 us and 10 ms.
fn cruising(params: Parameters) -> (Bbr, Socket) {
    let mut sk = Socket { snd_cwnd: 200, delivered: 5_000, tcp_mstamp: 1_000_000, ..Socket::new(1448, 1) };
    (sk.min_rtt_us, sk.srtt_us, sk.packets_out) = (10_000, 80_000, 100);
    let mut bbr = Bbr::new(params);
    bbr.init(&mut sk);
    bbr.bounds.bw_win = [(1 << 24) / 100 + 1; 2];
    bbr.full.is_reached = true;
    bbr.state = State::Cruise;
    bbr.refresh_gains();
    sk.sk_pacing_rate = 1_000_000; // Short trains.
    (bbr, sk)
}

/// An ACK of `acked` packets, with a sample of two packets in 10 ms.
fn ack(acked: u32) -> RateSample {
    RateSample { acked_sacked: acked, delivered: 2, interval_us: 10_000, rtt_us: 10_000, ..RateSample::default() }
}

#[test]
fn the_constants_of_the_specification() {
    // Spec section 16: 739, 710, 88, 232 (0.91), 192 (0.75), 320, keep-beta 180, loss 5, headroom 38, ECN.
    let (v2, v3) = (Parameters::v2(), Parameters::v3());
    assert_eq!([v2.startup_pacing_gain, v3.startup_pacing_gain, v3.drain_pacing_gain], [739, 710, 88]);
    assert_eq!([v3.down_pacing_gain, v2.down_pacing_gain, v3.up_pacing_gain], [232, 192, 320]);
    assert_eq!([v3.beta_keep, v3.loss_threshold, v3.headroom], [180, 5, 38]);
    assert_eq!([v3.ecn_factor, v3.ecn_threshold, v3.ecn_alpha_gain], [85, 128, 16]);
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
    sk.tcp_mstamp += 1_000;
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert_eq!(sk.sk_pacing_rate, fixed::pacing_rate(bbr.bw(), 1448, UNIT));
    assert!(bbr.is_idle_restart);
    // Aggregation does not go on from before either.
    assert_eq!(bbr.aggregation, Aggregation::slots(sk.tcp_mstamp));
    sk.app_limited = 0;
    bbr.is_idle_restart = false;
    bbr.cwnd_event(&mut sk, CaEvent::TxStart);
    assert!(!bbr.is_idle_restart);
}
