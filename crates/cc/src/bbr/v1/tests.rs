use super::*;

fn socket() -> Socket {
    Socket { delivered: 1000, tcp_mstamp: 1_000_000, delivered_mstamp: 1_000_000, ..Socket::new(1448, 1) }
}

#[test]
fn the_first_phase_is_any_but_the_drain() {
    let mut seen = [0; 8];
    let mut sk = socket();
    for _ in 0..7_000 {
        let mut bbr = Bbr1::default();
        bbr.start_probe_bw(&mut sk);
        seen[bbr.cycle_idx as usize] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().enumerate().all(|(phase, &n)| phase == 1 || n > 800), "{seen:?}");
}

#[test]
fn two_lossy_intervals_of_the_same_rate_are_a_policer() {
    let mut bbr = Bbr1::default();
    let mut sk = socket();
    bbr.init(&mut sk);
    let lossy = RateSample { losses: 1, delivered: 100, interval_us: 100_000, ..RateSample::default() };
    // 100 packets per round of 100 ms, 25 % lost.
    for round in 0..20 {
        sk.delivered += 100;
        sk.lost += 25;
        sk.delivered_mstamp += 100_000;
        bbr.rounds.is_start = true;
        bbr.sample_long_term(&mut sk, &lossy);
        if bbr.long_term.is_used {
            assert_eq!(round, 7, "the first interval ends in its 4th round, the second 4 rounds later");
            break;
        }
    }
    assert!(bbr.long_term.is_used);
    assert_eq!(bbr.bw(), (100 << 24) / 100_000);
    assert_eq!(bbr.cycle_gain(), UNIT);
}

#[test]
fn the_policers_rate_is_used_for_48_rounds() {
    let mut bbr = Bbr1 { mode: Mode::ProbeBw, ..Bbr1::default() };
    bbr.long_term.is_used = true;
    bbr.rounds.is_start = true;
    let mut sk = socket();
    for _ in 0..47 {
        bbr.sample_long_term(&mut sk, &RateSample::default());
        assert!(bbr.long_term.is_used);
    }
    bbr.sample_long_term(&mut sk, &RateSample::default());
    assert!(!bbr.long_term.is_used);
}

#[test]
fn recovery_conserves_packets_for_a_round() {
    let mut bbr = Bbr1::default();
    let mut sk = Socket { snd_cwnd: 100, packets_out: 80, lost_out: 20, ..socket() };
    bbr.init(&mut sk);
    bbr.ssthresh(&mut sk);
    sk.ca_state = CaState::Recovery;
    let rs = RateSample { losses: 20, acked_sacked: 2, delivered: 2, interval_us: 10_000, ..RateSample::default() };
    bbr.cong_control(&mut sk, &rs);
    assert_eq!(sk.snd_cwnd, 62);
    sk.ca_state = CaState::Open;
    bbr.full.is_reached = false;
    bbr.cong_control(&mut sk, &RateSample { losses: 0, ..rs });
    assert!(sk.snd_cwnd >= 100, "the window from before recovery, not {}", sk.snd_cwnd);
}

#[test]
fn the_window_of_probe_rtt_is_not_the_one_to_come_back_to() {
    for (mode, prior_cwnd) in [(Mode::ProbeRtt, 100), (Mode::ProbeBw, 4), (Mode::Startup, 4)] {
        let mut bbr = Bbr1 { mode, prior_cwnd: 100, ..Bbr1::default() };
        bbr.save_cwnd(&Socket { snd_cwnd: 4, ..socket() });
        assert_eq!(bbr.prior_cwnd, prior_cwnd, "{mode:?}");
    }
}

#[test]
fn the_window_is_even_and_has_room_for_three_trains() {
    let bbr = Bbr1::default();
    let sk = Socket { sk_pacing_rate: 1_000_000, ..socket() };
    assert_eq!(bbr.quantize(&sk, 87), 94); // 87 + 3 * 2 = 93
    let slow = Socket { sk_pacing_rate: 100_000, ..socket() };
    assert_eq!(bbr.quantize(&slow, 87), 90);
}

#[test]
fn a_probe_lasts_until_it_had_its_effect_or_losses() {
    let mut sk = socket();
    sk.sk_pacing_rate = 1_000_000;
    let mut bbr = Bbr1 { mode: Mode::ProbeBw, pacing_gain: 320, ..Bbr1::default() };
    bbr.rtt = MinRtt::begin(10_000, 0);
    bbr.bw.update(10, 0, (1 << 24) / 100);
    let rs = RateSample { prior_in_flight: 100, ..RateSample::default() };
    bbr.cycle_start = sk.delivered_mstamp - 10_001;
    bbr.update_cycle_phase(&sk, &rs);
    assert_eq!(bbr.cycle_idx, 0, "100 in flight are not 1.25 BDP");
    bbr.update_cycle_phase(&sk, &RateSample { losses: 1, ..rs });
    assert_eq!(bbr.cycle_idx, 1);
    (bbr.cycle_idx, bbr.cycle_start) = (0, sk.delivered_mstamp - 10_001);
    bbr.update_cycle_phase(&sk, &RateSample { prior_in_flight: 140, ..rs });
    assert_eq!(bbr.cycle_idx, 1);
}

#[test]
fn app_limited_data_says_nothing_of_a_policer() {
    let mut bbr = Bbr1::default();
    let mut sk = socket();
    bbr.sample_long_term(&mut sk, &RateSample { losses: 1, ..RateSample::default() });
    assert_ne!(bbr.long_term, LongTerm::default());
    bbr.sample_long_term(&mut sk, &RateSample { is_app_limited: true, ..RateSample::default() });
    let mut fresh = LongTerm::default();
    fresh.reset(&sk);
    assert_eq!(bbr.long_term, fresh);
}
