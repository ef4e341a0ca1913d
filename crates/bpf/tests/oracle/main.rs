//! Is what `bpf/bbr/history.h` says of each packet true? An oracle in the kernel saw each one leave (`bpf/tests/oracle.bpf.c`).
//!
//! A program of its own, with one thread, because a lab must be started by such a one. Needs root.

mod emulated;
mod ipv6;
mod oracle;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use emulated::Path;
use oracle::{NAME, Oracle, Verdict};

/// What a path is for.
enum Bound {
    /// The ACKs of a round trip fit the ring: nearly every answer is exact.
    Exact,
    /// They don't: the mean error is small against what is in flight.
    Small,
}

fn main() -> ExitCode {
    // As the usual harness: `cargo test NAME` asks for other tests.
    if std::env::args().skip(1).any(|word| !word.starts_with('-') && !"oracle".contains(&word)) {
        return ExitCode::SUCCESS;
    }
    if !nix::unistd::geteuid().is_root() {
        println!("oracle: SKIPPED, nothing was checked: only root may load BPF and build a lab");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("oracle: FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let oracle = Oracle::load()?;
    let path = Path { rate_mbps: 50, rtt_ms: 20, seconds: 4, ..Path::default() };
    let paths = [
        ("drop-tail", Bound::Exact, path),
        ("1 % random loss", Bound::Exact, Path { loss: 0.01, ..path }),
        ("reordering by up to 2 ms", Bound::Exact, Path { reordering_ms: 2, ..path }),
        ("30 flows", Bound::Exact, Path { flows: 30, rate_mbps: 100, ..path }),
        ("200 Mbit/s x 500 ms", Bound::Small, Path { rate_mbps: 200, rtt_ms: 500, seconds: 12, ..path }),
    ];
    println!("{}", Verdict::HEADER);
    let mut failed = Vec::new();
    let mut judge = |name: &str, bound: Bound, verdict: Verdict| {
        println!("{name:>25} {verdict}");
        if !verdict.holds(&bound) {
            failed.push(name.to_owned());
        }
    };
    for (name, bound, path) in paths {
        oracle.forget()?;
        emulated::run(&path, NAME)?;
        judge(name, bound, oracle.verdict()?);
    }
    oracle.forget()?;
    ipv6::run(NAME)?;
    judge("IPv6", Bound::Exact, oracle.verdict()?);
    ensure!(failed.is_empty(), "the history is not good enough: {}", failed.join(", "));
    Ok(())
}
