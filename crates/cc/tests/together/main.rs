//! Flows on a test path: 50 Mbit/s and 40 ms, a BDP of 165 packets, unless a test says otherwise.
//!
//! The acceptance scenarios of the BBR specification (section 17), and a curve of every algorithm's window.

mod changes;
mod curves;
mod helpers;
mod path;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;

// The path makes its algorithms by this function; another crate that runs these flows has another.
use cc::create;
use helpers::{DEEP, VERSIONS, assert_near, leave, path, reach};
