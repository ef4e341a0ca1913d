//! Parameters of links with which the state machines of the crate `link` can work.

use anyhow::{Result, ensure};
use units::{Duration, Time};

use crate::{Chance, Delays, Distribution, Jitter, Link, Loss, Policer, Queue, Reorder, Slots, Variation};

/// Flows that a discipline keeps apart, and bytes of their turns, at most.
const MOST_FLOWS: u32 = 1 << 16;
const LARGEST_QUANTUM: u32 = 1 << 30;

impl Link {
    /// Checks each parameter for itself.
    pub(crate) fn check(&self) -> Result<()> {
        let name = &self.name;
        ensure!(self.delay_ns >= Duration::ZERO, "link {name}: negative delay");
        ensure!(self.variation.as_ref().is_none_or(is_possible), "link {name}: impossible steps of its rate");
        ensure!(
            self.delays.as_ref().is_none_or(|delays| is_course(delays, self.delay_ns)),
            "link {name}: impossible steps of its delay"
        );
        ensure!(self.slots.is_none_or(has_slots), "link {name}: slots without an interval");
        ensure!(
            self.policer.is_none_or(|Policer { burst_bytes, .. }| burst_bytes > 0),
            "link {name}: a policer without a burst"
        );
        ensure!(self.jitter.as_ref().is_none_or(has_times), "link {name}: impossible jitter");
        ensure!(self.reorder.is_none_or(has_candidates), "link {name}: impossible reordering");
        ensure!(self.loss_before.iter().chain(&self.loss_after).all(loses), "link {name}: impossible loss");
        let chances = [self.duplication, self.corruption, self.marking];
        let are_shares = |chance: &Chance| share(chance.probability) && share(chance.correlation);
        ensure!(chances.iter().flatten().all(are_shares), "link {name}: a probability outside 0 to 1");
        ensure!(works(&self.queue), "link {name}: impossible parameters of its queue discipline");
        Ok(())
    }
}

fn share(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

fn time(value: Duration) -> bool {
    value >= Duration::ZERO
}

/// Rising times from 0 on, with a period behind the last.
fn is_possible(variation: &Variation) -> bool {
    match variation {
        Variation::Steps { steps, period_ns } => {
            let ends = |period: Duration| steps.last().is_some_and(|last| Time::ZERO + period > last.0);
            steps.first().is_some_and(|first| first.0 == Time::ZERO)
                && steps.is_sorted_by(|(earlier, _), (later, _)| earlier < later)
                && period_ns.is_none_or(ends)
        }
        // Of a link, which nothing was before.
        Variation::AsBefore => false,
        Variation::Opportunities { times, bytes, period_ns } => {
            times.first().is_some_and(|first| first.0 >= Time::ZERO)
                && times.is_sorted_by(|(earlier, _), (later, _)| earlier < later)
                && times.last().is_some_and(|last| Time::ZERO + *period_ns >= last.0)
                && *period_ns > Duration::ZERO
                && *bytes > 0
        }
    }
}

/// Rising times from 0 on, with a period behind the last, and `least` the least delay.
fn is_course(delays: &Delays, least: Duration) -> bool {
    let Delays::Steps { steps, period_ns } = delays else { return false };
    let ends = |period: Duration| steps.last().is_some_and(|last| Time::ZERO + period > last.0);
    steps.first().is_some_and(|first| first.0 == Time::ZERO)
        && steps.is_sorted_by(|(earlier, _), (later, _)| earlier < later)
        && period_ns.is_none_or(ends)
        && steps.iter().map(|step| step.1).min() == Some(least)
}

fn has_slots(slots: Slots) -> bool {
    Duration::ZERO < slots.min_interval_ns && slots.min_interval_ns <= slots.max_interval_ns
}

fn has_times(jitter: &Jitter) -> bool {
    let fits = match &jitter.distribution {
        Distribution::Uniform { min_ns, max_ns } => time(*min_ns) && min_ns <= max_ns,
        Distribution::Normal { mean_ns, sd_ns } => time(*mean_ns) && time(*sd_ns),
        Distribution::Pareto { min_ns, shape } => time(*min_ns) && *shape > 1.0 && shape.is_finite(),
        Distribution::Table { quantiles_ns } => {
            quantiles_ns.first().is_some_and(|&least| time(least)) && quantiles_ns.is_sorted()
        }
    };
    fits && share(jitter.correlation)
}

fn has_candidates(reorder: Reorder) -> bool {
    share(reorder.probability) && share(reorder.correlation) && reorder.gap > 0 && time(reorder.delay_ns)
}

fn loses(loss: &Loss) -> bool {
    match loss {
        Loss::Independent { probability } => share(*probability),
        Loss::Correlated { probability, correlation } | Loss::Netem { probability, correlation } => {
            share(*probability) && share(*correlation)
        }
        Loss::GilbertElliott { p, r, loss_bad, loss_good } => {
            [p, r, loss_bad, loss_good].into_iter().all(|&one| share(one))
        }
        Loss::FourState { p13, p32, p23, p14, p31 } => [p13, p32, p23, p14, p31].into_iter().all(|&one| share(one)),
        Loss::Burst { probability, packets } => share(*probability) && *packets > 0,
        Loss::Periodic { every, offset } => offset < every,
        Loss::Trace { lost, period } => {
            lost.is_sorted_by(|earlier, later| earlier < later)
                && period.is_none_or(|period| period > 0 && lost.last().is_none_or(|&last| last < period))
        }
    }
}

fn works(queue: &Queue) -> bool {
    match queue {
        Queue::DropTail { .. } | Queue::DropHead { .. } => true,
        Queue::Red { min_th_bytes, max_th_bytes, max_p, weight, average_packet_bytes, .. } => {
            min_th_bytes <= max_th_bytes && share(*max_p) && share(*weight) && *average_packet_bytes > 0
        }
        Queue::Codel { target_ns, interval_ns, .. } => time(*target_ns) && *interval_ns > Duration::ZERO,
        Queue::FqCodel { target_ns, interval_ns, quantum_bytes, flows, .. } => {
            time(*target_ns)
                && *interval_ns > Duration::ZERO
                && quantum_bytes.get() <= LARGEST_QUANTUM
                && flows.get() <= MOST_FLOWS
        }
        Queue::Pie { target_ns, t_update_ns, max_burst_ns, alpha, beta, mark_ecnth, .. } => {
            time(*target_ns)
                && *t_update_ns > Duration::ZERO
                && time(*max_burst_ns)
                && [alpha, beta].into_iter().all(|factor| (0.0..=1e6).contains(factor))
                && share(*mark_ecnth)
        }
        Queue::Fq { quantum_bytes, flows } => quantum_bytes.get() <= LARGEST_QUANTUM && flows.get() <= MOST_FLOWS,
        Queue::Cake { target_ns, interval_ns, quantum_bytes, .. } => {
            time(*target_ns) && *interval_ns > Duration::ZERO && quantum_bytes.get() <= LARGEST_QUANTUM
        }
        Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, min_th_ns, range_ns, classic_share } => {
            time(*target_ns)
                && *t_update_ns > Duration::ZERO
                && [alpha, beta, k].into_iter().all(|factor| (0.0..=1e6).contains(factor))
                && time(*min_th_ns)
                && time(*range_ns)
                && share(*classic_share)
        }
    }
}
