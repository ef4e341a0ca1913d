//! Every state transition is visible in the table of acknowledgements.

mod common;

use common::{Cell, Dumbbell, Table, bulk, run};

/// The states that a flow of `cc` goes through, each once in a row.
fn states(acks: &Table, column: &str) -> Vec<String> {
    let mut states: Vec<String> = acks.rows().map(|row| row.text(column).to_owned()).collect();
    states.dedup();
    states
}

fn acks(cc: &str) -> Table {
    // Long enough for PROBE_RTT, which version 1 enters after 10 s.
    run(&Dumbbell::new(10, 40.0).seconds(14.0).flow(bulk(cc), 0.0).plan()).table("acks")
}

/// Do `states` have `wanted` in this order, with others between?
fn go_through(states: &[String], wanted: &[&str]) -> bool {
    let mut left = states.iter();
    wanted.iter().all(|wanted| left.any(|state| state == wanted))
}

#[test]
fn bbr_1_starts_drains_probes_and_looks_for_the_rtt() {
    let acks = acks("bbr");
    let states = states(&acks, "bbr_state");
    assert_eq!(states[..3], ["startup", "drain", "probe_bw"]);
    assert!(go_through(&states, &["probe_bw", "probe_rtt", "probe_bw"]), "{states:?}");
    let (mut gains, mut cycles) = (Vec::new(), Vec::new());
    for row in acks.of("bbr_state", "probe_bw") {
        gains.push(row.get("bbr_pacing_gain").clone());
        cycles.push(row.number("bbr_cycle"));
    }
    for gain in [1.25, 0.75, 1.0] {
        assert!(gains.contains(&Cell::Float(gain)), "{gain}");
    }
    assert!((0..8).all(|phase| cycles.contains(&phase)), "all phases of the cycle");
    assert!(acks.of("bbr_state", "startup").all(|row| *row.get("bbr_cycle") == Cell::Null));
    for column in ["bbr_ack_phase", "bbr_bw_lo_bps", "bbr_bw_hi_bps", "bbr_inflight_lo_packets"] {
        assert!(acks.rows().all(|row| *row.get(column) == Cell::Null), "{column} is of later versions");
    }
}

#[test]
fn bbr_2_and_3_go_round_their_cycle() {
    for cc in ["bbr2", "bbr3"] {
        let acks = acks(cc);
        let found = states(&acks, "bbr_state");
        // DOWN may be over with the ACK with which it began.
        assert_eq!(found[..2], ["startup", "drain"], "{cc}");
        assert!(["probe_bw_down", "probe_bw_cruise"].contains(&found[2].as_str()), "{cc}: {found:?}");
        let cycle = ["probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_bw_down"];
        assert!(go_through(&found, &cycle), "{cc}: {found:?}");
        assert!(go_through(&found, &["probe_bw_cruise", "probe_rtt", "probe_bw_cruise"]), "{cc}: {found:?}");
        let phases = states(&acks, "bbr_ack_phase");
        let probe = ["init", "probe_stopping", "init", "refilling", "probe_starting", "probe_stopping", "init"];
        assert!(go_through(&phases, &probe), "{cc}: {phases:?}");
        // A probe is counted as it begins.
        let refills = found.iter().filter(|state| *state == "probe_bw_refill").count() as i128;
        assert_eq!(acks.rows().last().unwrap().number("bbr_cycle"), refills, "{cc}");
        assert!(acks.rows().is_sorted_by_key(|row| row.number("bbr_round")), "{cc}");
    }
}

#[test]
fn bbr_knows_the_path() {
    for cc in ["bbr", "bbr2", "bbr3"] {
        let acks = acks(cc);
        let last = acks.rows().last().unwrap();
        // 1448 of 1514 bytes of 10 Mbit/s are payload.
        let bw = last.number("bbr_bw_bps");
        assert!((9_300_000..9_900_000).contains(&bw), "{cc}: {bw}");
        let rtt = last.number("bbr_min_rtt_us");
        assert!((40_000..46_000).contains(&rtt), "{cc}: {rtt}");
    }
}

#[test]
fn others_have_no_bbr_columns_and_go_through_recovery() {
    for cc in ["reno", "cubic", "dctcp", "vegas"] {
        let plan = Dumbbell::new(10, 40.0).buffer_bdp(0.5).seconds(5.0).flow(bulk(cc), 0.0);
        let loss = serde_json::json!({"loss_before": [{"model": "periodic", "every": 500, "offset": 400}]});
        let acks = run(&plan.with(loss).plan()).table("acks");
        let states = states(&acks, "ca_state");
        assert!(go_through(&states, &["open", "recovery", "open"]), "{cc}: {states:?}");
        for column in acks.columns.keys().filter(|name| name.starts_with("bbr_")) {
            assert!(acks.rows().all(|row| *row.get(column) == Cell::Null), "{cc}: {column}");
        }
        let infinite = acks.rows().take_while(|row| *row.get("ssthresh_packets") == Cell::Null).count();
        assert!(
            infinite > 10 && *acks.rows().last().unwrap().get("ssthresh_packets") != Cell::Null,
            "{cc}: {infinite}"
        );
    }
}
