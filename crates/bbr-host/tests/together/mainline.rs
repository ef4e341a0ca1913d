//! The facts that BBR finds out itself because the kernel doesn't pass them on.

use std::sync::atomic::Ordering::Relaxed;

use crate::path::{Bottleneck, MS, Path};
use bbr_host::{Mainline, SentPacket, create};
use cc::bbr::Parameters;
use cc::{CaState, CongestionControl, RateSample, Socket};

/// A flow of 100 packets, after some ACKs of one packet each.
fn flowing(parameters: &Parameters) -> (Mainline, Socket) {
    let mut sk = Socket { snd_cwnd: 100, packets_out: 100, ..Socket::new(1448, 1) };
    (sk.min_rtt_us, sk.srtt_us) = (10_000, 80_000);
    sk.snd_nxt = 100 * 1448;
    let mut flow = Mainline::new(parameters);
    flow.init(&mut sk);
    (0..200).for_each(|_| ack(&mut flow, &mut sk, RateSample::default()));
    (flow, sk)
}

/// An ACK of the oldest of 100 packets in flight; the next packet is sent.
fn ack(flow: &mut Mainline, sk: &mut Socket, rs: RateSample) {
    sk.tcp_mstamp += 100;
    sk.delivered += 1;
    sk.snd_una += 1448;
    let rs = RateSample {
        prior_delivered: sk.delivered.saturating_sub(100),
        delivered: 100.min(sk.delivered as i32),
        interval_us: 10_000,
        rtt_us: 10_000,
        acked_sacked: 1,
        prior_in_flight: 100,
        last_end_seq: sk.snd_una,
        ..rs
    };
    flow.cong_control(sk, &rs);
    sk.snd_nxt += 1448;
}

fn flag(flow: &Mainline, name: &str) -> bool {
    let mut found = None;
    flow.publish(&mut |column| {
        if let cc::Value::Bool(value) = column.value
            && column.name == name
        {
            found = Some(value);
        }
    });
    found.unwrap()
}

fn inflight_hi(flow: &Mainline) -> Option<u32> {
    let mut found = None;
    flow.publish(&mut |column| {
        if let cc::Value::U32(value) = column.value
            && column.name == "bbr.inflight_hi"
        {
            found = value;
        }
    });
    found
}

fn change_state(flow: &mut Mainline, sk: &mut Socket, state: CaState) {
    flow.set_state(sk, state);
    sk.ca_state = state;
}

#[test]
fn a_tail_loss_probe_that_repaired_a_loss_is_told_from_other_reductions() {
    // The stack enters CWR and leaves it while it processes the ACK. For ECN the stack stays in CWR for a round.
    for (parameters, is_retransmission, is_at_once, is_loss) in [
        (Parameters::v3(), true, true, true),
        (Parameters::v3(), false, true, false),
        (Parameters::v3(), true, false, false),
        (Parameters::v2(), true, true, false),
    ] {
        let (mut flow, mut sk) = flowing(&parameters);
        flow.set_tlp(0, is_retransmission);
        flow.ssthresh(&mut sk);
        change_state(&mut flow, &mut sk, CaState::Cwr);
        if !is_at_once {
            ack(&mut flow, &mut sk, RateSample::default());
        }
        change_state(&mut flow, &mut sk, CaState::Open);
        assert_eq!(flag(&flow, "bbr.loss_in_round"), is_loss, "{} {is_at_once}", parameters.name);
    }
}

#[test]
fn local_congestion_is_no_repair_by_a_tail_loss_probe_of_long_ago() {
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    // The bit of a probe that repeated data stays set.
    flow.set_tlp(0, true);
    ack(&mut flow, &mut sk, RateSample::default());
    // The queue of the host itself is full between two ACKs. The next ACK is of all that was in flight: the stack
    // leaves CWR before congestion control is called.
    flow.ssthresh(&mut sk);
    change_state(&mut flow, &mut sk, CaState::Cwr);
    sk.snd_una += 1448;
    change_state(&mut flow, &mut sk, CaState::Open);
    assert!(!flag(&flow, "bbr.loss_in_round"));
}

