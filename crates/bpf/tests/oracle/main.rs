//! Is what `bpf/bbr/history.h` says of each packet true? An oracle in the kernel saw each one leave (`bpf/tests/oracle.bpf.c`).
//!
//! This is a separate program with one thread, because only such a program can start a lab. Needs root.

#[path = "../support/emulated.rs"]
mod emulated;
mod ipv6;
#[path = "../support/mod.rs"]
mod support;
mod verdict;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use emulated::Path;
use support::Running;
use verdict::Verdict;

/// The purpose of a path.
enum Bound {
    /// The ACKs of a round trip fit the ring: nearly every answer is exact.
    Exact,
    /// They don't: the mean error is small against what is in flight.
    Small,
}

/// Objects. The object in BBR's place asks at every ACK.
const SMALL_BBR: &str = "oracle";
const BBR3: &str = "oracle_bbr3";

const NAMES: [&str; 8] = [
    "drop-tail",
    "1 % random loss",
    "reordering by up to 2 ms",
    "30 flows",
    "IPv6",
    "200 Mbit/s x 500 ms",
    "BBRv3, 1 % random loss",
    "BBRv3, 30 flows",
];

fn main() -> ExitCode {
    // A word picks paths, as tests with the usual harness: `cargo test --workspace --test oracle -- flows`, or a name with --exact.
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let is_exact = std::env::args().any(|option| option == "--exact");
    let is_picked = |name: &str| if is_exact { name == word } else { name.contains(&word) };
    let picked: Vec<&str> = NAMES.into_iter().filter(|name| is_picked(name)).collect();
    if picked.is_empty() {
        println!("oracle: no path is called {word:?}");
        return ExitCode::FAILURE;
    }
    if !support::is_allowed("oracle") {
        return ExitCode::SUCCESS;
    }
    match run(&picked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("oracle: FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(picked: &[&str]) -> Result<()> {
    let path = Path { seconds: 3, ..Path::default() };
    let lossy = Path { loss: 0.01, ..path };
    let many = Path { flows: 30, rate_mbps: 200, rtt_ms: 40, buffer_bdp: 4, ..path };
    let runs = [
        (Bound::Exact, SMALL_BBR, Some(path)),
        (Bound::Exact, SMALL_BBR, Some(lossy)),
        (Bound::Exact, SMALL_BBR, Some(Path { reordering_ms: 2, ..path })),
        (Bound::Exact, SMALL_BBR, Some(many)),
        (Bound::Exact, SMALL_BBR, None),
        (Bound::Small, SMALL_BBR, Some(Path { rate_mbps: 200, rtt_ms: 500, seconds: 9, ..path })),
        (Bound::Exact, BBR3, Some(lossy)),
        (Bound::Exact, BBR3, Some(Path { buffer_bdp: 1, ..many })),
    ];
    println!("{}", Verdict::HEADER);
    let mut failed = Vec::new();
    for (name, (bound, object, path)) in NAMES.into_iter().zip(runs).filter(|(name, _)| picked.contains(name)) {
        let running = Running::load(object)?;
        match path {
            Some(path) => emulated::run(&path, &running.name)?,
            None => ipv6::run(&running.name)?,
        }
        let verdict = Verdict::new(running.result()?)?;
        println!("{name:>25} {verdict}");
        if !verdict.holds(&bound) {
            failed.push(name);
        }
    }
    ensure!(failed.is_empty(), "the history is not good enough: {}", failed.join(", "));
    Ok(())
}
