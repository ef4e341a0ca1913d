//! One plan that is simulated as far as one asks for.

use std::collections::BTreeMap;

use anyhow::Result;
use messages::Failure;
use plan::{Acks, Plan};
use serde::{Deserialize, Serialize};
use sim::{Options, Problem, Simulation};
use units::{Duration, Time};

use crate::recorder::{Picked, Recorder};

/// Figures of a run that the page asks for, as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Columns of `samples`.
    pub samples: Vec<String>,
    /// Columns of `links`.
    pub links: Vec<String>,
    /// Digests of all tables, which costs some time for each packet that is recorded.
    pub digests: bool,
}

/// A run at its present time. JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Packets that hosts have sent.
    pub packets: u64,
    /// The SHA-256 of each table, see [`rows::Digest`]; empty if nobody asked for it.
    pub digests: BTreeMap<&'static str, String>,
}

/// A simulation whose observer is one of several.
trait Running {
    fn now(&self) -> Time;
    fn end(&self) -> Time;
    fn run_until(&mut self, until: Time);
    fn finish(&mut self);
    fn samples(&mut self) -> Vec<f64>;
    fn links(&mut self) -> Vec<f64>;
    fn report(&mut self) -> Report;
}

impl<const PACKETS: bool, const ACKS: bool> Running for Simulation<Recorder<PACKETS, ACKS>> {
    fn now(&self) -> Time {
        self.now()
    }

    fn end(&self) -> Time {
        self.end()
    }

    fn run_until(&mut self, until: Time) {
        self.run_until(until);
    }

    fn finish(&mut self) {
        self.finish();
    }

    fn samples(&mut self) -> Vec<f64> {
        self.observer_mut().samples.take()
    }

    fn links(&mut self) -> Vec<f64> {
        self.observer_mut().links.take()
    }

    fn report(&mut self) -> Report {
        Report { packets: self.packets(), digests: self.observer_mut().digests() }
    }
}

/// A run that goes on as far as it is told.
pub struct Machine {
    running: Box<dyn Running>,
    is_finished: bool,
}

impl Machine {
    /// A run of a plan (JSON) at time 0.
    ///
    /// # Errors
    /// It is no plan, or no plan that can be simulated; or there is no such column.
    pub fn new(plan: &str, asked: &Asked) -> Result<Machine, Vec<Failure>> {
        let one = |error: anyhow::Error| vec![Failure::of(&error)];
        let plan = Plan::parse(plan).map_err(one)?;
        let options = Options { tso: plan.simulate.tso, ..Options::default() };
        let problems = sim::check(&plan, options);
        if !problems.is_empty() {
            return Err(problems.into_iter().map(|Problem { failure, .. }| failure).collect());
        }
        let of = asked.digests.then_some(&plan);
        // Without digests nobody wants rows of packets and ACKs.
        let wants = of.map(|plan| (plan.record.packets, plan.record.acks != Acks::Off)).unwrap_or_default();
        let running = match wants {
            (true, true) => running::<true, true>(&plan, options, asked, of),
            (true, false) => running::<true, false>(&plan, options, asked, of),
            (false, true) => running::<false, true>(&plan, options, asked, of),
            (false, false) => running::<false, false>(&plan, options, asked, of),
        };
        Ok(Machine { running: running.map_err(one)?, is_finished: false })
    }

    /// The present virtual time, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        self.running.now().as_nanos()
    }

    /// The end of the plan, in nanoseconds.
    pub fn end_ns(&self) -> i64 {
        self.running.end().as_nanos()
    }

    /// Go on until a time, in nanoseconds, or until the plan's end, at which the last rows come.
    pub fn run_until(&mut self, ns: i64) {
        if self.is_finished {
            return;
        }
        self.running.run_until(Time::ZERO + Duration(ns));
        if self.running.now() >= self.running.end() {
            self.running.finish();
            self.is_finished = true;
        }
    }

    /// The chosen columns of the rows of `samples` that came since the last call, row after row; NaN: no value. Flows are
    /// numbered as in the plan.
    pub fn samples(&mut self) -> Vec<f64> {
        self.running.samples()
    }

    /// The same of `links`.
    pub fn links(&mut self) -> Vec<f64> {
        self.running.links()
    }

    /// Returns the state of the run.
    pub fn report(&mut self) -> Report {
        self.running.report()
    }
}

fn running<const PACKETS: bool, const ACKS: bool>(
    plan: &Plan,
    options: Options,
    asked: &Asked,
    digests_of: Option<&Plan>,
) -> Result<Box<dyn Running>> {
    let (samples, links) = (Picked::new(&asked.samples)?, Picked::new(&asked.links)?);
    let recorder = Recorder::<PACKETS, ACKS>::new(samples, links, digests_of);
    Ok(Box::new(Simulation::new(plan, options, recorder)?))
}
