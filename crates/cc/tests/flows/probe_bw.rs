use crate::path::{MS, SECOND};
use crate::{DEEP, VERSIONS, assert_near, leave, path, reach};

#[test]
fn up_ends_when_the_pipe_is_full() {
    // v3: the bandwidth doesn't grow. v2: 1.25 BDP are in flight.
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_UP");
        let since = path.now;
        assert_eq!(leave(&mut path, "PROBE_BW_UP"), "PROBE_BW_DOWN");
        assert_near(path.number("bbr.max_bw").unwrap(), path.path_bw(), 2);
        assert!(u64::from(path.sk.packets_in_flight()) * 100 >= path.path_bdp() * 120, "{name}: the pipe was full");
        let rtts = (path.now - since) / (40 * MS);
        assert!((1..=6).contains(&rtts), "{name}: {rtts} RTTs");
        assert_eq!(path.dropped, 0);
    }
}

#[test]
fn up_ends_on_loss_even_if_app_limited() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_CRUISE");
        path.limit_app(3_000);
        reach(&mut path, "PROBE_BW_UP");
        path.run(50 * MS);
        path.bottleneck.loss = 300_000;
        assert!(path.run_until(200 * MS, |path| path.state() != "PROBE_BW_UP"), "{name}");
        assert_eq!(path.number("bbr.inflight_hi"), None, "{name}: how much fits is not known");
    }
}

#[test]
fn up_goes_on_while_app_limited_without_loss() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_CRUISE");
        path.limit_app(3_000);
        reach(&mut path, "PROBE_BW_UP");
        path.run(SECOND);
        assert_eq!(path.state(), "PROBE_BW_UP", "{name}");
    }
}

#[test]
fn refill_leads_to_up_after_a_round_even_if_app_limited() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_REFILL");
        path.limit_app(2_000);
        let round = path.number("bbr.round").unwrap();
        assert_eq!(leave(&mut path, "PROBE_BW_REFILL"), "PROBE_BW_UP", "{name}");
        assert!(path.number("bbr.round").unwrap() <= round + 1, "{name}");
        assert_near(path.number("bbr.max_bw").unwrap(), path.path_bw(), 2);
    }
}

#[test]
fn down_leads_to_cruise_when_the_queue_is_drained() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_UP");
        reach(&mut path, "PROBE_BW_DOWN");
        assert_eq!(leave(&mut path, "PROBE_BW_DOWN"), "PROBE_BW_CRUISE");
        assert!(u64::from(path.sk.packets_in_flight()) <= path.path_bdp() + 4, "{name}");
    }
}

#[test]
fn down_leads_to_refill_when_it_is_time_to_probe() {
    // The bandwidth halves as UP begins: the queue can't drain, and the next probe comes all the same.
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        reach(&mut path, "PROBE_BW_REFILL");
        path.bottleneck.rtt -= MS; // A new minimum: no PROBE_RTT comes between.
        reach(&mut path, "PROBE_BW_UP");
        path.bottleneck.rate /= 2;
        reach(&mut path, "PROBE_BW_DOWN");
        let since = path.now;
        assert_eq!(leave(&mut path, "PROBE_BW_DOWN"), "PROBE_BW_REFILL", "{name}");
        let lasted = path.now - since;
        assert!((2 * SECOND - 500 * MS..=3 * SECOND + 500 * MS).contains(&lasted), "{name}: 2 to 3 s, not {lasted} ns");
    }
}

#[test]
fn loss_in_up_bounds_what_is_in_flight() {
    // A buffer of a tenth of the BDP. The first probes set the bound earlier.
    for name in VERSIONS {
        let mut path = path(name, 16);
        path.run(10 * SECOND);
        reach(&mut path, "PROBE_BW_UP");
        let dropped = path.dropped;
        assert_eq!(leave(&mut path, "PROBE_BW_UP"), "PROBE_BW_DOWN", "{name}");
        reach(&mut path, "PROBE_BW_CRUISE");
        let inflight_hi = path.number("bbr.inflight_hi").unwrap();
        assert!((115..=200).contains(&inflight_hi), "{name}: {inflight_hi} of 165 + 16");
        assert!(path.dropped - dropped < 60, "{name}: {} lost", path.dropped - dropped);
    }
}

#[test]
fn lumps_of_acks_do_not_starve_cruise() {
    for name in VERSIONS {
        let mut path = path(name, DEEP);
        path.ack_lump = 4 * MS;
        reach(&mut path, "PROBE_BW_CRUISE");
        let (received, since) = (path.received, path.now);
        path.run(SECOND);
        assert!(path.number("bbr.extra_acked").unwrap() > 10, "{name}");
        assert!(path.utilisation_since(received, since) >= 97, "{name}");
    }
}
