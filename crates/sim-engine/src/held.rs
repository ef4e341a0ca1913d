//! Simulations whose flows are held from outside, step by step: environments in which policies are trained.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Result, bail};
use messages::Failure;
use plan::Plan;
use sim::held::{Decision, Held, Hold, Interval, Observation};
use sim::{Objects, Options, Simulation};
use units::{Duration, Time};

use crate::run::stopped;

/// Numbers of a flow's observation, in the order of [`FIELDS`].
pub const WIDTH: usize = FIELDS.len();

/// The numbers of a flow's observation: name, unit, largest value, and meaning.
pub const FIELDS: [(&str, &str, f64, &str); 13] = [
    ("is_due", "", 1.0, "1: a decision is due; 0: no ACK came for the timeout, and the action counts for nothing"),
    ("duration", "s", f64::INFINITY, "time since the last decision"),
    ("delivered", "packets", f64::INFINITY, "packets that were ACKed or SACKed in the interval"),
    ("lost", "packets", f64::INFINITY, "packets that were marked lost in the interval"),
    ("ce", "packets", f64::INFINITY, "delivered packets that were reported as CE-marked in the interval (RFC 3168)"),
    ("rtt_mean", "s", f64::INFINITY, "mean RTT of the interval; 0: no sample"),
    ("rtt_min", "s", f64::INFINITY, "least RTT of the interval; 0: no sample"),
    ("rtt_latest", "s", f64::INFINITY, "latest RTT of the interval; 0: no sample"),
    ("min_rtt", "s", f64::INFINITY, "the connection's windowed minimum RTT (tcp_min_rtt); 0: no sample"),
    ("in_flight", "packets", f64::INFINITY, "packets in flight at the latest ACK"),
    ("window", "packets", f64::INFINITY, "congestion window that the policy has set, with its fraction"),
    (
        "delivery_rate",
        "packets/s",
        f64::INFINITY,
        "latest sample (draft-cheng-iccrg-delivery-rate-estimation); 0: none",
    ),
    ("is_app_limited", "", 1.0, "1: the application limited that sample"),
];

fn write(seen: &Observation, row: &mut [f64]) {
    let us = |us: u32| f64::from(us) / 1e6;
    let flag = |is: bool| f64::from(u8::from(is));
    row.copy_from_slice(&[
        flag(seen.is_due),
        seen.duration_s,
        seen.delivered.into(),
        seen.lost.into(),
        seen.ce.into(),
        seen.rtt_mean_us / 1e6,
        us(seen.rtt_min_us),
        us(seen.rtt_latest_us),
        us(seen.min_rtt_us),
        seen.in_flight.into(),
        seen.window,
        seen.delivery_rate,
        flag(seen.is_app_limited),
    ]);
}

/// The flows that are held, and when.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Ids of flows, TCP with a congestion control.
    pub flows: Vec<String>,
    /// Time between decisions.
    pub interval: Interval,
    /// A step ends when no ACK of a flow has come for so long.
    pub timeout: Duration,
    /// Actions have a second number, for the pacing rate.
    pub paces: bool,
}

/// A simulation some of whose flows are held from outside.
#[derive(Debug)]
pub struct HeldRun {
    simulation: Simulation<()>,
    /// The flows' indices in the plan.
    flows: Vec<(usize, Hold)>,
    alarm: Arc<AtomicBool>,
    timeout: Duration,
    paces: bool,
}

impl HeldRun {
    /// The plan at time 0.
    ///
    /// # Errors
    /// The plan can't be simulated, or has no TCP flow of a name.
    pub fn new(plan: &Plan, objects: &Objects, terms: &Terms) -> Result<HeldRun> {
        let mut held = Held::default();
        let mut flows = Vec::with_capacity(terms.flows.len());
        for id in &terms.flows {
            flows.push((index(plan, id)?, held.hold(id, terms.interval)));
        }
        let options = Options { tso: plan.simulate.tso, objects, held: Some(&held), ..Options::default() };
        let simulation = Simulation::new(plan, options, ())?;
        let alarm = held.alarm().clone();
        Ok(HeldRun { simulation, flows, alarm, timeout: terms.timeout, paces: terms.paces })
    }

    /// Numbers of an action.
    pub fn action_width(&self) -> usize {
        self.flows.len() * (1 + usize::from(self.paces))
    }

    /// Numbers of an observation.
    pub fn observation_width(&self) -> usize {
        self.flows.len() * WIDTH
    }

    /// Simulates until the decision of each held flow that is open is due, or no ACK has come to one of them for the timeout, or all is
    /// over. `actions` are those of each flow, in the order of [`Terms::flows`]; without any, nothing is decided. Returns true when the
    /// simulation is over.
    ///
    /// # Errors
    /// A user's program does what no kernel would let it do, or a bug in the simulator.
    pub fn step(&mut self, actions: &[f64]) -> Result<bool> {
        catch_unwind(AssertUnwindSafe(|| self.advance(actions))).map_err(stopped)
    }

