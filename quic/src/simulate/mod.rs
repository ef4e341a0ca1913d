//! Simulates plans with QUIC flows, for Python's engine, which reads lines of JSON and answers some.

mod ends;

use std::collections::BTreeMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use messages::Event;
use plan::Plan;
use serde::{Deserialize, Serialize};
use sim::Options;
use sim_engine::batch::{self, Batch, Judged, Progress, Run, Screen, Verdict};

use crate::stacks;
use ends::Stacks;

/// A line to Python.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Line<'a> {
    /// An event of the run. The answer is whether to go on.
    Event(&'a Event),
    /// How far a batch is. The answer is whether to go on.
    Progress(&'a Progress),
    /// A run of the plan with this index tells of its fidelity. The answer is a verdict and its reasons.
    Judge(u32, &'a str),
    /// The end: whether it came early.
    Ended(bool),
    /// The end: what failed.
    Failed(String),
}

/// Runs of a batch, as Python asks for them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    plans: Vec<String>,
    /// Cell, plan, repetition, seed, id.
    runs: Vec<(u32, u32, u32, u64, String)>,
    directory: PathBuf,
    shard_runs: usize,
    threads: usize,
    first: usize,
    /// Marks runs to carry out; another build carries out the rest.
    own: Option<Vec<bool>>,
    /// Compiled programs in hex, by the hash of their source.
    objects: BTreeMap<String, String>,
    /// The share of its time in which windows may limit a flow, and the largest window in packets.
    screen: (f64, u32),
}

/// Simulates the plan of a run's directory.
///
/// # Errors
/// Nobody reads or answers.
pub fn run(directory: &Path) -> Result<()> {
    conclude(simulate(directory))
}

fn simulate(directory: &Path) -> Result<bool> {
    let plan = Plan::read(&directory.join("plan.json"))?;
    let logs = directory.join("logs");
    std::fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
    stacks::try_randomness();
    let stacks = Stacks { logs: Some(logs) };
    let options = Options { tso: plan.simulate.tso, quic: Some(&stacks), ..Options::default() };
    sim_engine::simulate(directory, options, &mut |event| ask(&Line::Event(event)))
}

/// Simulates a batch, which is one line on standard input.
///
/// # Errors
/// Nobody reads or answers.
pub fn run_many() -> Result<()> {
    conclude(simulate_many())
}

fn simulate_many() -> Result<bool> {
    let Asked { plans, runs, directory, shard_runs, threads, first, own, objects, screen } = read()?;
    stacks::try_randomness();
    let bytes = |(hash, hex): (String, String)| Ok((hash, from_hex(&hex).context("a program that is not in hex")?));
    let objects = objects.into_iter().map(bytes).collect::<Result<_>>()?;
    let run = |(cell, plan, repetition, seed, id)| Run { cell, plan, repetition, seed, id };
    let runs: Vec<Run> = runs.into_iter().map(run).collect();
    let (limited_share, window_packets) = screen;
    let batch = Batch {
        plans: &plans,
        objects: &objects,
        runs: &runs,
        first,
        own: own.as_deref(),
        directory: &directory,
        shard_runs,
        threads,
        quic: Some(&Stacks { logs: None }),
        screen: Some(Screen { limited_share, window_packets }),
    };
    let judge = |plan, evidence: &str| {
        let (verdict, reasons): (String, Option<String>) = ask(&Line::Judge(plan, evidence))?;
        let verdict = Verdict::of(&verdict).with_context(|| format!("no verdict: {verdict}"))?;
        Ok(Judged { verdict, reasons })
    };
    // Without an answer nobody wants the batch any more.
    batch::simulate_many(&batch, judge, |progress| ask(&Line::Progress(progress)).unwrap_or(false))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    digits.collect()
}

fn conclude(result: Result<bool>) -> Result<()> {
    tell(&match result {
        Ok(interrupted) => Line::Ended(interrupted),
        Err(error) => Line::Failed(format!("{error:#}")),
    })
}

fn tell(line: &Line<'_>) -> Result<()> {
    let mut out = stdout().lock();
    let text = serde_json::to_string(line)? + "\n";
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("writing to standard output")
}

fn ask<T: for<'de> Deserialize<'de>>(line: &Line<'_>) -> Result<T> {
    tell(line)?;
    read()
}

fn read<T: for<'de> Deserialize<'de>>() -> Result<T> {
    let mut text = String::new();
    match stdin().lock().read_line(&mut text).context("reading an answer")? {
        0 => Err(anyhow!("nobody answers")),
        _ => serde_json::from_str(&text).context("an answer of another kind"),
    }
}
