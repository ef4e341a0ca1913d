use std::fmt;

/// An error for a person to read. It travels inside `anyhow::Error`; `downcast_ref::<traffic::Error>()` finds its parts.
#[derive(Clone, Debug)]
pub struct Error {
    /// What failed.
    pub what: String,
    /// The kernel's answer, or the rule that was broken.
    pub why: String,
    /// What to do about it; empty if there is nothing to say.
    pub hint: String,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>, why: impl fmt::Display, hint: impl Into<String>) -> Error {
        Error { what: what.into(), why: why.to_string(), hint: hint.into() }
    }

    /// The parts of any error: of one of ours, or its outermost context and the chain of causes.
    pub(crate) fn of(error: &anyhow::Error) -> Error {
        if let Some(error) = error.downcast_ref::<Error>() {
            return error.clone();
        }
        let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
        Error::new(error.to_string(), causes.join(": "), "")
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
