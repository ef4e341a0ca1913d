mod arrivals;
mod clock;
mod passing;
mod planned;
mod turnaround;

use std::collections::{HashMap, VecDeque};

use anyhow::{Context, Result};
use link::{Link, Packet, Passage, mix};
use plan::Plan;
use units::{Ip, Time};

use bpf_vm::Tracer;

use crate::algorithm::Objects;
use crate::event_queue::EventQueue;
use crate::held::Held;
use crate::kinds::Outbox;
use crate::network::{Network, Tally};
use crate::observer::Observer;
use crate::problem;
use crate::quic::{QuicAccount, QuicStacks};
use crate::reassembly::Reassembly;
use crate::store::Store;
use crate::tcp::Sender;
use crate::traffic::{FlowReport, Traffic};
use arrivals::Arrivals;
use planned::unplugs;
use turnaround::Turnarounds;

/// Properties of the hosts.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Trains of segments, as the kernel sends them; otherwise each segment is sent separately.
    pub tso: bool,
    /// A host takes some time to answer, never twice the same; if not, none. Without it a packet that is clocked by the
    /// bottleneck reaches it in the very moment in which the packet before has left. No real network has such order,
    /// and it lets windows grow far beyond what a small buffer holds.
    pub turnaround: bool,
    /// Users' compiled programs.
    pub objects: &'a Objects,
    /// Follows the calls of users' programs.
    pub tracer: Option<&'a Tracer>,
    /// Flows whose congestion controls are held from outside.
    pub held: Option<&'a Held>,
    /// Stacks of QUIC flows; `None`: such flows are refused.
    pub quic: Option<&'a dyn QuicStacks>,
}

/// No programs.
static NONE: Objects = Objects::new();

impl Default for Options<'_> {
    fn default() -> Self {
        Options { tso: true, turnaround: true, objects: &NONE, tracer: None, held: None, quic: None }
    }
}

/// A run in virtual time.
#[derive(Debug)]
pub struct Simulation<O> {
    now: Time,
    end: Time,
    network: Network,
    traffic: Vec<Traffic>,
    /// True if some flow has contents that links don't carry.
    has_contents: bool,
    /// For each flow, what all its packets have in common.
    addresses: Vec<Addresses>,
    store: Store,
    /// Due are: the opaque links, each flow's sender, each flow's receiver, the plan's events, the samples.
    event_queue: EventQueue,
    changes: VecDeque<(Time, u32, plan::Link)>,
    /// By link: the interface at its end has no carrier.
    unplugged: Vec<bool>,
    sample_interval: units::Duration,
    /// The time at which all flows were sampled last.
    sampled: Option<Time>,
    /// Packets that go into a link, or arrive where there is none, now.
    entering: Vec<(u32, Packet)>,
    out: Outbox,
    /// Datagrams in fragments at each host to which some flow sends them, by node and version of IP.
    reassemblies: HashMap<(u16, Ip), Reassembly>,
    /// ACKs that receivers have yet to send.
    turnarounds: Turnarounds,
    /// Frames that hosts have yet to take.
    arrivals: Arrivals,
    packets: u64,
    arrived: u64,
    observer: O,
}

#[derive(Clone, Copy, Debug)]
struct Addresses {
    is_tcp: bool,
    ip: Ip,
    /// Ways of its own packets, and of replies.
    ways: [Way; 2],
}

#[derive(Clone, Copy, Debug)]
struct Way {
    from: u16,
    to: u16,
    flow_hash: u32,
    /// The first step of the network's path.
    step: u32,
}

