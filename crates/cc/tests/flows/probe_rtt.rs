use crate::path::{MS, SECOND};
use crate::{DEEP, VERSIONS, leave, path, reach};

#[test]
fn probe_rtt_comes_after_5_seconds_and_holds_half_a_bdp_for_200_ms() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.run(100 * MS);
        path.bottleneck.rtt += MS; // The minimum is not seen again.
        reach(&mut path, "PROBE_RTT");
        let since = path.now;
        assert!((5 * SECOND..5 * SECOND + 150 * MS).contains(&since), "{name}: at {} ms", since / MS);
        path.run(100 * MS);
        assert!(u64::from(path.sk.snd_cwnd) <= path.path_bdp() / 2 + 2, "{name}: {}", path.sk.snd_cwnd);
        assert_eq!(leave(&mut path, "PROBE_RTT"), "PROBE_BW_CRUISE", "{name}");
        let span = (path.now - since) / MS;
        assert!((200..400).contains(&span), "{name}: {span} ms");
        path.run(100 * MS);
        assert!(u64::from(path.sk.snd_cwnd) >= path.path_bdp(), "{name}: the window is back");
    }
}

#[test]
fn probe_rtt_of_v1_comes_after_10_seconds_and_holds_4_packets() {
    let mut path = path("bbr", DEEP);
    path.run(100 * MS);
    path.bottleneck.rtt += MS;
    reach(&mut path, "PROBE_RTT");
    assert!((10 * SECOND..10 * SECOND + 200 * MS).contains(&path.now), "at {} ms", path.now / MS);
    path.run(100 * MS);
    assert_eq!(path.sk.snd_cwnd, 4);
    assert_eq!(leave(&mut path, "PROBE_RTT"), "PROBE_BW");
}

#[test]
fn probe_rtt_is_skipped_after_idleness() {
    // The flow sends nothing from 3 s to 9 s: the queue is gone, and the first RTT after it is a fresh minimum.
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.run(100 * MS);
        path.bottleneck.rtt += MS;
        path.app_silence = Some((3 * SECOND, 9 * SECOND));
        while path.now < 11 * SECOND {
            path.run(10 * MS);
            assert_ne!(path.state(), "PROBE_RTT", "{name} at {} ms", path.now / MS);
        }
    }
}

#[test]
fn probe_rtt_in_startup_leads_back_to_startup() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.limit_app(2_000);
        path.run(100 * MS);
        path.bottleneck.rtt += MS;
        reach(&mut path, "PROBE_RTT");
        assert_eq!(leave(&mut path, "PROBE_RTT"), "STARTUP", "{name}");
    }
}
