//! One thread serves every flow: first datagrams that are due, then timers, then ready descriptors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::time::{Duration as Wait, Instant};

use anyhow::Result;
use messages::{BbrProgress, FlowCounts, Inbox, Order, PUBLICATION};
use nix::sys::epoll::EpollFlags;
use nix::sys::signal::Signal;
use plan::Plan;
use realtime::{Sleep, thread_cpu_ns};
use records::samples::BbrSample;
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
    agents: Vec<Agent<'a>>,
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
    pub agents: Vec<Agent<'a>>,
    pub shared: Shared,
    pub ended: Time,
    pub interrupted: bool,
}

impl<'a> EventLoop<'a> {
    /// Stops by an order on `control`, or its end.
    pub fn new(
        plan: &'a Plan,
        agents: Vec<Agent<'a>>,
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
            if let Agent::Ping(ping) = agent {
                ping.finish(ended, &mut self.shared);
            }
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
            let next = match &mut self.agents[flow as usize] {
                Agent::Udp(udp) => udp.send(&self.shared),
                Agent::Ping(ping) => ping.send(&self.shared),
                Agent::Tcp(_) | Agent::Command(_) => None,
            };
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
                Timer::Kill(flow) => {
                    if let Agent::Command(command) = &self.agents[flow as usize] {
                        command.signal(Signal::SIGKILL);
                    }
                }
                Timer::Sample => self.sample(now)?,
                Timer::Publish => self.publish(now),
                Timer::End => self.ended = Some(self.ended.unwrap_or(now)),
            }
            self.send_datagrams();
        }
        Ok(())
    }

    fn start(&mut self, flow: u32) -> Result<()> {
        match &mut self.agents[flow as usize] {
            Agent::Tcp(tcp) => tcp.start(&mut self.shared)?,
            Agent::Udp(udp) => self.datagrams.extend(udp.start(&self.shared).map(|due| Reverse((due, flow)))),
            Agent::Ping(ping) => self.datagrams.extend(ping.start(&self.shared).map(|due| Reverse((due, flow)))),
            Agent::Command(command) => command.start(&mut self.shared)?,
        }
        self.schedule_turn(flow);
        Ok(())
    }

    fn turn(&mut self, flow: u32) -> Result<()> {
        if let Agent::Tcp(tcp) = &mut self.agents[flow as usize] {
            tcp.turn(&mut self.shared)?;
        }
        self.schedule_turn(flow);
        Ok(())
    }

    fn schedule_turn(&mut self, flow: u32) {
        if let Agent::Tcp(tcp) = &mut self.agents[flow as usize] {
            self.timers.extend(tcp.take_next_turn().map(|at| Reverse((at, Timer::Turn(flow)))));
        }
    }

    fn stop(&mut self, flow: u32, now: Time) -> Result<()> {
        let agent = &mut self.agents[flow as usize];
        agent.settle(&mut self.shared, true)?;
        match agent {
            Agent::Tcp(tcp) => tcp.close(&mut self.shared)?,
            Agent::Udp(_) | Agent::Ping(_) => {}
            Agent::Command(_) => self.timers.push(Reverse((now + GRACE, Timer::Kill(flow)))),
        }
        Ok(())
    }

    fn sample(&mut self, now: Time) -> Result<()> {
        let began = thread_cpu_ns();
        self.shared.sampler.tick(now);
        for i in 0..self.agents.len() {
            self.agents[i].sample(&mut self.shared)?;
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
            let tcp = latest.and_then(|sample| sample.tcp);
            let sampled = latest.and_then(|sample| sample.received_bytes).unwrap_or(0);
            let counts = FlowCounts {
                time_ns: now.as_nanos(),
                received_bytes: agent.received_bytes().max(sampled),
                srtt_us: tcp.and_then(|tcp| tcp.srtt_us),
                cwnd_packets: tcp.map(|tcp| tcp.cwnd_packets),
                retransmitted_segments: tcp.map(|tcp| tcp.retransmitted_segments),
                bytes_in_flight: tcp.map(|tcp| tcp.bytes_in_flight),
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
        let shared = &mut self.shared;
        match (&mut self.agents[flow as usize], source) {
            (Agent::Tcp(tcp), Source::Listener(_)) => tcp.on_listener(shared)?,
            (Agent::Tcp(tcp), Source::Sender(_)) => tcp.on_sender(shared)?,
            (Agent::Tcp(tcp), Source::Receiver(_)) => drop(tcp.on_receiver(shared)?),
            (Agent::Udp(udp), _) => udp.on_receiver(shared),
            (Agent::Ping(ping), Source::Receiver(_)) => ping.on_responder(),
            (Agent::Ping(ping), _) => ping.on_pinger(shared),
            (Agent::Command(command), Source::Client(_)) => command.on_client(shared)?,
            (Agent::Command(command), Source::Server(_)) => command.on_server(shared)?,
            (Agent::Tcp(_) | Agent::Command(_), source) => unreachable!("no such flow has {source:?}"),
        }
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

    /// Close TCP's sockets; wait for the programs to end, or end them.
    fn close_all(&mut self) -> Result<()> {
        for agent in &mut self.agents {
            if let Agent::Tcp(tcp) = agent {
                tcp.close(&mut self.shared)?;
            }
        }
        let commands: Vec<_> =
            self.agents.iter().filter_map(|a| if let Agent::Command(c) = a { Some(c) } else { None }).collect();
        let wait_while_running = |limit: Wait| {
            let begun = Instant::now();
            while commands.iter().any(|c| c.is_running()) && begun.elapsed() < limit {
                std::thread::sleep(Wait::from_millis(2));
            }
        };
        let grace = Wait::from_nanos(GRACE.as_nanos() as u64);
        wait_while_running(grace);
        commands.iter().for_each(|c| c.signal(Signal::SIGKILL));
        wait_while_running(grace);
        Ok(())
    }
}