#[test]
fn the_ack_that_settles_a_tail_loss_probe_is_like_any_other() {
    // It tells of a loss that was repaired, and is of newer data than the probe.
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    flow.set_tlp(sk.snd_una, true);
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(flow.estimate().is_of_tlp);
    flow.set_tlp(0, true);
    change_state(&mut flow, &mut sk, CaState::Cwr);
    change_state(&mut flow, &mut sk, CaState::Open);
    assert!(flag(&flow, "bbr.loss_in_round"));
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(!flow.estimate().is_of_tlp);
}

#[test]
fn an_ack_of_a_tail_loss_probe_is_known() {
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    assert!(!flow.estimate().is_of_tlp);
    // The probe repeated the last packet, and waits for its ACK.
    let high_seq = sk.snd_una + 2 * 1448;
    flow.set_tlp(high_seq, true);
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(!flow.estimate().is_of_tlp, "this ACK is of a packet before it");
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(flow.estimate().is_of_tlp, "the original arrived");
    flow.set_tlp(0, true);
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(!flow.estimate().is_of_tlp, "a D-SACK says that the probe arrived, too: it is settled");
    // A probe with new data repairs nothing.
    flow.set_tlp(sk.snd_una + 1448, false);
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(!flow.estimate().is_of_tlp);
}

#[test]
fn losses_that_a_timer_marks_are_seen() {
    for parameters in [Parameters::v2(), Parameters::v3()] {
        let (mut flow, mut sk) = flowing(&parameters);
        sk.lost += 3;
        change_state(&mut flow, &mut sk, CaState::Loss);
        assert!(flag(&flow, "bbr.loss_in_round"), "{}", parameters.name);
        // The next ACK finds it, too, if no state changed.
        let (mut flow, mut sk) = flowing(&parameters);
        sk.lost += 3;
        let before = RateSample { losses: 0, ..RateSample::default() };
        ack(&mut flow, &mut sk, before);
        assert_eq!(flow.estimate().lost, 3);
    }
}

#[test]
fn a_loss_in_a_probe_bounds_what_is_in_flight_at_the_packet_that_was_one_too_many() {
    // Two of 100 packets in flight are too many: 5/256 of 100 is 1.
    for (marked, segments, expected) in [
        (1, 1, None),
        (2, 2, Some(100)),        // A train of two: 98, and both fitted.
        (2, 1, Some(100)),        // The second of two packets is one too many: 99 and the first one fitted.
        (45, 45, Some(57)),       // Spec section 16: a train of 45.
        (45, 1, Some(100)),       // 45 packets, of which the second is one too many.
        (45, u16::MAX, Some(57)), // No more packets of a train count than were marked.
    ] {
        // The floor of 0.7 of the target is off.
        let (mut flow, mut sk) = flowing(&Parameters { beta_keep: 0, ..Parameters::v3() });
        flow.begin_sampling(&mut sk);
        sk.lost += marked;
        flow.set_first_lost(sk.snd_una + 1448, sk.delivered - 99, segments, false);
        change_state(&mut flow, &mut sk, CaState::Recovery);
        assert_eq!(inflight_hi(&flow), expected, "{marked} marked, {segments} in the train");
    }
}

