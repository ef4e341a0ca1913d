//! `cargo bench -p link`: packets per second through one link on one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use link::{Link, Packet};
use units::{Duration, Rate, Time};

const PACKETS: u64 = 100_000;

fn drop_tail(c: &mut Criterion) {
    let spec = plan::Link {
        name: "bottleneck".into(),
        from: "a".into(),
        to: "b".into(),
        rate_bps: Rate::from_bps(100_000_000),
        delay_ns: Duration::from_millis(15),
        buffer: plan::Buffer::Bytes(375_000),
        loss_before: 0.0,
        loss_after: 0.0,
        overhead_bytes: 0,
    };
    let mut group = c.benchmark_group("link");
    group.throughput(Throughput::Elements(PACKETS));
    group.bench_function("drop-tail push+poll, 10 % overload", |b| {
        let mut link = Link::new(&spec, 1);
        let mut now = Time::ZERO;
        b.iter(|| {
            for id in 0..PACKETS {
                now += Duration(110_000);
                while let Some(passage) = link.poll(now) {
                    black_box(passage);
                }
                let _ = black_box(link.push(Packet { id, size: 1514, ..Packet::default() }, now));
            }
        });
    });
}

criterion_group!(benches, drop_tail);
criterion_main!(benches);
