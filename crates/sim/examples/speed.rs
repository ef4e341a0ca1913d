//! Delivered data packets per CPU second: `speed [algorithm] [flows] [Mbit/s] [RTT ms] [seconds] [buffer in BDP]`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Dumbbell, bulk};
use sim::{Options, Simulation};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: f64| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let cc = arguments.first().map_or("cubic", String::as_str);
    let (flows, rate, rtt, seconds) = (number(1, 10.0), number(2, 100.0), number(3, 50.0), number(4, 60.0));
    let plan =
        Dumbbell::new(rate as u64, rtt).buffer_bdp(number(5, 1.0)).seconds(seconds).flows(flows as usize, &bulk(cc));
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), ()).expect("a plan");
    let began = Instant::now();
    simulation.run();
    let took = began.elapsed().as_secs_f64();
    let reports: Vec<_> = simulation.reports().collect();
    let received: u64 = reports.iter().map(|report| report.received_bytes).sum();
    let (packets, retransmitted) = (received / 1448, reports.iter().map(|r| r.retransmitted_segments).sum::<u64>());
    let squares: f64 = reports.iter().map(|report| (report.received_bytes as f64).powi(2)).sum();
    println!(
        "{cc}: {:.2} Mbit/s, Jain {:.3}, {retransmitted} retransmissions, {packets} packets in {took:.3} s: {:.0} a second",
        received as f64 * 8e-6 / seconds,
        (received as f64).powi(2) / (flows * squares),
        packets as f64 / took,
    );
}
