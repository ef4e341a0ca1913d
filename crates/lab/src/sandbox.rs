//! Namespaces around a whole lab: whatever happens inside ends with the sandbox's pid 1.

use anyhow::Result;
use serde::Serialize;

/// True if this process may not make namespaces by itself, and needs a user namespace in which it may.
pub fn is_unprivileged() -> bool {
    todo!()
}

/// Moves the calling process into new mount, network, IPC and UTS namespaces, and its next child into a new PID
/// namespace; with `rootless` into a user namespace first, where it is root. The process must have one thread.
pub fn enter(rootless: bool) -> Result<()> {
    let _ = rootless;
    todo!()
}

/// What [`mounts`] could do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mounts {
    /// `/proc` shows the sandbox's processes. Some containers refuse this; the lab works without.
    pub proc: bool,
}

/// Mounts a fresh `/proc` and an empty `/run` with `/run/netns`. To be called by the sandbox's pid 1.
pub fn mounts() -> Result<Mounts> {
    todo!()
}

/// One thing that a lab needs of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What was tried.
    pub name: String,
    /// Whether it works.
    pub ok: bool,
    /// What was seen.
    pub detail: String,
    /// What to do if it does not work; else empty.
    pub fix: String,
}

/// Tries each thing that a lab needs, in a child process; changes nothing here.
pub fn check() -> Vec<Fact> {
    todo!()
}
