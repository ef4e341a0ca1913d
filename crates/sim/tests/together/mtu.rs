//! The MTU of a network: packets are as long as it allows, and all else follows.

use crate::common::{Dumbbell, bulk, sized};
use serde_json::json;
use sim::{Observer, Options, PacketRow, Simulation};
use units::Mtu;

/// Sizes of the frames that were sent over the bottleneck, in order.
#[derive(Default)]
struct Frames(Vec<u32>);

impl Observer for Frames {
    const PACKETS: bool = true;
    fn packet(&mut self, row: &PacketRow<'_>) {
        if row.link == 1 {
            self.0.push(row.passage.packet.size);
        }
    }
}

fn run(dumbbell: &Dumbbell, mtu: u32) -> Simulation<Frames> {
    let mut plan = dumbbell.plan();
    plan.mtu = Mtu::try_from(mtu).unwrap();
    let mut simulation = Simulation::new(&plan, Options::default(), Frames::default()).unwrap();
    simulation.run();
    simulation
}

#[test]
fn a_transfer_takes_as_many_segments_as_its_bytes_fill() {
    for (mtu, frame, mss) in [(576, 590, 524), (1500, 1514, 1448), (9000, 9014, 8948)] {
        let simulation = run(&Dumbbell::new(10, 20.0).buffer_bdp(40.0).flow(sized("reno", 1_000_000), 0.0), mtu);
        let report = simulation.reports().next().unwrap();
        assert!(report.completed && report.retransmitted_segments == 0);
        let frames = simulation.into_observer().0;
        let (full, rest): (Vec<u32>, Vec<u32>) = frames.iter().partition(|&&size| size == frame);
        let expected = 1_000_000 / mss;
        assert_eq!(full.len(), expected, "{mtu}");
        // The SYN, the rest of the data, and ACKs without data. A write that ends in the middle of a segment, with nothing behind it
        // when its turn to be sent comes, cuts one more.
        let small: Vec<u32> = rest.into_iter().filter(|&size| size > 78).map(|size| size - 66).collect();
        assert_eq!(small.iter().sum::<u32>(), (1_000_000 % mss) as u32, "{mtu}: {small:?}");
        assert!(small.len() <= 2, "{mtu}: {small:?}");
    }
}

#[test]
fn goodput_is_the_payloads_share_of_the_frames() {
    for (mtu, share) in [(576, 524.0 / 590.0), (1500, 1448.0 / 1514.0), (9000, 8948.0 / 9014.0)] {
        for cc in ["cubic", "bbr", "bbr3"] {
            let simulation = run(&Dumbbell::new(100, 40.0).flow(bulk(cc), 0.0), mtu);
            let report = simulation.reports().next().unwrap();
            let used = report.received_bytes as f64 * 8.0 / 10.0 / 100e6 / share;
            // Slow start and the first losses take some; BBR's PROBE_RTT takes 200 ms of 10 s.
            assert!((0.93..=1.0).contains(&used), "{mtu}, {cc}: {used}");
        }
    }
}

#[test]
fn the_first_window_has_ten_segments_of_any_size() {
    for (mtu, mss) in [(576, 524), (9000, 8948)] {
        let simulation = run(&Dumbbell::new(1000, 40.0).seconds(0.075).flow(bulk("reno"), 0.0), mtu);
        let frames = simulation.into_observer().0;
        assert_eq!(frames.iter().filter(|&&size| size == mss + 66).count(), 10, "{mtu}: {frames:?}");
    }
}

/// 8 KiB each, as old versions of iperf3 send them.
fn long_datagrams() -> serde_json::Value {
    json!({"kind": "udp", "rate_bps": 8_404_000, "payload_bytes": 8192, "bytes": null})
}

#[test]
fn datagrams_that_do_not_fit_come_in_fragments() {
    // 8,404 bytes in six frames each 8 ms: a constant rate of whole frames.
    let simulation = run(&Dumbbell::new(100, 20.0).seconds(1.0).flow(long_datagrams(), 0.0), 1500);
    let report = simulation.reports().next().unwrap();
    let datagrams = report.datagrams.unwrap();
    // The last one is under way when the run ends.
    assert_eq!((datagrams.sent, datagrams.received, datagrams.lost), (125, 124, 0));
    assert_eq!((report.sent_bytes, report.received_bytes), (125 * 8192, 124 * 8192));
    assert_eq!(simulation.packets(), 6 * 125);
    let frames = simulation.into_observer().0;
    assert_eq!(frames[..6], [1514, 1514, 1514, 1514, 1514, 834]);
    assert!(frames.chunks(6).all(|six| six.iter().sum::<u32>() == 8404), "{frames:?}");
}

#[test]
fn a_datagram_is_lost_with_any_of_its_fragments() {
    let lossy = json!({"loss_before": [{"model": "periodic", "every": 10, "offset": 0}]});
    let simulation = run(&Dumbbell::new(100, 20.0).seconds(4.0).flow(long_datagrams(), 0.0).with(lossy), 1500);
    let datagrams = simulation.reports().next().unwrap().datagrams.unwrap();
    let lost = simulation.links()[1].counters().lost_packets();
    // Every tenth packet: three of five datagrams lack one, none lacks two. The last ones are under way.
    assert_eq!((datagrams.sent, lost), (500, 300));
    assert!((298..=300).contains(&datagrams.lost), "{datagrams:?}");
    assert!((498..=500).contains(&(datagrams.received + datagrams.lost)), "{datagrams:?}");
}

#[test]
fn no_datagram_is_longer_than_an_ip_packet() {
    let udp = |payload: u32| json!({"kind": "udp", "rate_bps": 1_000_000, "payload_bytes": payload, "bytes": null});
    let check = |payload| sim::check(&Dumbbell::new(10, 20.0).flow(udp(payload), 0.0).plan(), Options::default()).len();
    assert_eq!((check(65_507), check(65_508)), (0, 1));
}
