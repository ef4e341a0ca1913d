//! A connection that carries data both ways.

use link::Ecn;
use sim::Segment;
use sim::tcp::{Duplex, Receiver, Sender, Settings};
use units::Time;

/// Carries segments from end to end, each after 5 ms; drops every one whose number `is_lost`. Returns both ends' received bytes.
fn exchange(to_server: u64, to_client: u64, is_lost: impl Fn(usize) -> bool) -> (u64, u64, usize) {
    let end = |seed| {
        let settings = Settings::default();
        (Sender::new(settings, cc::create("cubic").unwrap(), seed, false), Receiver::new(settings, None))
    };
    let mut connection = Duplex::new(end(1), end(2));
    let (mut now, mut out, mut under_way, mut sent) = (Time(1_000_000), Vec::new(), Vec::<(Time, Segment)>::new(), 0);
    connection.client.connect(now, &mut out);
    connection.client.write(to_server, now, &mut out);
    let mut has_answered = false;
    loop {
        for segment in out.drain(..) {
            sent += 1;
            if !is_lost(sent) {
                under_way.push((Time(now.0 + 5_000_000), segment));
            }
        }
        let arrival = under_way.first().map_or(Time::NEVER, |first| first.0);
        let timer = connection.client.next_timer().min(connection.server.next_timer());
        let ends = (connection.client.receiver().received_bytes(), connection.server.receiver().received_bytes());
        if ends == (to_client, to_server) || arrival.min(timer) > Time(60_000_000_000) {
            return (ends.0, ends.1, sent);
        }
        now = arrival.min(timer);
        if arrival <= timer {
            let (_, segment) = under_way.remove(0);
            match segment.is_reply {
                true => _ = connection.at_client(&segment, Ecn::NotEct, now, &mut out),
                false => connection.at_server(&segment, Ecn::NotEct, now, &mut out),
            }
            if !has_answered && connection.server.receiver().received_bytes() > 0 {
                has_answered = true;
                connection.server.write(to_client, now, &mut out);
            }
        } else {
            connection.client.on_timer(now, &mut out);
            connection.server.on_timer(now, &mut out);
        }
    }
}

#[test]
fn both_streams_arrive_whole_whatever_is_lost() {
    assert_eq!(exchange(1, 1, |_| false).0, 1);
    for every in [7, 10, 23] {
        let (client, server, sent) = exchange(300_000, 500_000, |number| number % every == 3);
        assert_eq!((client, server), (500_000, 300_000), "one of {every} is lost");
        assert!(sent > 800_000 / 1448);
    }
}

#[test]
fn an_exchange_takes_seven_segments() {
    // SYN, SYN-ACK, ACK, request, quick ACK, answer, quick ACK.
    let (client, server, sent) = exchange(100, 100, |_| false);
    assert_eq!((client, server, sent), (100, 100, 7));
}
