use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A congestion control that flows name by its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    /// What flows and all records call it. Unique among the plan's algorithms.
    pub label: String,
    /// Where it comes from.
    pub source: Source,
    /// Parameters that the scenario sets, by name.
    pub parameters: BTreeMap<String, Parameter>,
    /// Of its source text, in hex; none of the kernel's own.
    pub sha256: Option<String>,
}

/// Where a congestion control comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// One that comes with dumbbell, as a BPF program.
    Bundled {
        /// E.g. `bbr3`.
        name: String,
    },
    /// A BPF object of the user's.
    Object {
        /// Relative to the run's directory.
        path: PathBuf,
    },
    /// One that the kernel has.
    Kernel {
        /// As the kernel names it.
        name: String,
    },
    /// A source in C of the user's that is linked to a kernel in virtual time.
    Linked {
        /// Relative to the run's directory.
        path: PathBuf,
        /// As that kernel names it.
        name: String,
    },
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parameter {
    /// Of a flag.
    Bool(bool),
    /// Of an integer.
    Integer(i64),
}
