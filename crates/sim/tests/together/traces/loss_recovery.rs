//! Fast recovery: RACK finds the losses, PRR brings the window down (RFC 8985, RFC 6937).

use sim::tcp::Settings;

use super::sender_script::{reno, run};

const WINDOW_OF_20: &str = "write 1000
    > 1-10
    +40 ack 10
    > 11-30
    = cwnd 20
    ";

fn after_20(script: &str) {
    reno(&format!("{WINDOW_OF_20}{script}"));
}

#[test]
fn the_third_sack_starts_recovery() {
    // One round trip more than `after_20`: its next buffer would hold a single segment, which waits for nothing.
    reno(
        "write 1000
         > 1-10
         +40 ack 10
         > 11-30
         +40 ack 20
         > 31-50
         = cwnd 30
         +40 ack 20 sack 22
         = state disorder
         > 51
         ack 20 sack 22-23
         >                   # A train waits for company: the next ACK is due
         ack 20 sack 22-24
         = state recovery lost 1 ssthresh 15
         > r21",
    );
}

#[test]
fn a_loss_without_further_data_is_found_after_a_quarter_of_the_rtt() {
    reno(
        "write 3
         > 1-3
         +40 ack 0 sack 2
         = state disorder lost 0
         +8
         >
         +5                  # 10 ms, and two of the timer's ticks
         = state recovery
         > r1",
    );
}

#[test]
fn prr_halves_the_window_over_a_round() {
    after_20(
        "+40 ack 10 sack 12-14
         > r11 31            # 3 delivered let 2 out: ssthresh / cwnd, rounded up
         ack 10 sack 12-16
         > 32
         ack 10 sack 12-18
         > 33
         ack 10 sack 12-30
         = state recovery
         > 34-39
         = in-flight 10
         +40 ack 30
         = state open cwnd 10 ssthresh 10
         > 40",
    );
}

#[test]
fn several_holes_are_repaired_in_one_recovery() {
    after_20(
        "+40 ack 10 sack 12-13 15-16 18-20
         = state recovery lost 3 ssthresh 10
         > r11
         ack 10 sack 12-13 15-16 18-24
         > r14 r17 31
         ack 10 sack 12-13 15-16 18-30
         = lost 3 retransmitting 3
         +40 ack 13 sack 15-16 18-30
         ack 16 sack 18-30
         = state recovery
         ack 32
         = state open cwnd 10",
    );
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    after_20(
        "+40 ack 10 sack 12-14
         > r11 31
         ack 10 sack 12-30
         > 32-39
         +40 ack 10 sack 12-39
         = state recovery
         > r11 40-48
         +40 ack 48
         = state open",
    );
}

#[test]
fn reordering_seen_once_makes_losses_wait() {
    after_20(
        "+40 ack 10 sack 12-13
         = state disorder
         ack 13              # 11 came after 13: reordering
         = state open
         +40 ack 13 sack 15-17
         = state disorder lost 0
         +13
         = state recovery lost 1",
    );
}

#[test]
fn what_is_sacked_twice_counts_once() {
    after_20(
        "+40 ack 10 sack 12-13
         = sacked 2 delivered 12
         ack 10 sack 12-13
         = sacked 2 delivered 12
         ack 10 sack 15 12-13
         = sacked 3 delivered 13
         ack 30
         = sacked 0 delivered 30",
    );
}

#[test]
fn an_ack_that_was_overtaken_does_no_harm() {
    after_20(
        "+40 ack 20
         ack 12
         = state open delivered 20
         ack 14 sack 22
         = sacked 1 delivered 21",
    );
}

/// Packets leave in pairs, and half of each of two pairs is lost: pacing lets one go, and the other later, though both follow upon
/// each other.
#[test]
fn what_was_sent_apart_is_sent_again_apart() {
    run(
        Settings::default(),
        "bbr",
        40,
        "write 20
         > 1-10
         +40 ack 10
         > 11-12
         +20
         > 13-20
         +25 ack 12
         >
         ack 12 sack 13 16-20
         = lost 2
         > r14
         +10
         > r15",
    );
}

/// Its alpha begins at 1, and the first ACK carries a mark: all that it delivers was marked, so alpha stays.
#[test]
fn dctcp_counts_what_an_ack_delivers_before_it_cuts() {
    run(
        Settings::default(),
        "dctcp",
        40,
        "write 100
         > 1-10
         +40 ack 1 ece
         = state cwr ssthresh 5",
    );
}

/// Linux keeps a train in one buffer. A SACK behind a hole cuts it; one that goes on does not.
#[test]
fn a_rate_sample_belongs_to_the_rest_of_a_train() {
    let settings = Settings { min_tso_segs: Some(4), ..Settings::default() };
    run(
        settings,
        "bbr3",
        40,
        "write 1000
         > 1-10
         +40 ack 10
         +40
         > 11-30             # Paced, in trains of four
         ack 11
         = sampled 4
         ack 11 sack 16      # Cut out of 15 to 18
         = sampled 6
         ack 11 sack 16-17   # Joins 16, and leaves 18
         = sampled 8
         ack 11 sack 16-17 24-25 # A piece of two out of 23 to 26
         = sampled 15
         ack 11 sack 16-17 24-28 # Goes on, into the next train
         = sampled 20",
    );
}
