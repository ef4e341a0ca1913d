//! BPF sources beside Rust's implementations, in one program, which is compiled and linked once.
//!
//! The acceptance scenarios of BBR's specification (section 17) run on the flow simulator of the `cc` crate: the C core runs
//! them beside the Rust implementation, and does the same at every callback.

#[path = "../../../cc/tests/flows/changes.rs"]
mod changes;
mod fuzz;
mod headers;
#[path = "../../../cc/tests/flows/helpers.rs"]
mod helpers;
mod mainline;
mod objects;
#[path = "../../../cc/tests/flows/path/mod.rs"]
mod path;
#[path = "../../../cc/tests/flows/probe_bw.rs"]
mod probe_bw;
#[path = "../../../cc/tests/flows/probe_rtt.rs"]
mod probe_rtt;
mod programs;
#[path = "../../../cc/tests/flows/recovery.rs"]
mod recovery;
#[path = "../../../cc/tests/fuzz/settings.rs"]
mod settings;
#[allow(dead_code)] // The `cc` crate's own tests use the rest.
#[path = "../../../cc/tests/fuzz/stack.rs"]
mod stack;
#[path = "../../../cc/tests/flows/startup.rs"]
mod startup;
mod vectors;

use bbr_host::create;
use helpers::{DEEP, VERSIONS, assert_near, leave, path, reach};