#[test]
fn a_loss_that_tcps_hint_misses_is_judged_by_what_was_in_flight_with_it() {
    const SACKED: u8 = 1;
    const RESENT: u8 = 2 | 4;
    const LOST: u8 = 4;
    for (queue, above_sacked, in_flight) in [
        // The lost one is below the highest that was SACKed, the second of the two that were sent with 100 in flight,
        (&[RESENT, LOST, SACKED, 0][..], Some(3), Some(100)),
        (&[RESENT, SACKED, LOST, SACKED, SACKED, SACKED, 0], Some(6), Some(100)),
        // or behind it: what was sent again has arrived, and it was sent later.
        (&[RESENT, SACKED, LOST, 0], Some(2), Some(100)),
        // It isn't found: it is taken for one that was sent when the last ACK came, after the other loss.
        (&[RESENT, LOST, SACKED], None, None),
    ] {
        for parameters in [Parameters::v2(), Parameters::v3()] {
            // Only lost packets bound what is in flight, and the floor of 0.7 of the target is off.
            let (mut flow, mut sk) = flowing(&Parameters { cut_on_ack: false, beta_keep: 0, ..parameters });
            flow.begin_sampling(&mut sk);
            let delivered = sk.delivered - 49;
            sk.lost += 1;
            flow.set_first_lost(sk.snd_una + 1448, sk.delivered - 99, 1, false);
            change_state(&mut flow, &mut sk, CaState::Recovery);
            (0..50).for_each(|_| ack(&mut flow, &mut sk, RateSample::default()));
            assert_eq!(inflight_hi(&flow), None);
            // The first one was sent again. Another of those that were in flight with it is lost: two of 100 are too many.
            let packet = |(at, &sacked): (usize, &u8)| SentPacket {
                end_seq: sk.snd_una + (at as u32 + 1) * 1448,
                delivered: if sacked == RESENT { sk.delivered - 1 } else { delivered + at as u32 },
                segments: 1,
                is_app_limited: false,
                sacked,
            };
            let sent: Vec<SentPacket> = queue.iter().enumerate().map(packet).collect();
            sk.lost += 1;
            flow.set_sent(&sent, Some(0), above_sacked);
            ack(&mut flow, &mut sk, RateSample { losses: 1, ..RateSample::default() });
            assert_eq!(inflight_hi(&flow), in_flight, "{} {queue:?}", flow.name());
        }
    }
}

#[test]
fn a_timeout_in_a_probe_bounds_what_is_in_flight_by_what_was_when_the_last_ack_came() {
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    flow.begin_sampling(&mut sk);
    sk.lost += 100;
    change_state(&mut flow, &mut sk, CaState::Loss);
    assert_eq!(inflight_hi(&flow), Some(100));
}

#[test]
fn a_loss_of_a_packet_sent_while_app_limited_sets_no_bound() {
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    flow.begin_sampling(&mut sk);
    sk.lost += 10;
    flow.set_first_lost(sk.snd_una + 1448, sk.delivered - 99, 1, true);
    change_state(&mut flow, &mut sk, CaState::Recovery);
    assert_eq!(inflight_hi(&flow), None);
}

#[test]
fn marks_are_seen_by_their_count() {
    let (mut flow, mut sk) = flowing(&Parameters::v3());
    assert!(!flow.estimate().is_ece);
    sk.delivered_ce += 1;
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(flow.estimate().is_ece);
    ack(&mut flow, &mut sk, RateSample::default());
    assert!(!flow.estimate().is_ece);
}

#[test]
fn marks_in_the_first_probe_bound_what_is_in_flight_at_what_was() {
    for parameters in [Parameters::v2(), Parameters::v3()] {
        // Nothing was lost and no bound is known. The floor of 0.7 of the target is off.
        let ecn = Parameters { ecn: true, ecn_max_rtt_us: 20_000, beta_keep: 0, ..parameters };
        let (mut flow, mut sk) = flowing(&ecn);
        (0..400).for_each(|_| ack(&mut flow, &mut sk, RateSample::default()));
        assert!(flag(&flow, "bbr.full_bw_reached") && flag(&flow, "bbr.ecn_eligible"));
        flow.begin_sampling(&mut sk);
        ack(&mut flow, &mut sk, RateSample { delivered_ce: 20, ..RateSample::default() });
        assert_eq!(inflight_hi(&flow), None, "20 of 100 are not too many");
        ack(&mut flow, &mut sk, RateSample { delivered_ce: 100, ..RateSample::default() });
        assert_eq!((flow.estimate().tx_in_flight, inflight_hi(&flow)), (100, Some(100)), "{}", ecn.name);
    }
}

