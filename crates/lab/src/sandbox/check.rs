//! Trying what a lab needs.

use serde::Serialize;

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
