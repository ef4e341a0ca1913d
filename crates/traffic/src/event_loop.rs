//! One thread serves every flow: first datagrams that are due, then timers, then ready descriptors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::time::{Duration as Wait, Instant};

use anyhow::Result;
use messages::{BbrProgress, FlowCounts, Inbox, Order, PUBLICATION};
use nix::sys::epoll::EpollFlags;
use plan::Plan;
use realtime::{Sleep, thread_cpu_ns};
use records::samples::{BbrSample, Sample};
use units::{Duration, Time};

use crate::agent::Agent;
use crate::poller::Source;
use crate::run::FlowGauges;
use crate::sampler::Grid;
use crate::shared::Shared;

/// Time for programs between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// Datagrams sent before sockets and timers get a turn, however many are late.
const BURST: usize = 64;
/// Flows sampled before datagrams get a turn.
const SAMPLE_CHUNK: usize = 16;

/// Timed events, in this order if at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Start(u32),
    Stop(u32),
    /// Change from a burst to a pause, or back.
    Turn(u32),
    Kill(u32),
    Sample,
    Publish,
    End,
}

/// A run of all flows.
pub struct EventLoop<'a> {
    plan: &'a Plan,
    agents: Vec<Box<dyn Agent + 'a>>,
    shared: Shared,
    control: Inbox<File>,
    live: Option<&'a FlowGauges>,
    timers: BinaryHeap<Reverse<(Time, Timer)>>,
    /// The next datagram of each flow that sends them on a schedule.
    datagrams: BinaryHeap<Reverse<(Time, u32)>>,
    publications: Grid,
    sleep: Sleep,
    ended: Option<Time>,
    interrupted: bool,
}

/// The results after the end of the flows.
pub struct Outcome<'a> {
    pub agents: Vec<Box<dyn Agent + 'a>>,
    pub shared: Shared,
    pub ended: Time,
    pub interrupted: bool,
}

impl<'a> EventLoop<'a> {
    /// Stops by an order on `control`, or its end.
    pub fn new(
        plan: &'a Plan,
        agents: Vec<Box<dyn Agent + 'a>>,
        shared: Shared,
        control: Inbox<File>,
        live: Option<&'a FlowGauges>,
    ) -> Result<Self> {
        shared.poller.add(control.pipe(), Source::Control, EpollFlags::EPOLLIN)?;
        let end = Time::ZERO + plan.duration_ns;
        let mut timers = BinaryHeap::from([Reverse((end, Timer::End))]);
        if !shared.sampler.is_inside() {
            timers.push(Reverse((Time::ZERO, Timer::Sample)));
        }
        if live.is_some() {
            timers.push(Reverse((Time::ZERO, Timer::Publish)));
        }
        for (i, flow) in (0..).zip(&plan.flows) {
            timers.push(Reverse((flow.start_ns, Timer::Start(i))));
            // The end of the run stops the others, all at once.
            if flow.stop_ns < end {
                timers.push(Reverse((flow.stop_ns, Timer::Stop(i))));
            }
        }
        let publications = Grid::new(Duration::from_millis(PUBLICATION.as_millis() as i64));
        let datagrams = BinaryHeap::new();
        Ok(EventLoop {
            plan,
            agents,
            shared,
            control,
            live,
            timers,
            datagrams,
            publications,
            sleep: Sleep::new(plan.emulate.spin_ns),
            ended: None,
            interrupted: false,
        })
    }

