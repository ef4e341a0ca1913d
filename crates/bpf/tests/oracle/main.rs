//! Is what `bpf/bbr/history.h` says of each packet true? An oracle in the kernel saw each one leave (`bpf/tests/oracle.bpf.c`).
//!
//! A program of its own, with one thread, because a lab must be started by such a one. Needs root.

mod emulated;
mod ipv6;
mod oracle;
#[path = "../support/mod.rs"]
mod support;

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

const NAMES: [&str; 6] =
    ["drop-tail", "1 % random loss", "reordering by up to 2 ms", "30 flows", "IPv6", "200 Mbit/s x 500 ms"];

fn main() -> ExitCode {
    // As with the usual harness, a word picks tests: here paths, e.g. `cargo test -p bpf --test oracle -- flows`.
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    if !NAMES.iter().any(|name| name.contains(&word)) {
        return ExitCode::SUCCESS;
    }
    if !support::is_allowed("oracle") {
        return ExitCode::SUCCESS;
    }
    match run(&word) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("oracle: FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(word: &str) -> Result<()> {
    let oracle = Oracle::load()?;
    let path = Path { rate_mbps: 50, rtt_ms: 20, seconds: 4, ..Path::default() };
    let paths = [
        (Bound::Exact, Some(path)),
        (Bound::Exact, Some(Path { loss: 0.01, ..path })),
        (Bound::Exact, Some(Path { reordering_ms: 2, ..path })),
        (Bound::Exact, Some(Path { flows: 30, rate_mbps: 200, rtt_ms: 40, buffer_bdp: 4, ..path })),
        (Bound::Exact, None),
        (Bound::Small, Some(Path { rate_mbps: 200, rtt_ms: 500, seconds: 12, ..path })),
    ];
    println!("{}", Verdict::HEADER);
    let mut failed = Vec::new();
    for (name, (bound, path)) in NAMES.into_iter().zip(paths).filter(|(name, _)| name.contains(word)) {
        oracle.forget()?;
        match path {
            Some(path) => emulated::run(&path, NAME)?,
            None => ipv6::run(NAME)?,
        }
        let verdict = oracle.verdict()?;
        println!("{name:>25} {verdict}");
        if !verdict.holds(&bound) {
            failed.push(name);
        }
    }
    ensure!(failed.is_empty(), "the history is not good enough: {}", failed.join(", "));
    Ok(())
}
