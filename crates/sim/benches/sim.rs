//! Data packets delivered per second, on one core.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Dumbbell, bulk};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sim::{Options, Simulation};

/// `flows` of `cc` for 10 s at 100 Mbit/s, 50 ms and a BDP of buffer.
fn dumbbell(c: &mut Criterion, cc: &str, flows: usize) {
    let plan = Dumbbell::new(100, 50.0).flows(flows, &bulk(cc)).plan();
    let fresh = || Simulation::new(&plan, Options::default(), ()).expect("a plan");
    let mut once = fresh();
    once.run();
    let delivered: u64 = once.reports().map(|report| report.received_bytes / 1448).sum();
    let mut group = c.benchmark_group("dumbbell");
    group.sample_size(10).throughput(Throughput::Elements(delivered));
    group.bench_function(format!("{cc}, {flows} flows"), |b| {
        b.iter_batched(fresh, |mut simulation| simulation.run(), BatchSize::LargeInput);
    });
}

fn algorithms(c: &mut Criterion) {
    for cc in ["reno", "cubic", "bbr", "bbr3"] {
        dumbbell(c, cc, 10);
    }
    dumbbell(c, "cubic", 1);
    dumbbell(c, "cubic", 100);
}

criterion_group!(benches, algorithms);
criterion_main!(benches);
