//! Flows on a test path: 50 Mbit/s and 40 ms, a BDP of 165 packets, unless a test says otherwise.
//!
//! The acceptance scenarios of the BBR specification (section 17), and a curve of every algorithm's window.

mod changes;
mod curves;
mod path;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;

use path::{Path, SECOND};

/// The deployed versions and the draft.
const VERSIONS: [&str; 3] = ["bbr2", "bbr3", "bbr3-draft"];

/// A buffer that never overflows, packets.
const DEEP: usize = 5_000;

fn path(name: &str, buffer: usize) -> Path {
    Path::new(name, 50, 40, buffer)
}

/// Run until the flow is in `state`.
fn reach(path: &mut Path, state: &str) {
    assert!(path.run_until(30 * SECOND, |path| path.state() == state), "{} never in {state}", path.cc.name());
}

/// Run until the flow leaves `state`; the state that follows.
fn leave(path: &mut Path, state: &str) -> &'static str {
    assert!(path.run_until(30 * SECOND, |path| path.state() != state), "{} stays in {state}", path.cc.name());
    path.state()
}

fn assert_near(what: u64, expected: u64, percent: u64) {
    assert!(what.abs_diff(expected) * 100 <= expected * percent, "{what} is not within {percent} % of {expected}");
}
