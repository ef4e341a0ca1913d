//! Congestion controls from outside, in one program, which is compiled and linked once.
//!
//! Flows on a test path: 50 Mbit/s and 40 ms, a BDP of 165 packets, unless a test says otherwise.
//!
//! The acceptance scenarios of the BBR specification (section 17), and a curve of every algorithm's window.

mod any_calls;
#[path = "../flows/changes.rs"]
mod changes;
#[path = "../flows/curves.rs"]
mod curves;
#[path = "../flows/helpers.rs"]
mod helpers;
#[path = "../flows/path/mod.rs"]
mod path;
#[path = "../flows/probe_bw.rs"]
mod probe_bw;
#[path = "../flows/probe_rtt.rs"]
mod probe_rtt;
#[path = "../flows/recovery.rs"]
mod recovery;
#[path = "../fuzz/settings.rs"]
mod settings;
#[path = "../fuzz/stack.rs"]
mod stack;
#[path = "../flows/startup.rs"]
mod startup;

// The path makes its algorithms by this function; another crate that runs these flows has another.
use cc::create;
use helpers::{DEEP, VERSIONS, assert_near, leave, path, reach};
