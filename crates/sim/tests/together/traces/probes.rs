//! Tail loss probes (RFC 8985 section 7).

use super::sender_script::reno;

#[test]
fn a_lost_tail_is_probed_after_two_rtts_and_repaired() {
    reno(
        "write 10
         > 1-10
         +40 ack 7
         >
         +81
         >
         +2
         > r10
         +40 ack 7 sack 10
         = state recovery lost 2
         > r8
         ack 7 sack 10
         +40 ack 8 sack 10
         > r9
         +40 ack 10
         = state open",
    );
}

#[test]
fn new_data_is_the_better_probe() {
    reno(
        "write 12
         > 1-10
         +84
         > 11
         +40 ack 10
         > 12
         = state open cwnd 20",
    );
}

#[test]
fn a_probe_that_repairs_the_only_loss_costs_half_the_window() {
    reno(
        "write 10
         > 1-10
         +40 ack 9
         >
         +280               # A lone packet's ACK may be delayed by 200 ms
         > r10
         +40 ack 10
         = state open
         write 1
         > 11
         +40 ack 11
         = cwnd 10 ssthresh 10",
    );
}

#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    reno(
        "write 10
         > 1-10
         +84
         > r10
         +10 ack 10
         ack 10 dsack 10
         = state open ssthresh inf cwnd 20",
    );
}

#[test]
fn a_probe_does_not_wait_as_small_segments_do() {
    reno(
        "write 100 bytes
         > 1
         write 100 bytes    # One small segment at a time (Nagle)
         >
         = in-flight 1
         +285               # A lone packet's ACK may be delayed by 200 ms
         > r1               # The same packet's worth, but new bytes
         = in-flight 2",
    );
}
