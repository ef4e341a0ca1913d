use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A congestion control that flows name by its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Algorithm {
    /// The name in flows and all records. Unique among the plan's algorithms.
    pub label: String,
    /// The source of the algorithm.
    pub source: Source,
    /// Parameters that the scenario sets, and their values.
    pub parameters: BTreeMap<String, Parameter>,
    /// The hash of its source text, in hex; none for the kernel's own.
    pub sha256: Option<String>,
}

/// The source of a congestion control.
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
        /// The name in the kernel.
        name: String,
    },
    /// One that comes with dumbbell, linked to a kernel in virtual time with the scenario's parameters.
    Tuned {
        /// E.g. `bbr3`.
        of: String,
        /// Name that the kernel gives the algorithm.
        name: String,
    },
    /// A source in C of the user's that is linked to a kernel in virtual time.
    Linked {
        /// Relative to the run's directory.
        path: PathBuf,
        /// The kernel's name for it.
        name: String,
    },
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parameter {
    /// The value of a flag.
    Bool(bool),
    /// The value of an integer.
    Integer(i64),
}
