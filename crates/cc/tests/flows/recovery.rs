use crate::path::{MS, Path};
use crate::{DEEP, VERSIONS, assert_near, path, reach};

fn cruising(name: &str) -> Path {
    let mut path = path(name, DEEP);
    reach(&mut path, "PROBE_BW_CRUISE");
    path.run(200 * MS);
    path
}

#[test]
fn a_spurious_fast_recovery_leaves_no_trace() {
    for name in VERSIONS {
        let mut path = cruising(name);
        path.bottleneck.drop_next = 0;
        path.spurious_recovery();
        // The round ends, and with it the bounds come.
        path.run_until(200 * MS, |path| path.number("bbr.inflight_lo").is_some());
        assert!(path.number("bbr.inflight_lo").is_some(), "{name}");
        let before = path.sk.prior_cwnd;
        path.undo();
        assert_eq!((path.number("bbr.bw_lo"), path.number("bbr.inflight_lo")), (None, None), "{name}");
        assert!(path.sk.snd_cwnd >= before, "{name}");
        path.run(100 * MS);
        assert_near(path.number("bbr.bw").unwrap(), path.path_bw(), 2);
    }
}

#[test]
fn a_spurious_timeout_leaves_no_trace() {
    for name in VERSIONS {
        let mut path = cruising(name);
        let (before, state) = (path.sk.snd_cwnd, path.state());
        path.time_out();
        assert_eq!(path.number("bbr.inflight_lo"), Some(u64::from(before)), "{name}");
        path.undo();
        assert_eq!((path.number("bbr.bw_lo"), path.number("bbr.inflight_lo")), (None, None), "{name}");
        assert_eq!((path.sk.snd_cwnd, path.state()), (before, state), "{name}");
    }
}

#[test]
fn after_a_real_timeout_the_window_comes_back() {
    for name in ["bbr", "bbr2", "bbr3", "bbr3-draft"] {
        let mut path = path(name, DEEP);
        path.run(2_000 * MS);
        path.bottleneck.drop_next = u32::MAX;
        path.run(500 * MS);
        path.bottleneck.drop_next = 0;
        path.run(2_000 * MS);
        assert_near(path.number("bbr.max_bw").unwrap(), path.path_bw(), 2);
        assert!(u64::from(path.sk.snd_cwnd) >= path.path_bdp(), "{name}: {}", path.sk.snd_cwnd);
    }
}
