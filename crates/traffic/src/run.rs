use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration as Wait, Instant};

use anyhow::{Context, Result, ensure};
use bpf::Names;
use lab::Doors;
use messages::{Event, FlowCounts, Inbox, Process};
use nix::sys::epoll::EpollFlags;
use nix::sys::prctl::set_timerslack;
use plan::Plan;
use records::Files;
use records::kinds::KindTables;
use units::Time;

use crate::agent::Agent;
use crate::event_loop::{EventLoop, Outcome};
use crate::kinds::new_agent;
use crate::netns::within;
use crate::poller::{Poller, Source};
use crate::programs::Programs;
use crate::report::TrafficReport;
use crate::sampler::Sampler;
use crate::shared::Shared;
use crate::udp_receiver::Batch;
use realtime::{Clock, Gauge, ThreadTimes};

/// State of each of the plan's flows, for live figures.
pub type FlowGauges = [Gauge<{ FlowCounts::WORDS }>];

/// Time for a server to listen on its flow's port. A server that never does may not need to.
const SERVERS_UP: Wait = Wait::from_secs(2);

/// Run a plan's flows.
///
/// `doors` gives the way into a host: programs run there, and the calling thread enters its network where it is not there
/// already, which needs CAP_SYS_ADMIN. `names` says what the kernel calls the plan's congestion controls. When the plan's
/// programs are ready and every receiver is up, the event `ready` is written; then the run waits on `control` for the start.
/// An order to stop, or the end of `control`, stops it early.
///
/// Writes `samples.parquet`, the tables of its kinds of flow, `traffic.json` and `logs/<flow>.{stdout,stderr}`, of servers
/// `logs/<flow>.server.…`, of programs `logs/<program>.…`, to `dir`, and JSON lines to `events`: `ready`, `done`. Writing them must not block for long.
/// Publishes the progress of each flow to `live`, if there are gauges, every 50 ms.
///
/// # Errors
/// A socket that can't be opened, an algorithm that the kernel lacks or replaces by another, a server that fails, a program that does not become ready, a file that
/// can't be written. A flow that fails in the network does not end the run: its report says why.
pub fn run<'a>(
    plan: &Plan,
    doors: &dyn Fn(&str) -> Result<Doors<'a>>,
    names: &Names,
    dir: &Path,
    control: OwnedFd,
    events: &mut dyn Write,
    live: Option<&FlowGauges>,
) -> Result<TrafficReport> {
    ensure!(
        plan.flows.len() < usize::from(u16::MAX),
        "{} flows are too many: records number them by 16 bits",
        plan.flows.len()
    );
    set_timerslack(1)?;
    lab::files::allow(files(plan))?;
    let files = Files { directory: dir.to_owned(), names: records::Names::of(plan), backlog_limit: usize::MAX };
    let mut shared = Shared {
        clock: Clock::new(0),
        poller: Poller::new()?,
        sampler: Sampler::create(plan, dir)?,
        kinds: KindTables::create(plan, &files)?,
        batch: Batch::new(),
        diags: Default::default(),
    };
    let mut agents = open_agents(plan, doors, names, dir, &mut shared)?;
    let programs = Programs::start(plan, doors, &dir.join("logs"))?;
    start_servers(plan, &mut agents, doors, &mut shared)?;
    Event::Ready { process: Process::Traffic }.emit(events)?;

    let mut inbox = Inbox::new(File::from(control));
    shared.clock = Clock::new(inbox.wait_for_start()?);
    let alone = agents.iter().all(|agent| agent.may_be_sampled_by_the_kernel());
    shared.sampler.start(plan, shared.clock, alone)?;
    if let Some(kernel) = shared.sampler.kernel() {
        shared.poller.add(kernel, Source::Samples, EpollFlags::EPOLLIN)?;
    }
    let before = ThreadTimes::now();
    let outcome = EventLoop::new(plan, agents, shared, inbox, live)?.run()?;

    let ThreadTimes { cpu_s, run_delay_s, scheduled } = ThreadTimes::now().since(before);
    let Outcome { agents, mut shared, ended, interrupted } = outcome;
    let programs = programs.end();
    shared.kinds.end().into_iter().try_for_each(|(_, stats)| stats.map(drop))?;
    let (sampling, writer) = shared.sampler.finish(ended.min(Time::ZERO + plan.duration_ns))?;
    let report = TrafficReport {
        wall_s: ended.as_nanos() as f64 / 1e9,
        cpu_s,
        run_delay_s,
        scheduled,
        sampling,
        interrupted,
        writer,
        flows: agents.iter().map(|agent| agent.report(ended)).collect(),
        programs,
    };
    let path = dir.join("traffic.json");
    fs::write(&path, serde_json::to_vec(&report)?).with_context(|| format!("writing {}", path.display()))?;
    Event::Done { process: Process::Traffic }.emit(events)?;
    Ok(report)
}

