//! Times a lab: `updown [HOSTS] [REPETITIONS] [--switch | --line] [--rootless] [--json]`, medians.
//!
//! Hosts are those of a core network; with `--switch` those of a lab network at one switch, with `--line` each at a switch
//! of its own, the switches in a line.
//!
//! Up: from before the sandbox is entered until every host sends. Down: from telling the sandbox's pid 1 to exit until its
//! parent has waited for it. The kernel frees the namespaces later, in the background: a pause follows each measurement.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab::{Lab, sandbox};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use plan::{Link, Plan};
use serde_json::json;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse::<usize>().ok());
    let (hosts, repetitions) = (numbers.next().unwrap_or(2), numbers.next().unwrap_or(7));
    let rootless = flag("--rootless") || sandbox::is_unprivileged();
    let shape = match (flag("--switch"), flag("--line")) {
        (true, _) => Shape::Switch,
        (_, true) => Shape::Line,
        _ => Shape::Core,
    };

    let mut times: Vec<[f64; 2]> = Vec::new();
    for _ in 0..repetitions {
        times.push(in_child(|| measure(shape, hosts, rootless))?);
        std::thread::sleep(Duration::from_millis(200 + 10 * hosts as u64));
    }
    let [up, down] = [0, 1].map(|which| {
        let mut column: Vec<f64> = times.iter().map(|pair| pair[which]).collect();
        column.sort_by(f64::total_cmp);
        (column[column.len() / 2], column[0], column[column.len() - 1])
    });
    if flag("--json") {
        println!(r#"{{"hosts":{hosts},"repetitions":{repetitions},"up_ms":{:.2},"down_ms":{:.2}}}"#, up.0, down.0);
    } else {
        println!("{hosts} hosts, median (min to max) of {repetitions}, rootless: {rootless}");
        println!("up   {:8.2} ms ({:.2} to {:.2})", up.0, up.1, up.2);
        println!("down {:8.2} ms ({:.2} to {:.2})", down.0, down.1, down.2);
    }
    Ok(())
}

/// The network of the hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Core,
    Switch,
    Line,
}

fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0001 + host as u32)
}

/// The plan of a network of this shape.
fn plan(shape: Shape, hosts: usize) -> Result<Plan> {
    let host = |i: usize| {
        let mac = format!("02:00:00:00:{:02x}:{:02x}", i / 256, i % 256);
        let eth0 = json!({"name": "eth0", "mac": mac, "addresses": [format!("{}/16", address(i))]});
        let interfaces = if shape == Shape::Core { Vec::new() } else { vec![eth0] };
        let name = format!("h{i}");
        json!({"kind": "host", "name": name, "address": address(i), "sysctl": {}, "interfaces": interfaces})
    };
    let switches = if shape == Shape::Line { hosts } else { 1 };
    let switch = |i: usize| json!({"kind": "switch", "name": format!("s{i}")});
    let link = |from: String, to: String| {
        let eth0 = |node: &str| (shape != Shape::Core && node.starts_with('h')).then(|| "eth0".to_owned());
        let (from_interface, to_interface) = (eth0(&from), eth0(&to));
        Link { from_interface, to_interface, ..Link::transparent(&format!("{from}-{to}"), &from, &to) }
    };
    let cable = |a: String, b: String| [link(a.clone(), b.clone()), link(b, a)];
    let to_hosts = (0..hosts).flat_map(|i| cable(format!("h{i}"), format!("s{}", i.min(switches - 1))));
    let between = (1..switches).flat_map(|i| cable(format!("s{}", i - 1), format!("s{i}")));
    let plan = json!({"name": "updown", "duration_ns": 1, "seed": 1, "flows": [],
        "nodes": (0..hosts).map(host).chain((0..switches).map(switch)).collect::<Vec<_>>(),
        "links": to_hosts.chain(between).collect::<Vec<_>>(),
        "record": {"sample_interval_ns": 1, "packets": false},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
    Plan::parse(&plan.to_string())
}

/// Milliseconds up and down.
fn measure(shape: Shape, hosts: usize, rootless: bool) -> Result<[f64; 2]> {
    let plan = plan(shape, hosts)?;
    let (ready, tell) = pipe()?;
    let (order, stop) = pipe()?;
    let start = Instant::now();
    sandbox::enter(rootless)?;
    // SAFETY: this process has one thread.
    let init = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            drop(stop);
            match run(&plan, hosts, tell, order) {
                Ok(()) => std::process::exit(0),
                Err(error) => {
                    eprintln!("{error:?}");
                    std::process::exit(1)
                }
            }
        }
    };
    drop(tell);
    ensure!(File::from(ready).read(&mut [0])? == 1, "the lab was not built");
    let up = start.elapsed();
    let start = Instant::now();
    drop(stop);
    ensure!(waitpid(init, None)? == WaitStatus::Exited(init, 0), "the sandbox's pid 1 failed");
    Ok([up, start.elapsed()].map(|time| time.as_secs_f64() * 1e3))
}

/// The sandbox's pid 1.
fn run(plan: &Plan, hosts: usize, ready: OwnedFd, order: OwnedFd) -> Result<()> {
    sandbox::mounts()?;
    let lab = Lab::build(plan)?;
    for index in 0..hosts {
        lab.in_host(index, || {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.send_to(b"up", (address((index + 1) % hosts), 9)).context("sending a datagram")?;
            Ok(())
        })?;
    }
    File::from(ready).write_all(b"r")?;
    File::from(order).read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Runs `f` in a separate child: a process enters a sandbox once.
fn in_child(f: impl FnOnce() -> Result<[f64; 2]>) -> Result<[f64; 2]> {
    let (read, write) = pipe()?;
    // SAFETY: this process has one thread.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(read);
            let times = match f() {
                Ok(times) => times,
                Err(error) => {
                    eprintln!("{error:?}");
                    std::process::exit(1);
                }
            };
            File::from(write).write_all(times.map(f64::to_ne_bytes).as_flattened())?;
            std::process::exit(0);
        }
        ForkResult::Parent { child } => {
            drop(write);
            let mut bytes = [[0; 8]; 2];
            let result = File::from(read).read_exact(bytes.as_flattened_mut());
            if waitpid(child, None)? != WaitStatus::Exited(child, 0) {
                bail!("a measurement failed");
            }
            result?;
            Ok(bytes.map(f64::from_ne_bytes))
        }
    }
}