impl<O: Observer> Simulation<O> {
    /// The plan at time 0.
    ///
    /// # Errors
    /// The first of the plan's [problems](crate::check).
    pub fn new(plan: &Plan, options: Options<'_>, observer: O) -> Result<Simulation<O>> {
        let (traffic, problems) = problem::traffic(plan, options);
        if let Some(first) = problems.into_iter().next() {
            return Err(first.into());
        }
        let network = Network::new(plan)?;
        let nodes = plan.node_indices();
        let node = |name: &str| nodes.get(name).copied().context("unknown node");
        let mut addresses = Vec::new();
        for (index, flow) in plan.flows.iter().enumerate() {
            let (from, to) = (node(&flow.from)? as u16, node(&flow.to)? as u16);
            let is_tcp = flow.workload.cc().is_some();
            let ways = [(false, from, to), (true, to, from)].map(|(is_reply, from, to)| Way {
                from,
                to,
                flow_hash: (mix(2 * index as u64 + u64::from(is_reply)) >> 32) as u32,
                step: network.first_step(index as u16, is_reply),
            });
            addresses.push(Addresses { is_tcp, ip: flow.ip, ways });
        }
        let index = |name: &str| plan.links.iter().position(|link| link.name == name).context("an event of no link");
        let changes =
            plan.events.iter().map(|event| Ok((event.at_ns, index(&event.link.name)? as u32, event.link.clone())));
        let changes = changes.collect::<Result<VecDeque<_>>>()?;
        let hosts = plan.simulate.hosts;
        let flows = plan.flows.iter().filter(|_| options.turnaround && hosts.is_none());
        let turnarounds = Turnarounds::new(plan.seed, flows.map(|flow| flow.id.as_str()));
        let arrivals = Arrivals::new(hosts.filter(|_| options.turnaround));
        let mut simulation = Simulation {
            now: Time::ZERO,
            end: Time::ZERO + plan.duration_ns,
            event_queue: EventQueue::new(network.opaque.len(), 2 * traffic.len() + 2),
            network,
            has_contents: traffic.iter().any(|flow| flow.last_quic().is_some()),
            traffic,
            addresses,
            store: Store::default(),
            changes,
            unplugged: plan.links.iter().map(unplugs).collect(),
            sample_interval: plan.record.sample_interval_ns,
            sampled: None,
            entering: Vec::new(),
            out: Outbox::default(),
            reassemblies: HashMap::new(),
            turnarounds,
            arrivals,
            packets: 0,
            arrived: 0,
            observer,
        };
        simulation.begin();
        Ok(simulation)
    }

    /// Run to the plan's end.
    pub fn run(&mut self) {
        self.run_until(self.end);
    }

    /// Let everything happen that is due by `until`, but not what is due after the plan's end.
    pub fn run_until(&mut self, until: Time) {
        self.run_until_or(until, || false);
    }

    /// Like [`run_until`](Simulation::run_until), but `stops` is asked after each event. Returns true if it said so, and the time is that
    /// of the event.
    pub fn run_until_or(&mut self, until: Time, stops: impl Fn() -> bool) -> bool {
        let until = until.min(self.end);
        loop {
            let (reply, arrival) = (self.turnarounds.next(), self.arrivals.next());
            if let Some((at, source)) = self.event_queue.first(until.min(reply).min(arrival)) {
                debug_assert!(at >= self.now, "time goes back");
                self.now = at;
                self.happen(source as usize);
            } else if reply.min(arrival) > until {
                break;
            } else if arrival <= reply {
                self.now = arrival;
                self.on_arrival();
            } else {
                self.now = reply;
                self.on_turnaround();
            }
            self.enter();
            if stops() {
                return true;
            }
        }
        self.now = self.now.max(until);
        false
    }

