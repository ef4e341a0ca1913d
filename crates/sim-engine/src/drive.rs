//! Drives a simulation, reports its progress, and stops it on request.

use std::time::{Duration as Wall, Instant};

use anyhow::Result;
use messages::{BbrProgress, Event, FlowCounts, LinkCounts, Meter};
use plan::Plan;
use records::samples::BbrSample;
use sim::rows::{bbr, bytes_in_flight, srtt_us};
use sim::tcp::Sender;
use sim::{FlowReport, Observer, QuicAccount, Simulation};
use units::Duration;

/// A callback for events; it returns true if the run is to go on. An error ends the run, too.
pub type OnEvent<'a> = dyn FnMut(&Event) -> Result<bool> + 'a;

/// The interval of progress reports.
const PROGRESS: Wall = Wall::from_millis(100);
/// The interval of looks at the clock: rarely enough to cost nothing, often enough for progress.
const LOOK: Wall = Wall::from_millis(10);

/// The end of a simulation.
pub(crate) struct Ended {
    /// Before the plan's.
    pub interrupted: bool,
    /// Why, if nobody said stop.
    pub error: Option<anyhow::Error>,
}

/// Run to the plan's end, or until `on_event` says stop or fails, or `failure` tells why to go on is of no use.
pub(crate) fn drive<O: Observer>(
    simulation: &mut Simulation<O>,
    plan: &Plan,
    failure: impl Fn(&O) -> Option<String>,
    on_event: &mut OnEvent<'_>,
) -> Ended {
    let mut stride = Stride::default();
    let mut live = Live::of(plan);
    let mut reported = None;
    loop {
        let looked = Instant::now();
        if reported.is_none_or(|last| looked - last >= PROGRESS) {
            reported = Some(looked);
            match on_event(&live.event(simulation)) {
                Ok(true) => {}
                Ok(false) => return Ended { interrupted: true, error: None },
                Err(error) => return Ended { interrupted: true, error: Some(error) },
            }
        }
        if let Some(why) = failure(simulation.observer()) {
            return Ended { interrupted: true, error: Some(anyhow::anyhow!(why).context("writing the run's tables")) };
        }
        simulation.run_until(simulation.now() + stride.0);
        if simulation.now() >= simulation.end() {
            break;
        }
        stride.adapt(looked.elapsed());
    }
    // The whole run is simulated: nobody can stop it any more.
    let error = on_event(&live.event(simulation)).err();
    Ended { interrupted: false, error }
}

/// Reports the progress of flows and links.
struct Live {
    meter: Meter,
    /// The links that can do something to a packet.
    opaque: Vec<usize>,
}

impl Live {
    fn of(plan: &Plan) -> Live {
        let transparent = plan.transparent_links();
        let opaque: Vec<usize> = (0..plan.links.len()).filter(|&link| !transparent[link]).collect();
        let flows = plan.flows.iter().map(|flow| flow.id.clone());
        let meter = Meter::new(flows, opaque.iter().map(|&link| plan.links[link].name.clone()));
        Live { meter, opaque }
    }

    fn event<O: Observer>(&mut self, simulation: &Simulation<O>) -> Event {
        let time_ns = simulation.now().as_nanos();
        let flow = |((report, sender), quic): ((FlowReport, Option<&Sender>), Option<&QuicAccount>)| FlowCounts {
            time_ns,
            received_bytes: report.received_bytes,
            srtt_us: match quic {
                Some(quic) => quic.sent.srtt_us,
                None => sender.and_then(|sender| srtt_us(sender.socket())),
            },
            cwnd_packets: sender.map(|sender| sender.socket().snd_cwnd),
            retransmitted_segments: sender.map(|_| report.retransmitted_segments as u32),
            bytes_in_flight: sender.map(bytes_in_flight).or_else(|| quic?.sent.bytes_in_flight),
            bbr: sender.and_then(bbr_progress),
        };
        let link = |&link: &usize| {
            let (counters, backlog) = (simulation.links()[link].counters(), simulation.links()[link].backlog());
            LinkCounts {
                time_ns,
                departed_bytes: counters.departed_bytes,
                queue_bytes: backlog.bytes,
                queue_packets: u64::from(backlog.packets),
                dropped_packets: counters.dropped_packets(),
            }
        };
        let flows =
            self.meter.flows(simulation.reports().zip(simulation.senders()).zip(simulation.quic_accounts()).map(flow));
        Event::Progress { time_ns, flows, links: self.meter.links(self.opaque.iter().map(link)), health: None }
    }
}

/// The virtual time that is simulated between two looks at the clock. The results don't depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stride(pub Duration);

impl Default for Stride {
    fn default() -> Stride {
        Stride(Duration::from_millis(1))
    }
}

impl Stride {
    pub(crate) fn adapt(&mut self, took: Wall) {
        const LEAST: i64 = 1_000;
        const MOST: i64 = 3_600_000_000_000;
        let nanos = self.0.as_nanos();
        if took < LOOK / 2 {
            self.0 = Duration((2 * nanos).min(MOST));
        } else if took > 2 * LOOK {
            self.0 = Duration((nanos / 2).max(LEAST));
        }
    }
}

/// BBR's model of the path for events; `None` of another algorithm.
fn bbr_progress(sender: &Sender) -> Option<BbrProgress> {
    let BbrSample { bw_bps, min_rtt_us, pacing_gain, cwnd_gain } = bbr(sender)?;
    Some(BbrProgress { bw_bps, min_rtt_us, pacing_gain, cwnd_gain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_settle_near_the_time_between_two_looks() {
        let mut stride = Stride::default();
        // A machine that simulates a second in 200 ms.
        for _ in 0..100 {
            stride.adapt(Wall::from_nanos(stride.0.as_nanos() as u64 / 5));
        }
        let took = Wall::from_nanos(stride.0.as_nanos() as u64 / 5);
        assert!((LOOK / 2..=2 * LOOK).contains(&took), "{took:?}");
        for _ in 0..100 {
            stride.adapt(Wall::ZERO);
        }
        assert_eq!(stride, Stride(Duration(3_600_000_000_000)));
    }
}
