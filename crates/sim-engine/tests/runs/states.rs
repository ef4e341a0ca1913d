//! Every state transition is visible in the table of acknowledgements.

use crate::common::{Cell, Dumbbell, Row, Table, bulk, run};

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

/// A flow of `cc` through a loss every 500 packets, from the 400th on.
fn with_losses(cc: &str) -> Table {
    let plan = Dumbbell::new(10, 40.0).buffer_bdp(0.5).seconds(5.0).flow(bulk(cc), 0.0);
    let loss = serde_json::json!({"loss_before": [{"model": "periodic", "every": 500, "offset": 400}]});
    run(&plan.with(loss).plan()).table("acks")
}

/// The rows in which a column is a number, and the numbers.
fn numbers<'a>(acks: &'a Table, column: &'a str) -> impl Iterator<Item = (Row<'a>, f64)> {
    acks.rows().filter_map(move |row| match row.get(column) {
        Cell::Number(number) => Some((row, *number as f64)),
        Cell::Float(number) => Some((row, f64::from(*number))),
        _ => None,
    })
}

#[test]
fn cubic_publishes_its_curve() {
    let acks = with_losses("cubic");
    let (first, w_max) = numbers(&acks, "cubic_w_max_packets").next().unwrap();
    // RFC 9438: a reduction leaves 0.7 of W_max.
    assert_eq!(first.number("ssthresh_packets"), w_max as i128 * 717 / 1024);
    // K = cbrt(W_max (1 - beta) / C), of the window at the epoch's start (equation 2).
    let (start, k) =
        numbers(&acks, "cubic_k_s").find(|(row, k)| *k > 0.0 && row.number("cubic_origin_packets") > 0).unwrap();
    let below = start.number("cubic_origin_packets") - start.number("cwnd_packets");
    let expected = (below as f64 / 0.4).cbrt();
    assert!((k - expected).abs() < 0.05 * expected, "{k} s, {expected} s");
    assert!(numbers(&acks, "cubic_w_est_packets").count() > 100);
    let (_, delay) = numbers(&acks, "cubic_delay_min_us").last().unwrap();
    assert!((40_000.0..46_000.0).contains(&delay), "{delay}");
    // Slow start has no epoch, and no loss yet.
    assert!(
        ["cubic_w_max_packets", "cubic_origin_packets", "cubic_k_s"].map(|of| acks.rows().next().unwrap().get(of))
            == [&Cell::Null; 3]
    );
}

#[test]
fn estimates_are_published_in_the_units_of_the_columns() {
    for cc in ["htcp", "westwood"] {
        let acks = run(&Dumbbell::new(10, 40.0).seconds(5.0).flow(bulk(cc), 0.0).plan()).table("acks");
        // 1448 of 1514 bytes of 10 Mbit/s are payload.
        let (_, bandwidth) = numbers(&acks, &format!("{cc}_bandwidth_bps")).last().unwrap();
        assert!((9_000_000.0..10_000_000.0).contains(&bandwidth), "{cc}: {bandwidth}");
        let (_, rtt) = numbers(&acks, &format!("{cc}_min_rtt_us")).last().unwrap();
        assert!((40_000.0..46_000.0).contains(&rtt), "{cc}: {rtt}");
    }
    let acks = with_losses("htcp");
    assert!(numbers(&acks, "htcp_beta").all(|(_, beta)| (0.5..=0.8).contains(&beta)));
    let acks = with_losses("dctcp");
    // It starts at 1, and no packet is marked.
    assert!(numbers(&acks, "dctcp_alpha").all(|(_, alpha)| (0.0..=1.0).contains(&alpha)));
    let acks = with_losses("vegas");
    assert!(
        numbers(&acks, "vegas_base_rtt_us")
            .all(|(row, base)| *row.get("vegas_min_rtt_us") == Cell::Null
                || row.number("vegas_min_rtt_us") as f64 >= base)
    );
}

#[test]
fn an_algorithm_has_no_columns_of_others_and_goes_through_recovery() {
    for cc in ["reno", "cubic", "dctcp", "vegas"] {
        let acks = with_losses(cc);
        let states = states(&acks, "ca_state");
        assert!(go_through(&states, &["open", "recovery", "open"]), "{cc}: {states:?}");
        let sets = cc::state::STATE_SETS.iter().filter(|set| set.name != cc);
        for column in sets.flat_map(|set| set.columns.iter().map(|column| column.name)) {
            assert!(acks.rows().all(|row| *row.get(column) == Cell::Null), "{cc}: {column}");
        }
        let infinite = acks.rows().take_while(|row| *row.get("ssthresh_packets") == Cell::Null).count();
        assert!(
            infinite > 10 && *acks.rows().last().unwrap().get("ssthresh_packets") != Cell::Null,
            "{cc}: {infinite}"
        );
    }
}