    fn advance(&mut self, actions: &[f64]) -> bool {
        let width = 1 + usize::from(self.paces);
        for ((_, hold), action) in self.flows.iter().zip(actions.chunks_exact(width)) {
            hold.act(action[0], action.get(1).copied());
        }
        let began = self.simulation.now();
        loop {
            self.alarm.store(false, Ordering::Relaxed);
            let deadline = self.deadline(began);
            let alarm = &*self.alarm;
            let is_told = self.simulation.run_until_or(deadline, || alarm.load(Ordering::Relaxed));
            let is_over = self.simulation.now() >= self.simulation.end() || self.are_over();
            let waits = self.open().any(|hold| !hold.is_due());
            let is_stalled = !is_told && self.deadline(began) <= deadline;
            if is_over || (is_told && !waits) || is_stalled {
                return is_over;
            }
        }
    }

    /// Held flows that are open.
    fn open(&self) -> impl Iterator<Item = &Hold> {
        let open = self.flows.iter().filter(|(at, hold)| hold.has_begun() && !self.simulation.is_over(*at));
        open.map(|(_, hold)| hold)
    }

    fn are_over(&self) -> bool {
        self.flows.iter().all(|(at, _)| self.simulation.is_over(*at))
    }

    /// The time at which a flow whose decision is awaited has had no ACK for the timeout.
    fn deadline(&self, began: Time) -> Time {
        let since = |hold: &Hold| began.max(Time(hold.latest_us() as i64 * 1000)) + self.timeout;
        self.open().filter(|hold| !hold.is_due()).map(since).min().unwrap_or(Time::NEVER)
    }

    /// Writes the observation of each held flow.
    pub fn observe(&self, row: &mut [f64]) {
        let now_us = self.simulation.now().as_nanos() as u64 / 1000;
        for ((_, hold), row) in self.flows.iter().zip(row.chunks_exact_mut(WIDTH)) {
            write(&hold.observation(now_us), row);
        }
    }

    /// Held flows that have ended, in the order of [`Terms::flows`].
    pub fn ended(&self) -> Vec<bool> {
        self.flows.iter().map(|(at, _)| self.simulation.is_over(*at)).collect()
    }

    /// Payload that each held flow's receiver has got, bytes.
    pub fn received_bytes(&self) -> Vec<u64> {
        let reports: Vec<_> = self.simulation.reports().collect();
        self.flows.iter().map(|(at, _)| reports[*at].received_bytes).collect()
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.simulation.now()
    }

    /// The decisions of each held flow so far, for a replay.
    pub fn decisions(&self) -> Vec<Vec<Decision>> {
        self.flows.iter().map(|(_, hold)| hold.decisions()).collect()
    }
}

fn index(plan: &Plan, id: &str) -> Result<usize> {
    let at = plan.flows.iter().position(|flow| flow.id == id);
    match at {
        Some(at) if plan.flows[at].workload.is_one_connection() => Ok(at),
        Some(_) => bail!(Failure::new(format!("the flow {id} cannot be held"), "only flows of TCP can")),
        None => bail!(Failure::new(format!("the plan has no flow {id}"), "")),
    }
}

/// Steps of many runs, on `threads` threads: [`HeldRun::step`] and [`HeldRun::observe`] for each. `actions` and `observations` have a
/// row for each run.
///
/// # Errors
/// The first that a step has.
pub fn step_many(
    runs: &mut [&mut HeldRun],
    actions: &[f64],
    observations: &mut [f64],
    threads: usize,
) -> Result<Vec<bool>> {
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let widths = (first.action_width(), first.observation_width());
    let each = runs.len().div_ceil(threads.max(1));
    if each == runs.len() {
        return step_in_turn(runs, actions, observations, widths);
    }
    let parts = runs.chunks_mut(each).zip(actions.chunks(each * widths.0));
    let parts = parts.zip(observations.chunks_mut(each * widths.1));
    thread::scope(|scope| {
        let part =
            |((runs, actions), observations)| scope.spawn(move || step_in_turn(runs, actions, observations, widths));
        let running: Vec<_> = parts.map(part).collect();
        let mut over = Vec::new();
        for one in running {
            over.extend(one.join().map_err(stopped)??);
        }
        Ok(over)
    })
}

fn step_in_turn(
    runs: &mut [&mut HeldRun],
    actions: &[f64],
    observations: &mut [f64],
    (action, observation): (usize, usize),
) -> Result<Vec<bool>> {
    let rows = actions.chunks_exact(action).zip(observations.chunks_exact_mut(observation));
    let step = |(run, (action, row)): (&mut &mut HeldRun, (&[f64], &mut [f64]))| {
        let is_over = run.step(action)?;
        run.observe(row);
        Ok(is_over)
    };
    runs.iter_mut().zip(rows).map(step).collect()
}
