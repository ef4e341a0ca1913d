use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failure for a person to read: what failed, why, and what to do about it.
///
/// It travels inside `anyhow::Error`, with contexts around it; [`Failure::of`] finds it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The action that failed, and its object.
    pub what: String,
    /// The kernel's answer, or the rule that was broken.
    pub why: String,
    /// Advice; empty if there is none.
    pub hint: String,
}

impl Failure {
    /// A failure without advice.
    pub fn new(what: impl Into<String>, why: impl fmt::Display) -> Failure {
        Failure { what: what.into(), why: why.to_string(), hint: String::new() }
    }

    /// The same failure with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = hint.into();
        self
    }

    /// The parts of any error: of the failure inside it, or its outermost context and the chain of causes.
    pub fn of(error: &anyhow::Error) -> Failure {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        match error.downcast_ref::<Failure>() {
            // Contexts around it say where: they belong to what failed.
            Some(failure) if causes.len() > 1 && causes[0] != failure.to_string() => {
                Failure { what: format!("{}: {}", causes[0], failure.what), ..failure.clone() }
            }
            Some(failure) => failure.clone(),
            None => Failure::new(causes[0].clone(), causes[1..].join(": ")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn contexts_are_kept() {
        let error = anyhow::Error::from(Failure::new("writing x", "denied").hint("ask")).context("building host s1");
        let failure = Failure::of(&error);
        assert_eq!(failure.what, "building host s1: writing x");
        assert_eq!((failure.why.as_str(), failure.hint.as_str()), ("denied", "ask"));
    }

    #[test]
    fn a_foreign_error_is_split_into_what_and_why() {
        let failure = Failure::of(&Err::<(), _>(std::fmt::Error).context("spelling").unwrap_err());
        assert_eq!(failure.what, "spelling");
        assert!(!failure.why.is_empty() && failure.hint.is_empty());
    }
}
