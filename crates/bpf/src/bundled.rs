//! The algorithms that come with the program, as objects compiled by build.rs.

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// An embedded object.
#[derive(Debug)]
pub struct Bundled {
    /// The name in scenario, plan and records.
    pub label: &'static str,
    /// The path of the source in the directory `bpf`.
    pub path: &'static str,
    /// SHA-256 over the source and the headers that it may include, in hexadecimal.
    pub sha256: &'static str,
    /// The ELF file.
    pub object: &'static [u8],
    /// Its parameters.
    pub parameters: &'static [Meaning],
}

/// A parameter: its name, its meaning, and the least and the most of an integer that mean anything.
pub type Meaning = (&'static str, &'static str, Option<(u32, u32)>);

/// Everything of a bundled algorithm.
pub fn find(label: &str) -> Option<&'static Bundled> {
    algorithms().find(|bundled| bundled.label == label)
}

/// The object of a bundled algorithm.
pub fn bundled(label: &str) -> Option<&'static [u8]> {
    find(label).map(|bundled| bundled.object)
}

/// The labels that [`bundled`] knows.
pub fn bundled_labels() -> Vec<&'static str> {
    algorithms().map(|bundled| bundled.label).collect()
}

/// All bundled algorithms.
pub fn algorithms() -> impl Iterator<Item = &'static Bundled> {
    OBJECTS.iter()
}

/// The object of the per-ACK probe.
pub fn probe() -> &'static [u8] {
    PROBE
}

/// Headers for users' own algorithms: their names as in `#include <...>`, and their text.
pub fn headers() -> &'static [(&'static str, &'static str)] {
    HEADERS
}
