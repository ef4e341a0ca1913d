//! The same scenarios as the kernel ran them: Linux 6.18 over emulated links, one run each, without random loss.

use crate::common::{Dumbbell, bulk};
use sim::{FlowRow, Observer, Options, Simulation};

/// Algorithm; Mbit/s, RTT in ms, buffer in bytes, seconds. Measured: goodput in Mbit/s, median SRTT in ms, segments sent
/// again.
type Row = (&'static str, (u64, f64, u64, f64), (f64, f64, u64));

const MEASURED: [Row; 7] = [
    ("cubic", (10, 40.0, 100_000, 10.0), (9.460, 103.2, 7)),
    ("cubic", (20, 40.0, 200_000, 8.0), (18.792, 99.9, 14)),
    ("cubic", (20, 40.0, 400_000, 12.0), (18.900, 164.7, 20)),
    ("cubic", (1000, 25.0, 3_125_000, 8.0), (931.1, 44.3, 210)),
    ("bbr", (10, 40.0, 50_000, 15.0), (9.347, 49.7, 71)),
    ("bbr", (20, 40.0, 200_000, 8.0), (18.775, 44.4, 10)),
    ("bbr3", (10, 40.0, 200_000, 12.0), (9.221, 42.7, 0)),
];

#[derive(Default)]
struct Rtts(Vec<u32>);

impl Observer for Rtts {
    const SAMPLES: bool = true;
    fn flow(&mut self, row: &FlowRow<'_>) {
        self.0.extend(row.sender.map(|sender| sender.socket().srtt_us >> 3).filter(|&srtt| srtt > 0));
    }
}

#[test]
fn goodput_rtt_and_retransmissions_are_the_kernels() {
    for (cc, (rate, rtt, buffer, seconds), (goodput, srtt, resent)) in MEASURED {
        let mut plan = Dumbbell::new(rate, rtt).seconds(seconds).flow(bulk(cc), 0.0);
        plan.buffer_bytes = buffer;
        let mut simulation = Simulation::new(&plan.plan(), Options::default(), Rtts::default()).unwrap();
        simulation.run();
        let report = simulation.reports().next().unwrap();
        let mut rtts = simulation.into_observer().0;
        rtts.sort_unstable();
        let is_goodput = report.received_bytes as f64 * 8e-6 / seconds;
        let is_srtt = f64::from(rtts[rtts.len() / 2]) / 1e3;
        let is_resent = report.retransmitted_segments;
        let what =
            format!("{cc} at {rate} Mbit/s, {rtt} ms: {is_goodput:.3} Mbit/s, {is_srtt:.1} ms, {is_resent} again");
        assert!((is_goodput / goodput - 1.0).abs() < 0.02, "{what}, not {goodput}");
        assert!((is_srtt / srtt - 1.0).abs() < 0.05, "{what}, not {srtt}");
        assert!(is_resent.abs_diff(resent) <= resent / 10 + 5, "{what}, not {resent}");
    }
}
