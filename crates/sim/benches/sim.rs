//! Data packets delivered per second, on one core.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Dumbbell, bulk};
use sim::{Options, Simulation};

const TURNS: u32 = 10;

/// Prints the most data packets per second of all turns: `flows` of `cc` for 10 s at 100 Mbit/s, 50 ms and a BDP of buffer.
fn dumbbell(cc: &str, flows: usize) {
    let plan = Dumbbell::new(100, 50.0).flows(flows, &bulk(cc)).plan();
    let rates = (0..TURNS).map(|_| {
        let mut simulation = Simulation::new(&plan, Options::default(), ()).expect("a plan");
        let began = Instant::now();
        simulation.run();
        let took = began.elapsed();
        let delivered: u64 = simulation.reports().map(|report| report.received_bytes / 1448).sum();
        delivered as f64 / took.as_secs_f64()
    });
    println!("{cc}, {flows} flows: {:.2} million packets/s", rates.fold(0.0, f64::max) / 1e6);
}

fn main() {
    for cc in ["reno", "cubic", "bbr", "bbr3"] {
        dumbbell(cc, 10);
    }
    dumbbell("cubic", 1);
    dumbbell("cubic", 100);
}
