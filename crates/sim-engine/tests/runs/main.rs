//! Simulated runs and what they leave: tables, accounts, captures.

mod agreement;
mod batch;
mod bottlenecks;
mod captured;
mod common;
mod determinism;
mod ending;
mod labels;
mod parameters;
#[path = "../../../connections/tests/rows/mod.rs"]
mod rows;
mod states;
