//! The amount that is sent, the time, and the trains.

use sim::tcp::{Sender, Settings};
use sim::{Flags, Segment};
use units::{Duration, Time};

use super::sender_script::{reno, run};

#[test]
fn the_initial_window_is_10_and_slow_start_doubles_it() {
    reno(
        "write 100
         > 1-10
         +40 ack 2
         > 11-14
         ack 4
         > 15-18
         ack 10
         > 19-30
         = cwnd 20 in-flight 20 state open",
    );
}

#[test]
fn a_small_segment_waits_while_another_is_out() {
    reno(
        "write 100 bytes
         > 1
         write 100 bytes     # Nagle, as modified by Minshall
         >",
    );
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    reno(
        "write 4
         > 1-4
         +40 ack 4
         = cwnd 10
         write 12
         > 5-14
         +40 ack 14
         > 15-16
         = cwnd 20",
    );
}

#[test]
fn after_a_pause_the_window_begins_anew() {
    reno(
        "write 70
         > 1-10
         +40 ack 10
         > 11-30
         +40 ack 30
         > 31-70
         +40 ack 70
         = cwnd 80 state open
         +300                # More than a timeout of 240 ms
         write 40
         = cwnd 40
         > 71-110
         +40 ack 110
         +3000
         = cwnd 80",
    );
}

#[test]
fn the_receive_window_is_obeyed_and_probed_when_it_is_closed() {
    reno(
        "write 30
         > 1-10
         +40 ack 10 window 5
         > 11-15
         +40 ack 15 window 0
         >
         +1000 ack 15 window 4
         > 16-19
         +84                 # Two RTTs, as before
         > r19",
    );
}

#[test]
fn a_fin_goes_with_the_last_segment() {
    let sender = run(
        Settings::default(),
        "reno",
        40,
        "write 12
         close
         > 1-10
         +40 ack 10
         > 11-12
         +40 ack 12          # All but the FIN
         = in-flight 1
         ack 12 fin
         >",
    );
    assert!(sender.is_finished());
}

#[test]
fn a_fin_goes_alone_if_all_was_sent_before() {
    let sender = run(
        Settings::default(),
        "reno",
        40,
        "write 3
         > 1-3
         close
         > 4                 # No byte, but a sequence number
         +40 ack 3
         = in-flight 1
         ack 3 fin
         >",
    );
    assert!(sender.is_finished());
}

/// RFC 2861 section 3.1: half for each timeout that is over, of 240 ms here, since the last packet left 40 ms before the pause.
#[test]
fn a_window_is_halved_for_each_timeout_of_a_pause() {
    for (pause_ms, cwnd) in [(200, 40), (201, 20), (440, 20), (441, 10), (5000, 10)] {
        reno(&format!(
            "write 10
             +40 ack 10
             write 20
             +40 ack 30
             = cwnd 40
             +{pause_ms}
             write 1
             = cwnd {cwnd}"
        ));
    }
}

#[test]
fn the_last_of_a_train_has_psh() {
    reno(
        "write 100
         > 1-10              # In trains of two: a millisecond's at this rate would be less
         = pushed 5
         +40 ack 1           # Room for two
         > 11-12
         = pushed 6",
    );
    // A train of one has it if a write ends there.
    reno("write 1\n > 1\n = pushed 1");
    run(Settings { tso: false, ..Settings::default() }, "reno", 40, "write 100\n > 1-10\n = pushed 0");
}

#[test]
fn without_tso_nothing_but_the_window_changes() {
    run(
        Settings { tso: false, ..Settings::default() },
        "reno",
        40,
        "write 100
         > 1-10
         +40 ack 10
         > 11-30",
    );
}

#[test]
fn bbr_is_paced_after_the_first_ten() {
    run(
        Settings::default(),
        "bbr",
        40,
        "write 100
         > 1-10
         +40 ack 10
         > 11-12            # 2.885 x 10 packets in 40 ms: a train of 2 each 2.8 ms
         +1
         >
         +1
         > 13-14            # It left half a gap early, since the one before was late
         +2
         >
         +1
         > 15-16
         +9
         > 17-22",
    );
}

#[test]
fn a_mark_reduces_the_window_once_a_round() {
    reno(
        "write 1000
         > 1-10
         +40 ack 10
         > 11-30
         +40 ack 12 ece
         = state cwr ssthresh 10
         ack 30 ece
         = cwnd 10
         > 31-40
         = delivered-ce 20 state cwr
         +40 ack 32         # Beyond what was in flight at the mark
         = state open cwnd 10",
    );
}

#[test]
fn a_receive_window_that_keeps_a_bulk_flow_does_not_shrink_its_own() {
    let rounds: String = (3..=14).map(|n| format!("+40 ack {}\n", 5 * n)).collect();
    reno(&format!(
        "write 1000
         > 1-10
         +40 ack 10 window 5
         > 11-15
         {rounds}
         > 16-75
         = cwnd 20"
    ));
}

#[test]
fn the_first_window_is_limited_by_the_application() {
    // It begins to write when it is connected: nothing waits to be sent then, and Linux doesn't look how long the write is.
    let cc = cc::create("bbr").unwrap();
    let (mut sender, mut out, now) = (Sender::new(Settings::default(), cc, 1, false), Vec::new(), Time(1_000_000_000));
    sender.write(1_000_000, now, &mut out);
    sender.connect(now, &mut out);
    let rtt = Duration::from_millis(40);
    let flags = Flags { syn: true, ..Flags::default() };
    let answer = Segment { is_reply: true, ack: 1, window: 10_000_000, ts_val: 1, flags, ..Segment::default() };
    sender.on_segment(&Segment { ts_ecr: out[0].ts_val, ..answer }, now + rtt, &mut out);
    let mut to = 1;
    for (round, is_limited) in [(2, true), (3, false)] {
        let sent = std::mem::take(&mut out);
        let last = sent.iter().rfind(|segment| segment.len > 0).unwrap();
        to = to.max(last.seq + u64::from(last.len));
        let ack = Segment { ack: to, ts_ecr: last.ts_val, flags: Flags::default(), ..answer };
        sender.on_segment(&ack, now + Duration(rtt.0 * round), &mut out);
        assert_eq!(sender.delivery_rate().unwrap().1, is_limited, "round {round}");
    }
}
