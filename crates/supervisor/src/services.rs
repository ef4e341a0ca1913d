use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use emu::Witness;
use lab::{Host, Lab};
use messages::Process;
use nix::sys::stat::fstat;
use plan::{Acks, EmulatePath, Node, Plan};
use realtime::{Part, keep_to};
use routers::{Entrance, Seat};

use crate::bridges;
use crate::init::Built;
use crate::live::{Live, Ticker};
use crate::loaded::Loaded;
use crate::service::{Service, Stage, Stop, Work};
use crate::witness::OfLab;

/// The services of a run, in the order in which they are started. A lab that stays gets its [`agent`] besides, in place of
/// traffic, and has a `ferry`, which brings routers that are added.
pub(crate) fn services<'a>(
    plan: &'a Plan,
    lab: &'a Lab,
    built: Built,
    loaded: &'a Loaded,
    dir: &'a Path,
    live: Option<&'a Live>,
    ferry: Option<OwnedFd>,
) -> Vec<(Service, Work<'a>)> {
    let stays = ferry.is_some();
    let keep = |part| keep(plan, part);
    let node = move |name: &str| lab.node(name).with_context(|| format!("no host {name} in the lab"));

    let last = last(stays);

    let mut services: Vec<(Service, Work<'a>)> = Vec::new();
    if let Some(source) = loaded.acks.source(&loaded.session) {
        let service = Service {
            process: Process::Probe,
            title: c"db-probe",
            nice: -5,
            needed: plan.record.acks == Acks::On,
            records: &["acks.parquet", "probe.json"],
            // At this stage all sockets are closed, and their last rows are written.
            stop: Stop::After(last, Stage::Gone),
            has_links: false,
            listens: false,
        };
        let inode = move |name: &str| Ok(fstat(&node(name)?.netns)?.st_ino as u32);
        let work: Work<'a> = Box::new(move |control, events| {
            keep(Part::AllButLast);
            probe::run(plan, &source, &inode, dir, control, events).map(drop)
        });
        services.push((service, work));
    }
    let witnessed = live.filter(|_| stays);
    let links = Links { plan, lab, built, loaded, dir, live, witnessed };
    services.push(emulator(links, last));
    let limit = limit(plan);
    let bridges = bridges::of(plan);
    if !bridges.is_empty() {
        let service = Service {
            process: Process::Bridges,
            title: c"db-bridges",
            nice: 0,
            needed: true,
            records: &[],
            stop: Stop::After(last, Stage::Done),
            has_links: false,
            listens: false,
        };
        let work: Work<'a> = Box::new(move |control, events| {
            keep(Part::AllButLast);
            bridges::run(&bridges, lab, limit, control, events)
        });
        services.push((service, work));
    }
    services.extend(routers(plan, lab, dir, ferry));
    if stays {
        return services;
    }
    let traffic = Service {
        process: Process::Traffic,
        title: c"db-traffic",
        nice: -10,
        needed: true,
        records: &["samples.parquet", "traffic.json"],
        stop: Stop::EndsTheRun,
        has_links: false,
        listens: false,
    };
    services.push((
        traffic,
        Box::new(move |control, events| {
            keep(Part::AllButLast);
            let live = live.map(|live| &*live.flows);
            let doors = |name: &str| node(name).map(Host::doors);
            traffic::run(plan, &doors, loaded.session.names(), dir, control, events, live).map(drop)
        }),
    ));
    services
}

/// The links of a plan between the interfaces of a lab.
#[derive(Clone, Copy)]
pub(crate) struct Links<'a> {
    pub plan: &'a Plan,
    pub lab: &'a Lab,
    pub built: Built,
    pub loaded: &'a Loaded,
    /// Where the records go.
    pub dir: &'a Path,
    pub live: Option<&'a Live>,
    /// The same of a lab that can be recorded.
    pub witnessed: Option<&'a Live>,
}

/// The service that carries packets over links, until `last` is done.
pub(crate) fn emulator(links: Links<'_>, last: Process) -> (Service, Work<'_>) {
    let service = Service {
        process: Process::Emulator,
        title: c"db-emulator",
        nice: -20,
        needed: true,
        records: &["packets.parquet", "links.parquet", "emulator.json"],
        stop: Stop::After(last, Stage::Done),
        has_links: true,
        listens: false,
    };
    let Links { plan, lab, built, loaded, dir, live, witnessed } = links;
    let work: Work<'_> = Box::new(move |control, events| {
        keep(plan, Part::Last);
        let witness = witnessed.map(|live| OfLab::new(lab, built, loaded, &live.datagrams));
        let witness = witness.as_ref().map(|witness| witness as &dyn Witness);
        let ends = emu::Ends { ports: &ports(lab), hops: &hops(lab) };
        emu::run(plan, ends, dir, control, events, live.map(Live::network), witness)
    });
    (service, work)
}

