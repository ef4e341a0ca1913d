//! Times a lab: `updown [HOSTS] [REPETITIONS] [--rootless] [--json]`, medians.
//!
//! Up: from before the sandbox is entered until every host sends. Down: from telling the sandbox's pid 1 to exit until its
//! parent has waited for it. The kernel frees the namespaces later, in the background: a pause follows each measurement.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lab::{HostSpec, Lab, sandbox};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse::<usize>().ok());
    let (hosts, repetitions) = (numbers.next().unwrap_or(2), numbers.next().unwrap_or(7));
    let rootless = flag("--rootless") || sandbox::is_unprivileged();

    let mut times: Vec<[f64; 2]> = Vec::new();
    for _ in 0..repetitions {
        times.push(in_child(|| measure(hosts, rootless))?);
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

/// Milliseconds up and down.
fn measure(hosts: usize, rootless: bool) -> Result<[f64; 2]> {
    let specs: Vec<HostSpec> =
        (0..hosts).map(|i| HostSpec::new(format!("h{i}"), Ipv4Addr::from(0x0a00_0001 + i as u32))).collect();
    let (ready, tell) = pipe()?;
    let (order, stop) = pipe()?;
    let start = Instant::now();
    sandbox::enter(rootless)?;
    // SAFETY: this process has one thread.
    let init = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            drop(stop);
            match run(&specs, tell, order) {
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
fn run(specs: &[HostSpec], ready: OwnedFd, order: OwnedFd) -> Result<()> {
    sandbox::mounts()?;
    let lab = Lab::build(specs, false)?;
    for index in 0..specs.len() {
        lab.in_host(index, || {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.send_to(b"up", "10.255.255.254:9").context("sending a datagram")?;
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
