//! How long a network of routers takes from nothing until every kernel has every route: `converge < network.json`.
//!
//! ```json
//! {"limit_s": 60,
//!  "routers": [{"name": "r1", "id": "10.255.0.1", "config": "...", "daemons": ["ospfd"], "expect": ["10.0.1.0/24"]}],
//!  "cables": [["r1", "eth0", "10.0.1.1/24", "r2", "eth0", "10.0.1.2/24"]]}
//! ```
//! An interface has its addresses with spaces between them. Prints `routers.json`, and the daemons' memory (PSS) in MB.

#[path = "../tests/daemons/nodes.rs"]
#[allow(dead_code)]
mod nodes;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use ipnet::IpNet;
use messages::{Event, Order};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use plan::Routing;
use routers::Seat;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::nodes::{Node, cable};

#[derive(Deserialize)]
struct Network {
    limit_s: f64,
    routers: Vec<Router>,
    cables: Vec<[String; 6]>,
}

#[derive(Deserialize)]
struct Router {
    name: String,
    id: String,
    config: String,
    daemons: Vec<String>,
    expect: Vec<IpNet>,
}

fn main() -> Result<()> {
    let network: Network = serde_json::from_reader(io::stdin()).context("reading the network")?;
    lab::sandbox::enter(lab::sandbox::is_unprivileged())?;
    // SAFETY: this process has one thread.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => {
            ensure!(matches!(waitpid(child, None)?, WaitStatus::Exited(_, 0)), "it failed");
            Ok(())
        }
        ForkResult::Child => {
            let done = lab::sandbox::mounts().and_then(|_| inside(&network));
            if let Err(error) = &done {
                eprintln!("{error:#}");
            }
            std::process::exit(i32::from(done.is_err()))
        }
    }
}

fn inside(network: &Network) -> Result<()> {
    let mut nodes = BTreeMap::new();
    for router in &network.routers {
        let node = Node::new(&router.name)?;
        node.run(&format!("ip addr add {}/32 dev lo", router.id))?;
        nodes.insert(router.name.as_str(), node);
    }
    for [a, at, own, b, there, other] in &network.cables {
        cable((&nodes[a.as_str()], at, own), (&nodes[b.as_str()], there, other))?;
    }
    let routing = |router: &Router| Routing {
        config: router.config.clone(),
        daemons: router.daemons.clone(),
        expect: router.expect.clone(),
    };
    let routings: Vec<Routing> = network.routers.iter().map(routing).collect();
    let pairs = network.routers.iter().zip(&routings);
    let seats: Vec<Seat<'_>> = pairs.map(|(router, one)| nodes[router.name.as_str()].seat(one)).collect();
    let report = run(seats, network)?;
    println!("{report}");
    Ok(())
}

fn run(seats: Vec<Seat<'_>>, network: &Network) -> Result<Value> {
    let dir = PathBuf::from("/run/records");
    fs::create_dir_all(&dir)?;
    let limit = Duration::from_secs_f64(network.limit_s);
    let (ordered, control) = pipe()?;
    let (events, saying) = pipe()?;
    // SAFETY: this process has one thread.
    if let ForkResult::Child = unsafe { fork() }? {
        drop((control, events));
        let mut saying = File::from(saying);
        if let Err(error) = routers::run(seats, &[], Some(limit), None, &dir, ordered, &mut saying) {
            Event::failed(messages::Process::Routers, &error).emit(&mut saying)?;
        }
        std::process::exit(0)
    }
    drop(saying);
    let (mut control, mut events) = (File::from(control), BufReader::new(File::from(events)).lines());
    let mut hear = || -> Result<Event> {
        loop {
            match serde_json::from_str(&events.next().context("it is gone")??)? {
                Event::Converging { .. } => {}
                event => return Ok(event),
            }
        }
    };
    match hear()? {
        Event::Ready { .. } => {}
        Event::Failed { failure, .. } => bail!("{failure}"),
        other => bail!("{other:?}"),
    }
    let memory = memory()?;
    control.write_all(&Order::Start { origin_ns: realtime::monotonic_ns() }.line()?)?;
    // The end of its orders is a stop, too.
    drop(control);
    ensure!(matches!(hear()?, Event::Done { .. }), "it was not done");
    let mut report: Value = serde_json::from_str(&fs::read_to_string(dir.join("routers.json"))?)?;
    report["memory_mb"] = json!(memory);
    Ok(report)
}

/// Proportional set size by name of a program, in MB.
fn memory() -> Result<BTreeMap<String, f64>> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let path = entry?.path();
        let read = |file: &str| fs::read_to_string(Path::new(&path).join(file)).unwrap_or_default();
        let pss = read("smaps_rollup")
            .lines()
            .find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
        if let (Some(kb), name) = (pss, read("comm").trim().to_owned())
            && routers::daemon(&name).is_some()
        {
            *found.entry(name).or_default() += kb / 1000.0;
        }
    }
    Ok(found)
}