/// The service that has routing daemons; `None`: no router has any. `ferry` brings the routers that are added to a lab that
/// stays.
pub(crate) fn routers<'a>(
    plan: &'a Plan,
    lab: &'a Lab,
    dir: &'a Path,
    ferry: Option<OwnedFd>,
) -> Option<(Service, Work<'a>)> {
    let seats = with_daemons(plan, lab);
    let service = Service {
        process: Process::Routers,
        title: c"db-routers",
        nice: 0,
        needed: true,
        records: &["routes.parquet", "routers.json"],
        stop: Stop::After(last(ferry.is_some()), Stage::Done),
        has_links: false,
        listens: false,
    };
    let is_none = seats.is_empty();
    let work: Work<'a> = Box::new(move |control, events| {
        keep(plan, Part::AllButLast);
        routers::run(seats, &plan.daemon_events, limit(plan), ferry, dir, control, events)
    });
    (!is_none).then_some((service, work))
}

/// The routers that have daemons.
fn with_daemons<'a>(plan: &Plan, lab: &'a Lab) -> Vec<Seat<'a>> {
    let seat = |node: &Node| {
        let Node::Router { name, routing: Some(routing), .. } = node else { return None };
        let entrance = Entrance::Lent(lab.node(name)?.doors());
        Some(Seat { name: name.clone(), routing: routing.clone(), entrance })
    };
    plan.nodes.iter().filter_map(seat).collect()
}

/// Keeps the process to a part of the CPUs, if the links' path needs it: one in bursts has rates at which the emulator needs
/// one for itself.
fn keep(plan: &Plan, part: Part) {
    if plan.emulate.path == EmulatePath::Gso {
        keep_to(part);
    }
}

/// The service with which everything ends, in a lab that stays and in a run.
fn last(stays: bool) -> Process {
    if stays { Process::Agent } else { Process::Traffic }
}

fn limit(plan: &Plan) -> Option<Duration> {
    plan.wait.map(|wait| Duration::from_nanos(wait.limit_ns.as_nanos() as u64))
}

/// The service that carries out what users ask of a lab. `ferry` brings nodes that are added.
pub(crate) fn agent<'a>(
    plan: &'a Plan,
    lab: &'a mut Lab,
    loaded: &'a Loaded,
    dir: &'a Path,
    live: Option<&'a Live>,
    listener: OwnedFd,
    ferry: OwnedFd,
) -> (Service, Work<'a>) {
    let service = Service {
        process: Process::Agent,
        title: c"db-agent",
        // Programs of users inherit it.
        nice: 0,
        needed: true,
        records: &[],
        stop: Stop::EndsTheRun,
        has_links: false,
        listens: true,
    };
    let work: Work<'a> = Box::new(move |control, events| {
        let progress = move |plan: &Plan| {
            let mut ticker = live.map(|live| Ticker::new(plan, live));
            let next: agent::Progress<'a> = Box::new(move || ticker.as_mut().and_then(Ticker::event));
            next
        };
        let datagrams = live.map_or(&[][..], |live| &*live.datagrams);
        let setting = agent::Setting {
            plan: plan.clone(),
            lab,
            names: loaded.session.names(),
            dir,
            datagrams,
            ferry,
            progress: Box::new(progress),
        };
        agent::run(setting, listener, control, events)
    });
    (service, work)
}

fn hops(lab: &Lab) -> Vec<emu::Hop> {
    let hop = |&lab::Hop { link, part, into, out_of }: &lab::Hop| emu::Hop { link, part, into, out_of };
    lab.hops().iter().map(hop).collect()
}

fn ports(lab: &Lab) -> Vec<emu::Port> {
    let port = |host: &lab::Host, interface: &lab::Interface| emu::Port {
        host: host.name.clone(),
        interface: interface.name.clone(),
        mac: interface.mac,
        gateway_mac: interface.gateway_mac,
        ifindex: interface.core_ifindex,
    };
    lab.hosts().iter().flat_map(|host| host.interfaces.iter().map(move |interface| port(host, interface))).collect()
}
