//! `cargo bench -p link`: packets per second through one link on one core.

use std::hint::black_box;
use std::time::Instant;

use link::{Ecn, Link, Packet};
use units::{Duration, Rate, Time};

const PACKETS: u64 = 100_000;
const TURNS: u32 = 50;

/// Prints the most packets per second of all turns through one link at 110 % of its rate: its queue is always full, one packet in
/// eleven is dropped.
fn through(name: &str, queue: plan::Queue, flows: u32) {
    let spec = plan::Link {
        rate_bps: Rate::from_bps(100_000_000),
        delay_ns: Duration::from_millis(15),
        buffer: plan::Buffer::Bytes(375_000),
        queue,
        ..plan::Link::transparent("bottleneck", "a", "b")
    };
    let mut link = Link::new(&spec, 1);
    let mut now = Time::ZERO;
    let quickest = (0..TURNS).map(|_| {
        let began = Instant::now();
        for id in 0..PACKETS {
            now += Duration(110_000);
            let flow_hash = (id as u32 % flows).wrapping_mul(0x9e37_79b9);
            link.push(Packet { id, size: 1514, flow_hash, ecn: Ecn::Ect0, ..Packet::default() }, now);
            while let Some(passage) = link.poll(now) {
                black_box(passage);
            }
        }
        began.elapsed()
    });
    println!("{name:20} {:.2} million packets/s", PACKETS as f64 / quickest.min().unwrap().as_secs_f64() / 1e6);
}

fn main() {
    let (target_ns, interval_ns) = (Duration::from_millis(5), Duration::from_millis(100));
    let (flows, quantum_bytes) = (1024.try_into().unwrap(), 1514.try_into().unwrap());
    let (ecn, ce_threshold_ns) = (false, None);
    through("drop-tail", plan::Queue::default(), 1);
    through("codel", plan::Queue::Codel { target_ns, interval_ns, ecn, ce_threshold_ns }, 1);
    let fq_codel = || plan::Queue::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn, ce_threshold_ns };
    through("fq-codel, 1 flow", fq_codel(), 1);
    through("fq-codel, 100 flows", fq_codel(), 100);
    through("fq, 100 flows", plan::Queue::Fq { quantum_bytes, flows }, 100);
    let isolation = plan::Isolation::TripleIsolate;
    let cake = plan::Queue::Cake { target_ns, interval_ns, quantum_bytes, isolation, ecn };
    through("cake, 100 flows", cake, 100);
    let (t_update_ns, max_burst_ns) = (Duration::from_millis(15), Duration::from_millis(150));
    let (target_ns, mark_ecnth) = (t_update_ns, 0.1);
    let pie = plan::Queue::Pie { target_ns, t_update_ns, alpha: 0.125, beta: 1.25, max_burst_ns, ecn, mark_ecnth };
    through("pie", pie, 1);
    let red = plan::Queue::Red {
        min_th_bytes: 62_500,
        max_th_bytes: 187_500,
        max_p: 0.1,
        weight: 0.002,
        average_packet_bytes: 1514,
        gentle: true,
        ecn,
        adaptive: false,
    };
    through("red", red, 1);
    let (min_th_ns, range_ns) = (Duration(800_000), Duration(400_000));
    let (alpha, beta, k, classic_share) = (0.15, 3.0, 2.0, 0.1);
    let dualpi2 = plan::Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, min_th_ns, range_ns, classic_share };
    through("dualpi2", dualpi2, 1);
}
