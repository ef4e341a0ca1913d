use crate::path::{MS, SECOND};
use crate::{DEEP, VERSIONS, assert_near, leave, path, reach};

/// Packets per second: half of what the path delivers.
const HALF: u64 = 2_000;

#[test]
fn startup_ends_on_a_plateau_with_the_bandwidth_known_to_2_percent() {
    for name in ["bbr", "bbr2", "bbr3", "bbr3-draft"] {
        let mut path = path(name, DEEP);
        assert_eq!(leave(&mut path, "STARTUP"), "DRAIN");
        assert_near(path.number("bbr.max_bw").unwrap(), path.path_bw(), 2);
        assert_eq!(path.dropped, 0);
    }
}

#[test]
fn startup_ends_on_loss_even_if_app_limited() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.limit_app(HALF);
        path.run(SECOND);
        assert_eq!(path.state(), "STARTUP");
        path.bottleneck.loss = 200_000;
        assert!(path.run_until(2 * SECOND, |path| path.state() != "STARTUP"), "{name}");
        assert!(path.number("bbr.inflight_hi").is_some(), "{name}: what is in flight is bounded");
    }
}

#[test]
fn startup_goes_on_while_app_limited_without_loss() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.limit_app(HALF);
        path.run(4 * SECOND);
        assert_eq!(path.state(), "STARTUP", "{name}");
    }
}

#[test]
fn startup_with_lumps_of_acks_finds_the_bandwidth() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.ack_lump = 20 * MS;
        reach(&mut path, "PROBE_BW_CRUISE");
        // A lump that begins or ends a sample's interval makes it too high, by half a lump in an RTT at most.
        let bw = path.number("bbr.max_bw").unwrap();
        assert!(bw * 100 >= path.path_bw() * 98 && bw * 100 <= path.path_bw() * 150, "{name}: {bw}");
    }
}

#[test]
fn drain_ends_when_a_bdp_is_in_flight() {
    for name in ["bbr", "bbr2", "bbr3", "bbr3-draft"] {
        let mut path = path(name, DEEP);
        reach(&mut path, "DRAIN");
        assert!(u64::from(path.sk.packets_in_flight()) > path.path_bdp() * 3 / 2, "{name}: there is a queue to drain");
        leave(&mut path, "DRAIN");
        let room = if name == "bbr" { 20 } else { 4 }; // v1 adds three trains to the BDP.
        assert!(u64::from(path.sk.packets_in_flight()) <= path.path_bdp() + room, "{name}");
    }
}

#[test]
fn drain_ends_after_three_rounds_in_the_draft_only() {
    // The bandwidth falls to a quarter while the queue is full: the rate that drains the old path overfills the new
    // one.
    for (name, gives_up) in [("bbr3-draft", true), ("bbr3", false)] {
        let mut path = path(name, DEEP);
        path.run_until(SECOND, |path| path.sk.srtt_us >> 3 > 60_000);
        path.bottleneck.rate /= 4;
        reach(&mut path, "DRAIN");
        let round = path.number("bbr.round").unwrap();
        path.run_until(30 * SECOND, |path| path.number("bbr.round").unwrap() >= round + 4);
        assert_eq!(path.state() != "DRAIN", gives_up, "{name}");
    }
}
