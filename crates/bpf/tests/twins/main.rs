//! The kernel's Reno and CUBIC, and ours asked at every callback what it would have done (`bpf/tests/twins_*.bpf.c`).
//!
//! This is a separate program with one thread, because only such a program can start a lab. Needs root.

#[path = "../support/emulated.rs"]
mod emulated;
#[path = "../support/mod.rs"]
mod support;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use emulated::Path;
use support::Running;

/// Calls of a callback, and how the two answers differed, as in `bpf/tests/twins.h`.
#[derive(Debug)]
struct Compared {
    calls: u64,
    different: u64,
    /// Packets.
    worst: u64,
}

fn main() -> ExitCode {
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    if !"twins".contains(&word) {
        println!("twins: left out, it is not called {word:?}");
        return ExitCode::SUCCESS;
    }
    if !support::is_allowed("twins") {
        return ExitCode::SUCCESS;
    }
    match reno().and_then(|()| cubic()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("twins: FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn reno() -> Result<()> {
    let path = Path { rate_mbps: 20, rtt_ms: 20, seconds: 4, ..Path::default() };
    let [cong_avoid, ssthresh, undo_cwnd, _] = run("twins_reno", &path)?;
    ensure!(cong_avoid.calls > 1000 && ssthresh.calls >= 2, "too little has happened");
    ensure!(
        [cong_avoid, ssthresh, undo_cwnd].iter().all(|compared| compared.different == 0),
        "Reno differs from the kernel's"
    );
    undoes("twins_reno")
}

fn cubic() -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        println!("twins: SKIPPED for CUBIC: on this architecture BPF can't call the kernel's");
        return Ok(());
    }
    let path = Path { rate_mbps: 10, rtt_ms: 100, seconds: 6, ..Path::default() };
    let [cong_avoid, ssthresh, undo_cwnd, slow_start] = run("twins_cubic", &path)?;
    ensure!(cong_avoid.calls > 1000 && ssthresh.calls >= 1 && slow_start.calls >= 1, "too little has happened");
    ensure!(ssthresh.different == 0 && undo_cwnd.different == 0, "CUBIC's reduction differs from the kernel's");
    // Linux counts the time of the curve in jiffies of 1 to 10 ms, ours in ticks of 4 ms: a packet may come earlier or later.
    let rare = cong_avoid.different * 20 < cong_avoid.calls && cong_avoid.worst <= 1;
    ensure!(rare, "CUBIC's growth differs from the kernel's");
    ensure!(slow_start.different == 0, "HyStart ends slow start elsewhere than the kernel's");
    undoes("twins_cubic")
}

/// Packets that overtake others by more than the kernel waits: what it takes for losses were none, and it takes them back.
fn undoes(object: &str) -> Result<()> {
    let path = Path { rate_mbps: 20, rtt_ms: 20, seconds: 3, reordering_ms: 40, ..Path::default() };
    let [_, ssthresh, undo_cwnd, _] = run(object, &path)?;
    ensure!(undo_cwnd.calls >= 1 && ssthresh.calls >= 1, "nothing was taken back");
    ensure!(
        ssthresh.different == 0 && undo_cwnd.different == 0,
        "a reduction is taken back otherwise than by the kernel"
    );
    Ok(())
}

/// The results by callback: cong_avoid, ssthresh, undo_cwnd, and the threshold that HyStart sets.
fn run(object: &str, path: &Path) -> Result<[Compared; 4]> {
    let running = Running::load(object)?;
    emulated::run(path, &running.name)?;
    let words = running.result()?;
    println!("{object}: {words:?}");
    let mut parts = words.chunks_exact(4).map(|part| Compared { calls: part[0], different: part[1], worst: part[3] });
    let mut next = || parts.next().context("the result is too short");
    Ok([next()?, next()?, next()?, next()?])
}
