use anyhow::{Result, ensure};
use serde::Deserialize;

/// Something that an algorithm can be told before it begins: a constant of its program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Unique among those of its algorithm.
    pub name: String,
    /// What it is if nobody sets it.
    pub default: Value,
    /// The least and the most that mean anything, of an integer. The type would allow more: a window gain of 0 stops a
    /// flow, and a share cannot be more than the whole.
    pub limits: Option<(u32, u32)>,
    /// What it does, with its unit.
    pub meaning: String,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Value {
    /// Of a flag.
    Flag(bool),
    /// Of an integer of 32 bits.
    Number(u32),
}

impl Parameter {
    /// As C has it.
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
    /// As C and Rust write it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Number(number) => number.fmt(f),
        }
    }
}
