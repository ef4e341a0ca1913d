//! Retransmissions that were not needed, and reductions that are taken back.

use sim::tcp::Settings;

use super::sender_script::{reno, run};

const WINDOW_OF_20: &str = "write 1000
    > 1-10
    +40 ack 10
    > 11-30
    ";

fn after_20(settings: Settings, script: &str) {
    run(settings, "reno", 40, &format!("{WINDOW_OF_20}{script}"));
}

#[test]
fn the_echo_of_an_old_timestamp_undoes_a_recovery() {
    after_20(
        Settings::default(),
        "+40 ack 10 sack 12-14
         = state recovery ssthresh 10
         > r11 31
         +2 ack 14 echo 11
         = undos 1 ssthresh inf cwnd 21
         +1 ack 30 echo 30
         = state open",
    );
}

#[test]
fn a_dsack_for_every_retransmission_undoes_a_recovery() {
    after_20(
        Settings::default(),
        "+40 ack 10 sack 12-14
         > r11 31
         +1 ack 30
         = state open cwnd 11 ssthresh 10   # 17 more delivered: a packet of growth
         > 32-41
         +39 ack 30 dsack 11
         = cwnd 20 ssthresh inf undos 1",
    );
}

/// A probe that sent data again before the recovery began is a retransmission, too.
#[test]
fn an_undo_waits_for_the_dsack_of_a_probe() {
    reno(
        "write 10
         > 1-10
         +40 ack 7
         +83
         > r10
         +40 ack 7 sack 10
         = state recovery lost 2
         > r8
         +1 ack 10
         +39 ack 10 dsack 8
         = undos 0
         +1 ack 10 dsack 10
         = undos 1",
    );
}

#[test]
fn dsacks_widen_the_reordering_window_of_a_path_that_reorders() {
    // Half of the minimum RTT, not a quarter.
    reno(
        "write 10
         > 1-10
         +40 ack 0 sack 2-3
         +1 ack 10           # 1 was late
         write 10
         > 11-20
         +40 ack 10 sack 12-14
         = state disorder
         +13                 # 10 ms, and two of the timer's ticks
         > r11
         = state recovery
         +40 ack 20
         +1 ack 20 dsack 11
         = undos 1
         write 10
         > 21-30
         +40 ack 20 sack 22
         = state disorder
         +20
         = state disorder
         +3                  # 20 ms
         = state recovery",
    );
}

#[test]
fn without_reordering_dsacks_widen_nothing() {
    reno(
        "write 10
         > 1-10
         +40 ack 0 sack 2-4
         > r1
         +40 ack 10
         +1 ack 10 dsack 1
         = undos 1
         write 10
         > 11-20
         +40 ack 10 sack 12
         = state disorder
         +13                 # a quarter of the minimum RTT, and two of the timer's ticks
         = state recovery",
    );
}

#[test]
fn f_rto_tells_a_delay_spike_from_a_loss() {
    after_20(
        Settings { loss_probes: false, ..Settings::default() },
        "+241
         > r11
         = state loss cwnd 1
         +100 ack 11 echo 11
         = state open undos 1 cwnd 21",
    );
}

#[test]
fn f_rto_needs_no_timestamps() {
    // The echo is the retransmission's, but then data arrives that was never sent again.
    after_20(
        Settings { loss_probes: false, ..Settings::default() },
        "+241
         > r11
         +100 ack 11
         > 31-32
         = state loss
         +1 ack 12
         = state open undos 1 cwnd 21",
    );
}

#[test]
fn a_mark_is_not_undone() {
    after_20(
        Settings::default(),
        "+40 ack 10 sack 12-14 ece
         = state recovery ssthresh 10
         > r11 31
         +2 ack 30 echo 11
         = ssthresh 10",
    );
}

#[test]
fn copies_that_the_network_makes_prove_nothing() {
    after_20(
        Settings::default(),
        "+40 ack 11
         ack 11 dsack 11
         = undos 0 state open
         ack 11 dsack 10
         = undos 0 state open",
    );
}

#[test]
fn a_loss_that_an_undo_takes_back_is_found_by_a_timeout_alone() {
    reno(
        "write 10
         > 1-10
         +40 ack 0 sack 3-5
         = state recovery lost 2
         > r1
         +1 ack 1 echo 1 sack 7-10 3-5
         = undos 1 state disorder
         +13                 # No more ACKs come: a quarter of the minimum RTT, and two of the timer's ticks
         = state recovery lost 1
         > r6                # 2 had been marked before
         +40 ack 1 sack 3-10
         = lost 0
         >
         +250
         = state loss
         > r2",
    );
}

#[test]
fn what_arrives_before_anything_is_sent_again_was_late() {
    // Pacing holds back what would be sent again, for 1.4 ms.
    run(
        Settings::default(),
        "bbr",
        40,
        "write 1000
         > 1-10
         +40 ack 1
         > 11-12
         +0.2 ack 1 sack 4-6
         = state recovery lost 2
         >
         +0.2 ack 2 sack 4-6
         = state disorder lost 0 undos 1
         +0.2 ack 6
         = state open
         >",
    );
}

#[test]
fn a_recovery_that_follows_another_counts_from_its_own_first_retransmission() {
    after_20(
        Settings::default(),
        "+40 ack 10 sack 12-14
         > r11 31
         +1 ack 10 sack 12-30
         > 32-39
         +39 ack 30 sack 32-34
         = state recovery lost 1
         > r31
         +2 ack 34 echo 31
         = undos 1",
    );
}

#[test]
fn after_a_needless_timeout_losses_are_still_found() {
    after_20(
        Settings { loss_probes: false, ..Settings::default() },
        "+241
         > r11
         = state loss lost 20
         +100 ack 11 echo 11
         = state open undos 1 lost 0
         > 31-32
         +1 ack 11 sack 13-15
         = state recovery lost 1
         > r12 33",
    );
}
