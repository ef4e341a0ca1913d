//! The acceptance scenarios of the specification's section 17, on the flow simulator of the `cc` crate: the C core runs
//! them beside the Rust implementation, and does the same at every callback.

#[path = "../../cc/tests/flows/changes.rs"]
mod changes;
#[path = "../../cc/tests/flows/helpers.rs"]
mod helpers;
#[path = "../../cc/tests/flows/path/mod.rs"]
mod path;
#[path = "../../cc/tests/flows/probe_bw.rs"]
mod probe_bw;
#[path = "../../cc/tests/flows/probe_rtt.rs"]
mod probe_rtt;
#[path = "../../cc/tests/flows/recovery.rs"]
mod recovery;
#[path = "../../cc/tests/flows/startup.rs"]
mod startup;

use bbr_host::create;
use helpers::{DEEP, VERSIONS, assert_near, leave, path, reach};
