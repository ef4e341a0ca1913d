//! Once warm, no packet costs an allocation, whatever the link does to it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use link::{Ecn, Link, Packet};
use plan::{Buffer, Distribution, Jitter, Loss, Queue, Reorder};
use units::{Duration, Rate, Time};

/// Counts allocations of the whole process: this file has one test, so nothing else allocates beside it.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn queues() -> Vec<Queue> {
    let ms = Duration::from_millis;
    let (flows, quantum_bytes) = (64.try_into().unwrap(), 1514.try_into().unwrap());
    let (ecn, ce_threshold_ns) = (true, None);
    vec![
        Queue::DropTail { ce_threshold: None },
        Queue::DropHead { ce_threshold: None },
        Queue::Red {
            min_th_bytes: 50_000,
            max_th_bytes: 150_000,
            max_p: 0.1,
            weight: 0.002,
            average_packet_bytes: 1514,
            gentle: true,
            ecn,
            adaptive: true,
        },
        Queue::Codel { target_ns: ms(5), interval_ns: ms(100), ecn, ce_threshold_ns },
        Queue::FqCodel { target_ns: ms(5), interval_ns: ms(100), quantum_bytes, flows, ecn, ce_threshold_ns },
        Queue::Pie {
            target_ns: ms(15),
            t_update_ns: ms(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst_ns: ms(150),
            ecn,
            mark_ecnth: 0.1,
        },
        Queue::Fq { quantum_bytes, flows },
        Queue::Cake {
            target_ns: ms(5),
            interval_ns: ms(100),
            quantum_bytes,
            isolation: plan::Isolation::TripleIsolate,
            ecn,
        },
        Queue::Dualpi2 {
            target_ns: ms(15),
            t_update_ns: ms(15),
            alpha: 0.15,
            beta: 3.0,
            k: 2.0,
            min_th_ns: Duration(800_000),
            range_ns: Duration(400_000),
            classic_share: 0.1,
        },
    ]
}

/// 10 % more than the link carries, from 20 flows, half of which are ECN-capable.
fn send(link: &mut Link, packets: std::ops::Range<u64>) {
    for id in packets {
        let now = Time(id as i64 * 110_000);
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1][id as usize % 4];
        let packet = Packet { id, size: 1514, flow_hash: id as u32 % 20, ecn, ..Packet::default() };
        if link.push(packet, now) {
            link.push_copy(packet, now);
        }
        while link.poll(now).is_some() {}
    }
}

#[test]
fn none_per_packet() {
    for queue in queues() {
        let distribution = Distribution::Normal { mean_ns: Duration(300_000), sd_ns: Duration(200_000) };
        let spec = plan::Link {
            rate_bps: Rate::from_bps(100_000_000),
            delay_ns: Duration::from_millis(15),
            buffer: Buffer::Bytes(375_000),
            queue: queue.clone(),
            jitter: Some(Jitter { distribution, correlation: 0.5 }),
            reordering: true,
            reorder: Some(Reorder { probability: 0.01, correlation: 0.0, gap: 1, delay_ns: Duration::ZERO }),
            loss_before: vec![Loss::GilbertElliott { p: 0.01, r: 0.1, loss_bad: 0.5, loss_good: 0.0 }],
            duplication: Some(plan::Chance { probability: 0.01, correlation: 0.0 }),
            ..plan::Link::transparent("bottleneck", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        send(&mut link, 0..200_000);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        send(&mut link, 200_000..400_000);
        let during = ALLOCATIONS.load(Ordering::Relaxed) - before;
        // A queue that grows beyond all that it held before may grow its memory; a packet may not.
        assert!(during < 20, "{during} allocations for 200,000 packets with {queue:?}");
    }
}
