//! The reasons to stop a program: no kernel would let it do this, or the model lacks it.

use std::fmt;

/// A reason to stop a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Reads so many bytes where nothing is.
    Read(usize),
    /// Writes so many bytes where it must not.
    Written(usize),
    /// Takes more instructions than a kernel would look at.
    Endless,
    /// Functions call each other too deeply.
    Deep,
    /// Calls a helper of the kernel by this number.
    Helper(i64),
    /// Reaches a thing that is not modelled; the thing's number.
    Unmodelled(usize),
    /// Has an instruction that RFC 9669 has not.
    Unknown(u16),
}

/// The most instructions of a call: what the kernel's verifier follows at most.
pub(crate) const MOST_INSTRUCTIONS: u32 = 1_000_000;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Read(bytes) => write!(f, "it reads {bytes} bytes outside of what it may read"),
            Fault::Written(bytes) => write!(f, "it writes {bytes} bytes where it may not write"),
            Fault::Endless => write!(f, "a call has taken {MOST_INSTRUCTIONS} instructions and goes on"),
            Fault::Deep => write!(f, "its functions call each other more than 8 deep"),
            Fault::Helper(number) => write!(f, "the simulator has no helper {number}"),
            Fault::Unmodelled(_) => write!(f, "it needs what is not modelled"),
            Fault::Unknown(code) => write!(f, "there is no instruction 0x{code:02x}"),
        }
    }
}
