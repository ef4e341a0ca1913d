//! What failed, why, and what to do about it.

use std::fmt;

/// An error for a person to read. It travels inside `anyhow::Error`; `downcast_ref::<lab::Error>()` finds its parts.
#[derive(Clone, Debug)]
pub struct Error {
    /// What was being done, and to what.
    pub what: String,
    /// The kernel's answer, or the rule that was broken.
    pub why: String,
    /// What to do about it; empty if there is nothing to say.
    pub hint: String,
}

impl Error {
    /// An error without a hint.
    pub fn new(what: impl Into<String>, why: impl fmt::Display) -> Error {
        Error { what: what.into(), why: why.to_string(), hint: String::new() }
    }

    /// The same error with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)?;
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