    /// Runs until the plan's duration is over or control says stop.
    pub fn run(mut self) -> Result<Outcome<'a>> {
        let mut ready = Vec::new();
        let ended = loop {
            self.send_datagrams();
            self.run_timers()?;
            if let Some(ended) = self.ended {
                break ended;
            }
            let wake_at = self.wake_at();
            let spare = (wake_at - self.shared.clock.now()).as_nanos();
            self.shared.poller.wait(&mut ready, spare)?;
            if ready.is_empty() && spare > 0 {
                self.sleep.observe(self.shared.clock.now() - wake_at);
            }
            for source in &ready {
                self.handle(*source)?;
                self.send_datagrams();
            }
        };
        // Measure all before anything is closed: a flow's reset is no part of another's run.
        for (agent, flow) in self.agents.iter_mut().zip(&self.plan.flows) {
            agent.settle(&mut self.shared, flow.stop_ns <= ended)?;
            agent.finish(ended, &mut self.shared);
        }
        self.close_all()?;
        let EventLoop { agents, shared, interrupted, .. } = self;
        Ok(Outcome { agents, shared, ended, interrupted })
    }

    /// The time of the next look if nothing becomes ready: shortly before a datagram is due, as waking up takes its time.
    /// From then on the loop polls without sleeping.
    fn wake_at(&self) -> Time {
        let timer = self.timers.peek().map(|Reverse((time, _))| *time);
        let datagram = self.datagrams.peek().map(|Reverse((time, _))| *time - self.sleep.margin());
        timer.into_iter().chain(datagram).min().expect("the end is a timer")
    }

    fn send_datagrams(&mut self) {
        for _ in 0..BURST {
            let Some(Reverse((due, flow))) = self.datagrams.peek().copied() else { return };
            if due > self.shared.clock.now() {
                return;
            }
            self.datagrams.pop();
            let next = self.agents[flow as usize].send(&self.shared);
            self.datagrams.extend(next.map(|due| Reverse((due, flow))));
        }
    }

    fn run_timers(&mut self) -> Result<()> {
        while let Some(Reverse((due, timer))) = self.timers.peek().copied() {
            let now = self.shared.clock.now();
            if due > now {
                break;
            }
            self.timers.pop();
            match timer {
                Timer::Start(flow) => self.start(flow)?,
                Timer::Stop(flow) => self.stop(flow, now)?,
                Timer::Turn(flow) => self.turn(flow)?,
                Timer::Kill(flow) => self.agents[flow as usize].kill(),
                Timer::Sample => self.sample(now)?,
                Timer::Publish => self.publish(now),
                Timer::End => self.ended = Some(self.ended.unwrap_or(now)),
            }
            self.send_datagrams();
        }
        Ok(())
    }

    fn start(&mut self, flow: u32) -> Result<()> {
        let due = self.agents[flow as usize].start(&mut self.shared)?;
        self.datagrams.extend(due.map(|due| Reverse((due, flow))));
        self.schedule_turn(flow);
        Ok(())
    }

    fn turn(&mut self, flow: u32) -> Result<()> {
        self.agents[flow as usize].turn(&mut self.shared)?;
        self.schedule_turn(flow);
        Ok(())
    }

    fn schedule_turn(&mut self, flow: u32) {
        let turn = self.agents[flow as usize].take_next_turn();
        self.timers.extend(turn.map(|at| Reverse((at, Timer::Turn(flow)))));
    }

    fn stop(&mut self, flow: u32, now: Time) -> Result<()> {
        let agent = &mut self.agents[flow as usize];
        agent.settle(&mut self.shared, true)?;
        agent.close(&mut self.shared)?;
        if agent.is_running() {
            self.timers.push(Reverse((now + GRACE, Timer::Kill(flow))));
        }
        Ok(())
    }

    fn sample(&mut self, now: Time) -> Result<()> {
        let began = thread_cpu_ns();
        self.shared.sampler.tick(now);
        for i in 0..self.agents.len() {
            self.agents[i].sample(&mut self.shared)?;
            // A sample may show that the last bytes of a burst have arrived.
            self.schedule_turn(i as u32);
            if i % SAMPLE_CHUNK == SAMPLE_CHUNK - 1 {
                self.send_datagrams();
            }
        }
        self.shared.sampler.cpu_ns += thread_cpu_ns() - began;
        // The end of the run takes a separate sample.
        let next = self.shared.sampler.grid.next();
        if next < Time::ZERO + self.plan.duration_ns {
            self.timers.push(Reverse((next, Timer::Sample)));
        }
        Ok(())
    }

    fn publish(&mut self, now: Time) {
        self.shared.sampler.collect();
        for ((i, agent), gauge) in self.agents.iter().enumerate().zip(self.live.unwrap_or_default()) {
            let latest = self.shared.sampler.latest(i);
            let tcp = latest.and_then(|sample| sample.tcp());
            let sampled = latest.and_then(|sample| sample.received_bytes).unwrap_or(0);
            let counts = FlowCounts {
                time_ns: now.as_nanos(),
                received_bytes: agent.received_bytes().max(sampled),
                srtt_us: latest.and_then(Sample::srtt_us),
                cwnd_packets: latest.and_then(Sample::cwnd_packets),
                retransmitted_segments: tcp.map(|tcp| tcp.retransmitted_segments),
                bytes_in_flight: latest.and_then(Sample::bytes_in_flight),
                bbr: tcp.and_then(|tcp| tcp.bbr).map(|BbrSample { bw_bps, min_rtt_us, pacing_gain, cwnd_gain }| {
                    BbrProgress { bw_bps, min_rtt_us, pacing_gain, cwnd_gain }
                }),
            };
            gauge.publish(counts.words());
        }
        self.publications.pass(now);
        self.timers.push(Reverse((self.publications.next(), Timer::Publish)));
    }

    fn handle(&mut self, source: Source) -> Result<()> {
        let (Source::Listener(flow)
        | Source::Sender(flow)
        | Source::Receiver(flow)
        | Source::Client(flow)
        | Source::Server(flow)) = source
        else {
            if source == Source::Samples {
                self.shared.sampler.collect();
                return Ok(());
            }
            return self.obey();
        };
        self.agents[flow as usize].on_ready(source, &mut self.shared)?;
        self.schedule_turn(flow);
        Ok(())
    }

    fn obey(&mut self) -> Result<()> {
        let orders = self.control.receive()?;
        if self.control.is_closed() || orders.iter().any(|order| matches!(order, Order::Stop | Order::StopNow)) {
            // A run that is over by its plan was not interrupted.
            let now = self.shared.clock.now();
            self.interrupted = now < Time::ZERO + self.plan.duration_ns;
            self.ended = Some(now);
        }
        Ok(())
    }

    /// Closes sockets; waits for programs to end, or ends them.
    fn close_all(&mut self) -> Result<()> {
        for agent in &mut self.agents {
            agent.close(&mut self.shared)?;
        }
        let wait_while_running = |limit: Wait| {
            let begun = Instant::now();
            while self.agents.iter().any(|agent| agent.is_running()) && begun.elapsed() < limit {
                std::thread::sleep(Wait::from_millis(2));
            }
        };
        let grace = Wait::from_nanos(GRACE.as_nanos() as u64);
        wait_while_running(grace);
        self.agents.iter().for_each(|agent| agent.kill());
        wait_while_running(grace);
        self.agents.iter_mut().try_for_each(|agent| agent.collect(&mut self.shared))
    }
}