#[test]
fn marks_end_startup_after_so_many_rounds_or_never() {
    for (rounds, is_over) in [(0, false), (1, true), (2, false)] {
        let ecn = Parameters { ecn: true, ecn_max_rtt_us: 20_000, ecn_startup_rounds: rounds, ..Parameters::v3() };
        let (mut flow, mut sk) = flowing(&ecn);
        assert!(flag(&flow, "bbr.ecn_eligible") && !flag(&flow, "bbr.full_bw_reached"), "two rounds without a mark");
        sk.delivered_ce += 100;
        // The third round ends; the plateau of bandwidth takes one more.
        (0..100).for_each(|_| ack(&mut flow, &mut sk, RateSample::default()));
        assert_eq!(flag(&flow, "bbr.full_bw_reached"), is_over, "{rounds}");
    }
}

#[test]
fn of_a_packet_older_than_the_history_what_was_delivered_and_lost_since_is_known() {
    // The connection chose BBR in its midst: its first ACKs are of packets sent before.
    let mut sk = Socket { snd_cwnd: 100, packets_out: 100, delivered: 1_000, lost: 7, ..Socket::new(1448, 1) };
    (sk.min_rtt_us, sk.srtt_us) = (10_000, 80_000);
    sk.snd_nxt = 100 * 1448;
    let mut flow = Mainline::new(&Parameters::v3());
    flow.init(&mut sk);
    sk.lost += 3;
    ack(&mut flow, &mut sk, RateSample { losses: 3, ..RateSample::default() });
    assert_eq!((flow.estimate().tx_in_flight, flow.estimate().lost), (103, 3));
}

#[test]
fn what_was_in_flight_and_lost_is_found_again() {
    // ACKs come alone and in lumps, losses come at random and from a full buffer, and a round has more ACKs than
    // entries.
    for (mbps, rtt_ms, buffer, loss, ack_lump) in
        [(50, 40, 100, 0, 0), (50, 40, 1_000, 10_000, 0), (50, 40, 1_000, 1_000, 4), (200, 100, 3_000, 1_000, 0)]
    {
        for parameters in [Parameters::v2(), Parameters::v3()] {
            let flow = Mainline::new(&parameters);
            let quality = flow.quality();
            let mut path = Path::with(Box::new(flow), Bottleneck::new(mbps * 1_000_000, rtt_ms * MS, buffer));
            path.bottleneck.loss = loss;
            path.ack_lump = ack_lump * MS;
            path.run(10_000 * MS);
            let [samples, exact, error, lost_wrong] =
                [&quality.samples, &quality.exact, &quality.error, &quality.lost_wrong]
                    .map(|count| count.load(Relaxed));
            println!(
                "{mbps} Mbit/s {rtt_ms} ms {loss} {ack_lump}: {exact} of {samples}, {error} off, {lost_wrong} wrong"
            );
            assert!(samples > 300);
            let entries_suffice = mbps * rtt_ms <= 2_000;
            if entries_suffice {
                assert!(exact * 100 >= samples * 97, "{exact} of {samples}");
                assert!(lost_wrong * 100 <= samples, "{lost_wrong} of {samples}");
            }
            // 0.5 % of a BDP.
            assert!(error * 200 * 1514 * 8 <= samples * mbps * rtt_ms * 1000, "{error} in {samples}");
        }
    }
}

#[test]
fn flows_do_as_well_as_with_all_that_can_be_known() {
    for (name, parameters) in [("bbr2", Parameters::v2()), ("bbr3", Parameters::v3())] {
        for (buffer, loss) in [(50, 0), (500, 0), (500, 2_000), (500, 20_000)] {
            let received = |cc| {
                let mut path = Path::with(cc, Bottleneck::new(50_000_000, 40 * MS, buffer));
                path.bottleneck.loss = loss;
                path.run(20_000 * MS);
                (path.received, path.dropped)
            };
            let (with_all, dropped_with_all) = received(create(name).unwrap());
            let (with_less, dropped_with_less) = received(Box::new(Mainline::new(&parameters)));
            println!("{name} {buffer} {loss}: {with_all} {dropped_with_all} {with_less} {dropped_with_less}");
            assert!(with_less * 100 >= with_all * 97, "{name} {buffer} {loss}: {with_less} of {with_all}");
            assert!(dropped_with_less * 100 <= dropped_with_all * 120, "{name} {buffer} {loss}");
        }
    }
}
