//! The shared parts of the scenarios.

use crate::path::{Path, SECOND};

/// The deployed versions and the draft.
pub const VERSIONS: [&str; 3] = ["bbr2", "bbr3", "bbr3-draft"];

/// A buffer that never overflows, packets.
pub const DEEP: usize = 5_000;

pub fn path(name: &str, buffer: usize) -> Path {
    Path::new(name, 50, 40, buffer)
}

/// Run until the flow is in `state`.
pub fn reach(path: &mut Path, state: &str) {
    assert!(path.run_until(30 * SECOND, |path| path.state() == state), "{} never in {state}", path.cc.name());
}

/// Run until the flow leaves `state`; the state that follows.
pub fn leave(path: &mut Path, state: &str) -> &'static str {
    assert!(path.run_until(30 * SECOND, |path| path.state() != state), "{} stays in {state}", path.cc.name());
    path.state()
}

pub fn assert_near(what: u64, expected: u64, percent: u64) {
    assert!(what.abs_diff(expected) * 100 <= expected * percent, "{what} is not within {percent} % of {expected}");
}
