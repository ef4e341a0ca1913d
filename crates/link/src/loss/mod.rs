//! Processes that lose packets. The nth packet's fate depends on the seed, the process and n.

mod markov;
mod netem;
mod pattern;
#[cfg(test)]
mod tests;

use crate::chance::Coin;
use crate::random::Stream;
use markov::{FourState, GilbertElliott};
use netem::Netem;
use pattern::{Burst, Periodic, Trace};

/// Several processes at one place of a link: a packet is lost if any of them loses it. Each sees every packet, so that
/// none disturbs another.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    seed: u64,
    element: String,
    packets: u64,
    processes: Vec<Process>,
}

impl Losses {
    /// Process i of `element` draws from the stream `{element}/{i}`.
    pub(crate) fn new(specs: &[plan::Loss], seed: u64, element: &str) -> Losses {
        let mut losses = Losses { seed, element: element.into(), packets: 0, processes: Vec::new() };
        losses.configure(specs);
        losses
    }

    /// Is the next packet lost?
    pub(crate) fn next(&mut self) -> bool {
        let n = self.packets;
        self.packets += 1;
        self.processes.iter_mut().fold(false, |lost, process| process.loses(n) | lost)
    }

    /// Processes whose parameters stay go on, others begin anew with the next packet, which keeps its number.
    pub(crate) fn configure(&mut self, specs: &[plan::Loss]) {
        self.processes.truncate(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            if self.processes.get(i).is_some_and(|process| process.spec == *spec) {
                continue;
            }
            let process = Process::new(spec, Stream::new(self.seed, &format!("{}/{i}", self.element)));
            match self.processes.get_mut(i) {
                Some(old) => *old = process,
                None => self.processes.push(process),
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Process {
    spec: plan::Loss,
    stream: Stream,
    model: Model,
}

/// The state of a process after the packets before.
#[derive(Clone, Debug)]
enum Model {
    Coin(Coin),
    Netem(Netem),
    GilbertElliott(GilbertElliott),
    FourState(FourState),
    Burst(Burst),
    Periodic(Periodic),
    Trace(Trace),
}

impl Process {
    fn new(spec: &plan::Loss, stream: Stream) -> Process {
        let model = match *spec {
            plan::Loss::Independent { probability } => Model::Coin(Coin::new(probability, 0.0)),
            plan::Loss::Correlated { probability, correlation } => Model::Coin(Coin::new(probability, correlation)),
            plan::Loss::Netem { probability, correlation } => Model::Netem(Netem::new(probability, correlation)),
            plan::Loss::GilbertElliott { p, r, loss_bad, loss_good } => {
                Model::GilbertElliott(GilbertElliott::new(p, r, loss_bad, loss_good))
            }
            plan::Loss::FourState { p13, p31, p32, p23, p14 } => {
                Model::FourState(FourState::new(p13, p31, p32, p23, p14))
            }
            plan::Loss::Burst { probability, packets } => Model::Burst(Burst::new(probability, packets)),
            plan::Loss::Periodic { every, offset } => Model::Periodic(Periodic::new(every, offset)),
            plan::Loss::Trace { ref lost, period } => Model::Trace(Trace::new(lost.clone(), period)),
        };
        Process { spec: spec.clone(), stream, model }
    }

    fn loses(&mut self, n: u64) -> bool {
        let stream = self.stream;
        match &mut self.model {
            Model::Coin(coin) => coin.toss(stream.at(n)),
            Model::Netem(netem) => netem.loses(stream.at(n)),
            // Two numbers a packet.
            Model::GilbertElliott(chain) => chain.loses(stream.at(2 * n), stream.at(2 * n + 1)),
            Model::FourState(chain) => chain.loses(stream.at(n)),
            Model::Burst(burst) => burst.loses(stream.at(n)),
            Model::Periodic(periodic) => periodic.loses(),
            Model::Trace(trace) => trace.loses(),
        }
    }
}
