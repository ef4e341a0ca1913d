use anyhow::{Result, ensure};
use serde::Deserialize;

/// A parameter of an algorithm, set before the algorithm begins: a constant of its program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Unique among those of its algorithm.
    pub name: String,
    /// The value if nobody sets it.
    pub default: Value,
    /// The least and the most that mean anything, of an integer. The type would allow more: a window gain of 0 stops a
    /// flow, and a share cannot be more than the whole.
    pub limits: Option<(u32, u32)>,
    /// The parameter's effect, with its unit.
    pub meaning: String,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Value {
    /// The value of a flag.
    Flag(bool),
    /// The value of an integer of 32 bits.
    Number(u32),
}

impl Parameter {
    /// The type in C.
    pub(crate) fn c_type(&self) -> &'static str {
        match self.default {
            Value::Flag(_) => "bool",
            Value::Number(_) => "__u32",
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match (self.default, self.limits) {
            (Value::Flag(_), limits) => ensure!(limits.is_none(), "a flag has no limits"),
            (Value::Number(_), None) => anyhow::bail!("an integer has limits"),
            (Value::Number(number), Some((least, most))) => {
                ensure!((least..=most).contains(&number), "its default, {number}, is not from {least} to {most}");
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Value {
    /// The value in C and Rust.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Number(number) => number.fmt(f),
        }
    }
}