/// Open every socket in its host's namespace, entering each once.
fn open_agents<'a>(
    plan: &Plan,
    doors: &dyn Fn(&str) -> Result<Doors<'a>>,
    names: &Names,
    dir: &Path,
    shared: &mut Shared,
) -> Result<Vec<Box<dyn Agent + 'a>>> {
    // Where routing daemons find the paths nobody knows them yet.
    let mtus = plan.flow_mtus().unwrap_or_else(|_| vec![plan.mtu; plan.flows.len()]);
    let mut ideals = plan.network().map(|network| plan.ideals(&network)).unwrap_or_default();
    ideals.resize(plan.flows.len(), None);
    let mut agents = (0..)
        .zip(plan.flows.iter().zip(mtus.into_iter().zip(ideals)))
        .map(|(index, (flow, (mtu, ideal)))| new_agent(index, (flow, mtu, ideal), plan, doors, names, dir))
        .collect::<Result<Vec<_>>>()?;
    for (host, ..) in plan.hosts() {
        if plan.flows.iter().all(|flow| flow.from != host && flow.to != host) {
            continue;
        }
        let open = || {
            for (flow, agent) in plan.flows.iter().zip(&mut agents) {
                let (sends, receives) = (flow.from == host, flow.to == host);
                if receives {
                    agent.open_receiver(shared)?;
                }
                if sends {
                    agent.open_sender(plan.ends_of(flow)?.0, shared)?;
                }
            }
            Ok(())
        };
        within(doors(host)?.net(), open).with_context(|| format!("opening sockets at host {host}"))?;
    }
    Ok(agents)
}

fn start_servers<'a>(
    plan: &Plan,
    agents: &mut [Box<dyn Agent + 'a>],
    doors: &dyn Fn(&str) -> Result<Doors<'a>>,
    shared: &mut Shared,
) -> Result<()> {
    let mut starting = Vec::new();
    for (flow, agent) in plan.flows.iter().zip(agents) {
        agent.start_server(&|| doors(&flow.to), shared)?;
        starting.push(&**agent);
    }
    let begun = Instant::now();
    loop {
        let mut still = Vec::new();
        for agent in starting {
            if !agent.is_served(shared)? {
                still.push(agent);
            }
        }
        starting = still;
        if starting.is_empty() || begun.elapsed() >= SERVERS_UP {
            return Ok(());
        }
        std::thread::sleep(Wait::from_millis(5));
    }
}

/// The most files that a plan has open at once.
fn files(plan: &Plan) -> u64 {
    let programs: u64 = plan.flows.iter().map(|flow| flow.workload.programs()).sum();
    // Each host has an inherited namespace; each flow a listener, a receiver and a sender; each program its pidfd, its
    // server's, a namespace, the hosts' diagnostic sockets and, as it starts, its logs. Some are for ourselves.
    8 * programs + (plan.hosts().count() + 3 * plan.flows.len() + 4 * plan.programs.len() + 100) as u64
}
