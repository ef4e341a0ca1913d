//! Processes that lose packets. The nth packet's fate depends on the seed, the process and n.

mod markov;
mod netem;
mod pattern;
#[cfg(test)]
mod tests;

use super::{Effects, Impairment};
use crate::chance::Coin;
use markov::{FourState, GilbertElliott};
use netem::Netem;
use pattern::{Burst, Periodic, Trace};
use plan::Stream;

/// Several processes at one place of a link: a packet is lost if any of them loses it. Each sees every packet, so that
/// none disturbs another.
#[derive(Clone, Debug)]
struct Losses {
    seed: u64,
    element: String,
    packets: u64,
    processes: Vec<Process>,
}

impl Losses {
    /// Process i of `element` draws from the stream `{element}/{i}`.
    fn new(specs: &[plan::Loss], seed: u64, element: &str) -> Losses {
        let mut losses = Losses { seed, element: element.into(), packets: 0, processes: Vec::new() };
        losses.configure(specs);
        losses
    }

    /// True if the next packet is lost.
    fn next(&mut self) -> bool {
        let n = self.packets;
        self.packets += 1;
        self.processes.iter_mut().fold(false, |lost, process| process.loses(n) | lost)
    }

    /// Processes whose parameters stay go on, others begin anew with the next packet, which keeps its number.
    fn configure(&mut self, specs: &[plan::Loss]) {
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

/// The losses at one place of a link: before the queue, or else behind the serializer.
#[derive(Clone, Debug)]
pub(crate) struct Loss<const BEFORE_QUEUE: bool>(Losses);

impl<const BEFORE_QUEUE: bool> Loss<BEFORE_QUEUE> {
    const ELEMENT: &str = if BEFORE_QUEUE { "loss-before" } else { "loss-after" };

    fn specs(link: &plan::Link) -> &[plan::Loss] {
        if BEFORE_QUEUE { &link.loss_before } else { &link.loss_after }
    }
}

impl<const BEFORE_QUEUE: bool> Impairment for Loss<BEFORE_QUEUE> {
    fn new(link: &plan::Link, seed: u64) -> Self {
        Loss(Losses::new(Self::specs(link), seed, &format!("{}/{}", link.name, Self::ELEMENT)))
    }

    fn configure(&mut self, link: &plan::Link) {
        self.0.configure(Self::specs(link));
    }

    fn acts(&self) -> bool {
        !self.0.processes.is_empty()
    }

    fn skip(&mut self, packets: u64) {
        self.0.packets += packets;
    }

    fn next(&mut self, effects: &mut Effects) {
        effects.is_lost |= self.0.next();
    }
}

#[derive(Clone, Debug)]
struct Process {
    spec: plan::Loss,
    stream: Stream,
    model: Model,
}

impl Process {
    fn new(spec: &plan::Loss, stream: Stream) -> Process {
        Process { spec: spec.clone(), stream, model: Model::new(spec) }
    }

    fn loses(&mut self, n: u64) -> bool {
        self.model.loses(n, self.stream)
    }
}

/// The state of a process after the packets before.
trait State {
    /// True if packet `n` is lost. Call it in the order of packets; `numbers` are the process's own.
    fn loses(&mut self, n: u64, numbers: Stream) -> bool;
}

/// The enum of all models: each variant of [`plan::Loss`] with its parameters, and the state that they make.
macro_rules! models {
    ($($model:ident { $($parameter:ident),* } => $state:ident::new($($argument:expr),*);)*) => {
        #[derive(Clone, Debug)]
        enum Model {
            $($model($state)),*
        }

        impl Model {
            fn new(spec: &plan::Loss) -> Model {
                match spec {
                    $(plan::Loss::$model { $($parameter),* } => Model::$model($state::new($($argument),*)),)*
                }
            }

            fn loses(&mut self, n: u64, numbers: Stream) -> bool {
                match self {
                    $(Model::$model(state) => state.loses(n, numbers),)*
                }
            }
        }
    };
}

models! {
    Independent { probability } => Coin::new(*probability, 0.0);
    Correlated { probability, correlation } => Coin::new(*probability, *correlation);
    Netem { probability, correlation } => Netem::new(*probability, *correlation);
    GilbertElliott { p, r, loss_bad, loss_good } => GilbertElliott::new(*p, *r, *loss_bad, *loss_good);
    FourState { p13, p31, p32, p23, p14 } => FourState::new(*p13, *p31, *p32, *p23, *p14);
    Burst { probability, packets } => Burst::new(*probability, *packets);
    Periodic { every, offset } => Periodic::new(*every, *offset);
    Trace { lost, period } => Trace::new(lost.clone(), *period);
}

impl State for Coin {
    fn loses(&mut self, n: u64, numbers: Stream) -> bool {
        self.toss(numbers.at(n))
    }
}
