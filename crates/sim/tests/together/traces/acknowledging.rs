//! The times and the contents of the receiver's acknowledgements.

use super::receiver_script::run;

/// The quick ACKs at the start are over: packets up to 16 have come.
const QUICK: &str = "data 1-16
    > ack 1; ack 2; ack 3; ack 4; ack 5; ack 6; ack 7; ack 8; ack 9; ack 10; ack 11; ack 12; ack 13; ack 14; ack 15; ack 16
    ";

fn later(script: &str) {
    run(None, 40, &format!("{QUICK}{script}"));
}

#[test]
fn every_second_segment_is_acknowledged_and_a_lone_one_after_40_ms() {
    later(
        "+1 data 17
         >
         data 18
         > ack 18
         data 19
         +39
         >
         +2
         > ack 19",
    );
}

#[test]
fn the_last_of_a_train_is_acknowledged_at_once() {
    later(
        "+1 data 17
         data 18 psh
         > ack 18           # Two
         +10 data 19
         >
         data 20
         > ack 20
         data 21 psh
         > ack 21
         data 22
         >",
    );
}

#[test]
fn the_last_of_a_train_waits_behind_a_hole_like_any_other() {
    later(
        "data 18-20
         > ack 16 sack 18; ack 16 sack 18-19; ack 16 sack 18-20
         data 21 psh
         >
         +1
         > ack 16 sack 18-21",
    );
}

#[test]
fn what_comes_behind_a_hole_is_sacked_at_once_three_times_then_once_a_millisecond() {
    later(
        "data 18
         > ack 16 sack 18
         data 19-20
         > ack 16 sack 18-19; ack 16 sack 18-20
         data 21-24
         >
         +1
         > ack 16 sack 18-24
         data 17            # The hole is filled
         > ack 24",
    );
}

#[test]
fn three_blocks_are_told_the_latest_first() {
    later(
        "data 18
         data 20
         data 22
         > ack 16 sack 18; ack 16 sack 20 18; ack 16 sack 22 20 18
         data 24
         +1
         > ack 16 sack 24 22 20
         data 17
         > ack 18 sack 24 22 20",
    );
}

#[test]
fn a_duplicate_is_told_at_once() {
    later(
        "+1 data 10
         > ack 16 dsack 10
         data 17            # After a surprise, every segment
         > ack 17",
    );
}

#[test]
fn a_duplicate_behind_a_hole_is_told_beside_what_holds_it() {
    later(
        "data 18-19
         > ack 16 sack 18; ack 16 sack 18-19
         data 18
         > ack 16 sack 18 18-19",
    );
}

#[test]
fn a_mark_is_echoed_until_the_sender_says_cwr() {
    later(
        "+1 data 17 ce
         > ack 17 ece
         +1 data 18-19
         > ack 18 ece
         +1 data 20
         > ack 20 ece
         +1 data 21 cwr
         > ack 21",
    );
}

#[test]
fn dctcp_tells_which_packets_were_marked() {
    run(
        Some("dctcp"),
        40,
        &format!(
            "{QUICK}data 17
             >
             data 18 ce         # What came before the mark is acknowledged without
             > ack 17; ack 18 ece
             +1 data 19 ce
             +1 data 20 ce
             > ack 20 ece
             +1 data 21 ce
             >
             data 22
             > ack 21 ece; ack 22"
        ),
    );
}

#[test]
fn the_end_of_the_stream_is_answered_with_a_fin() {
    let receiver = run(
        None,
        40,
        &format!(
            "{QUICK}+1 last 17
             > ack 17; fin 17
             +300
             > fin 17"
        ),
    );
    assert!(receiver.is_complete());
    assert_eq!(receiver.received_bytes(), 16 * 1448 + 100);
}

#[test]
fn a_fin_behind_a_hole_waits() {
    let receiver = run(
        None,
        40,
        &format!(
            "{QUICK}last 18
             > ack 16 sack 18
             data 17
             > ack 18; fin 18"
        ),
    );
    assert!(receiver.is_complete());
}

#[test]
fn what_a_retransmission_overtook_is_refused_until_it_is_sent_again() {
    later(
        "data 18
         > ack 16 sack 18
         +40 data 17                 # It was sent again, just now
         > ack 18
         data 20 late 40             # The original, sent before that
         > ack 18
         data 19 late 1              # A millisecond is forgiven
         +40
         > ack 19
         data 18 late 40             # It came before
         > ack 19 dsack 18
         data 20
         > ack 20",
    );
}

#[test]
fn what_came_before_makes_nothing_outdated() {
    later(
        "+1 data 17-18
         > ack 18
         +40 data 17                 # It was sent again, needlessly
         > ack 18 dsack 17
         data 19 late 40             # Sent before that, too
         > ack 19",
    );
}

#[test]
fn what_waits_to_be_told_is_told_before_there_are_too_many_blocks() {
    later(
        "data 18
         data 19
         data 20
         > ack 16 sack 18; ack 16 sack 18-19; ack 16 sack 18-20
         data 22
         >                           # Two blocks: a millisecond is waited for more
         data 24
         > ack 16 sack 22 18-20      # A third one
         data 23                     # Joins the first, and by that the second
         >
         data 26
         > ack 16 sack 22-24 18-20
         +2
         > ack 16 sack 26 22-24 18-20",
    );
}

/// The buffer of 1 MiB has room for 655,360 bytes of data. Those of a hundred segments that wait take 2,304 bytes each of it.
#[test]
fn what_waits_behind_a_hole_is_not_offered_again() {
    run(
        None,
        40,
        "data 1-200
         = window 655360
         data 351-450
         = window 655360
         data 201-340
         = window 511360
         data 341-350
         = window 655360",
    );
}
