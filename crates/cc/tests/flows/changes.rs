use crate::path::{Bottleneck, MS, Path, Policer, SECOND};
use crate::{DEEP, VERSIONS, path};

#[test]
fn a_path_of_less_than_a_packet_is_filled_by_a_window_of_few() {
    // 64 kbit/s and 10 ms: a BDP of 0.05 packets, and 189 ms to send one.
    for name in VERSIONS {
        let cc = crate::create(name).unwrap();
        let mut path = Path::with(cc, Bottleneck::new(64_000, 10 * MS, 30));
        path.run(20 * SECOND);
        let (received, since) = (path.received, path.now);
        path.run_until(100 * SECOND, |path| {
            assert!((4..=40).contains(&path.sk.snd_cwnd), "{name}: {}", path.sk.snd_cwnd);
            false
        });
        assert!(path.utilisation_since(received, since) >= 90, "{name}");
    }
}

#[test]
fn ten_times_the_bandwidth_is_found_in_two_probes() {
    for name in VERSIONS {
        let mut path = Path::new(name, 10, 40, DEEP);
        path.run(10 * SECOND);
        path.bottleneck.rate *= 10;
        let probes = path.number("bbr.probes").unwrap();
        // A probe comes after at most 3 s, and each probe gains a quarter a round: log_1.25(10) = 10.3 rounds.
        let is_found =
            path.run_until(10 * SECOND, |path| path.number("bbr.max_bw").unwrap() * 10 >= path.path_bw() * 9);
        assert!(is_found, "{name}: {} of {}", path.number("bbr.max_bw").unwrap(), path.path_bw());
        let probes = path.number("bbr.probes").unwrap() - probes;
        assert!(probes <= 2, "{name}: {probes} probes");
    }
}

#[test]
fn a_tenth_of_the_bandwidth_is_learnt_after_two_cycles() {
    for name in VERSIONS {
        let mut path = Path::new(name, 100, 40, 400);
        path.run(10 * SECOND);
        path.bottleneck.rate /= 10;
        // The rest of the change's cycle, two more cycles, and a PROBE_RTT that may take the feedback of one away.
        path.run(12 * SECOND);
        let bw = path.number("bbr.max_bw").unwrap();
        assert!(bw * 100 <= path.path_bw() * 110, "{name}: {bw} of {}", path.path_bw());
    }
}

#[test]
fn a_policer_gets_no_more_than_it_passes() {
    // 10 Mbit/s of a path of 100.
    for name in ["bbr", "bbr2", "bbr3", "bbr3-draft"] {
        let mut path = Path::new(name, 100, 40, DEEP);
        path.bottleneck.policer = Some(Policer::new(10_000_000, 50));
        path.run(10 * SECOND);
        let (received, dropped, since) = (path.received, path.dropped, path.now);
        path.run(20 * SECOND);
        let passed = path.utilisation_since(received, since) * 10; // Percent of 10 Mbit/s.
        let (received, dropped) = (path.received - received, path.dropped - dropped);
        println!("{name}: {passed} % of the rate, {dropped} of {received} lost");
        assert!(passed >= 70, "{name}: {passed} %");
        assert!(dropped * 100 <= received * 10, "{name}: {dropped} of {received} lost");
    }
}

#[test]
fn random_loss_of_1_percent_does_not_stop_a_large_window() {
    // The short-term bounds follow what a round delivers, 1 % less each, until the next probe 2 to 3 s later: with 100 ms
    // (BDP 1650 packets) that is about 25 rounds and little, with 40 ms it is 63 and almost half of the rate.
    for name in ["bbr2", "bbr3"] {
        let mut path = Path::new(name, 200, 100, 1_650);
        path.bottleneck.loss = 10_000;
        path.run(10 * SECOND);
        assert!(path.utilisation_since(0, 0) >= 80, "{name}: {} %", path.utilisation_since(0, 0));
    }
}

#[test]
fn the_same_flow_twice_gives_the_same_integers() {
    let run = |name| {
        let mut path = path(name, 100);
        path.bottleneck.loss = 1_000;
        path.run(5 * SECOND);
        (path.sk, path.received, format!("{:?}", path.cc))
    };
    for name in cc::NAMES {
        assert_eq!(run(name), run(name));
    }
}
