//! Retransmission timeouts (RFC 6298).

use sim::tcp::Settings;

use super::sender_script::run;

fn without_probes(script: &str) {
    run(Settings { loss_probes: false, ..Settings::default() }, "reno", 40, script);
}

#[test]
fn a_timeout_comes_200_ms_after_an_rtt_and_doubles() {
    without_probes(
        "write 20
         > 1-10
         +239
         >
         +2
         = state loss cwnd 1 ssthresh 5 lost 10
         > r1
         +478
         >
         +2
         > r1
         +961
         > r1
         = ssthresh 5",
    );
}

#[test]
fn after_a_timeout_slow_start_repairs() {
    without_probes(
        "write 30
         > 1-10
         +241
         > r1
         +40 ack 1
         > 11-12            # F-RTO: new data first
         +40 ack 1 sack 11
         = state loss
         > r2
         ack 1 sack 11-12
         > r3
         +40 ack 2 sack 11-12
         > r4-5
         +40 ack 5 sack 11-12
         > r6-10
         +40 ack 12
         = state open",
    );
}

#[test]
fn an_rtt_of_a_retransmission_is_no_sample() {
    let sender = run(
        Settings { loss_probes: false, ..Settings::default() },
        "reno",
        40,
        "write 1
         > 1
         +241
         > r1
         +5 ack 1 echo 1",
    );
    assert_eq!(sender.socket().min_rtt_us, 40_000);
}

#[test]
fn a_timeout_ends_recovery() {
    without_probes(
        "write 100
         > 1-10
         +40 ack 0 sack 2-4
         > r1 11
         = state recovery
         +241
         > r1
         = state loss cwnd 1",
    );
}

#[test]
fn back_off_of_window_probes_ends_as_the_window_opens() {
    without_probes(
        "write 10
         > 1-10
         +40 ack 10 window 0
         write 5
         >
         +1000               # Asked for it after 240 and 720 ms
         ack 10 window 10
         > 11-15
         +245
         > r11
         = state loss",
    );
}

/// After reordering the state is open again, and ends of an earlier episode don't matter.
#[test]
fn a_timeout_after_reordering_reduces_the_window() {
    without_probes(
        "write 10
         > 1-10
         +40 ack 0 sack 2-3
         = state disorder
         +1 ack 8
         = state open cwnd 16 ssthresh inf
         +1000
         = state loss ssthresh 8",
    );
}