    /// The simulation is over, at the end or before it: the observer gets the last events. Flows that are still active
    /// get their last sample, and packets inside the links their rows.
    pub fn finish(&mut self) {
        for link in 0..self.network.links.len() {
            if self.network.is_opaque[link] {
                self.settle(link as u32);
                self.enter();
            }
        }
        if O::SAMPLES && self.sampled != Some(self.now) {
            self.sample_flows();
        }
        if self.has_contents {
            self.traffic.iter_mut().filter(|flow| flow.is_active()).for_each(Traffic::read_quic);
        }
        self.tell_open();
        if O::PACKETS {
            let inside: Vec<_> = self.inside().collect();
            for (link, passage) in inside {
                let segment = self.store.get(passage.packet.handle).segment;
                self.tell_packet(link, &segment, &passage, false);
            }
        }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The end of the simulation.
    pub fn end(&self) -> Time {
        self.end
    }

    /// The links, in the plan's order.
    pub fn links(&self) -> &[Link] {
        &self.network.links
    }

    /// The outcome of each flow so far, in the plan's order.
    pub fn reports(&self) -> impl Iterator<Item = FlowReport> {
        self.traffic.iter().map(|traffic| traffic.report(self.now))
    }

    /// The sender of each flow, in the plan's order; `None` if it is not TCP's.
    pub fn senders(&self) -> impl Iterator<Item = Option<&Sender>> {
        self.traffic.iter().map(Traffic::sender)
    }

    /// The account of each flow's QUIC connection, as of its last sample or end, in the plan's order.
    pub fn quic_accounts(&self) -> impl Iterator<Item = Option<&QuicAccount>> {
        self.traffic.iter().map(Traffic::last_quic)
    }

    /// True if the plan's flow with this index has ended.
    pub fn is_over(&self, flow: usize) -> bool {
        self.traffic[flow].is_over()
    }

    /// Packets that were sent so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Packets that have left the network so far: those that reached their hosts, corrupted ones and those that a host in virtual
    /// time has yet to take included, and those that came to an interface without carrier.
    pub fn packets_arrived(&self) -> u64 {
        self.arrived + self.arrivals.len() as u64
    }

    /// The packets that have crossed each of the plan's links on which nothing can happen, and which therefore counts
    /// nothing; zero for others.
    pub fn crossed(&self) -> Vec<Tally> {
        self.network.crossed()
    }

    /// Packets that are under way.
    pub fn packets_inside(&self) -> usize {
        self.store.len() - self.arrivals.len() - self.turnarounds.len()
    }

    /// The passages of those that are still inside the links.
    pub fn inside(&self) -> impl Iterator<Item = (u32, Passage)> {
        let links = self.network.links.iter().enumerate();
        links.flat_map(|(index, link)| link.inside().map(move |passage| (index as u32, passage)))
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer, for its owner to take what it has gathered so far.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The observer, at the end of the simulation.
    pub fn into_observer(self) -> O {
        self.observer
    }

    fn begin(&mut self) {
        for flow in 0..self.traffic.len() {
            self.schedule_sender(flow);
        }
        self.schedule_change();
        if O::SAMPLES {
            self.event_queue.set(self.sampling(), self.now);
        }
    }

    fn sender_of(&self, flow: usize) -> u32 {
        (self.network.opaque.len() + flow) as u32
    }

    fn receiver_of(&self, flow: usize) -> u32 {
        (self.network.opaque.len() + self.traffic.len() + flow) as u32
    }

    fn changing(&self) -> u32 {
        (self.network.opaque.len() + 2 * self.traffic.len()) as u32
    }

    fn sampling(&self) -> u32 {
        self.changing() + 1
    }

    fn happen(&mut self, source: usize) {
        let (links, flows) = (self.network.opaque.len(), self.traffic.len());
        if source < links {
            self.settle_if_due(self.network.opaque[source]);
        } else if source < links + flows {
            self.on_sender_timer(source - links);
        } else if source < links + 2 * flows {
            self.on_receiver_timer(source - links - flows);
        } else if source as u32 == self.changing() {
            self.change_link();
        } else {
            self.sample();
        }
    }

    /// A timer of a host is due. `true`: the host's clock is not that far yet, and the event waits for it.
    #[inline]
    fn fires_later(&mut self, source: u32) -> bool {
        let at = self.arrivals.fire(self.now);
        let is_later = at > self.now;
        if is_later {
            self.event_queue.set(source, at);
        }
        is_later
    }

    fn on_sender_timer(&mut self, flow: usize) {
        // Timers are only ever moved back lazily: this may be too early.
        if self.traffic[flow].next_of_sender() <= self.now {
            if self.fires_later(self.sender_of(flow)) {
                return;
            }
            let was_active = self.traffic[flow].is_active();
            self.traffic[flow].on_sender_timer(self.now, &mut self.out.segments);
            self.send(flow);
            self.note_end(flow, was_active);
        }
        self.event_queue.set(self.sender_of(flow), self.traffic[flow].next_of_sender());
    }

    fn on_receiver_timer(&mut self, flow: usize) {
        if self.traffic[flow].next_of_receiver() <= self.now {
            // An application that reads has been woken already.
            if !self.traffic[flow].has_read(self.now) && self.fires_later(self.receiver_of(flow)) {
                return;
            }
            self.traffic[flow].on_receiver_timer(self.now, &mut self.out.segments);
            self.reply(flow);
        }
        self.event_queue.set(self.receiver_of(flow), self.traffic[flow].next_of_receiver());
    }

    /// A timer that moves to a later time is left where it is: it is set right when it fires.
    fn schedule_sender(&mut self, flow: usize) {
        let (source, at) = (self.sender_of(flow), self.traffic[flow].next_of_sender());
        if at < self.event_queue.at(source) {
            self.event_queue.set(source, at);
        }
    }

    fn schedule_receiver(&mut self, flow: usize) {
        let (source, at) = (self.receiver_of(flow), self.traffic[flow].next_of_receiver());
        if at < self.event_queue.at(source) {
            self.event_queue.set(source, at);
        }
    }
}
