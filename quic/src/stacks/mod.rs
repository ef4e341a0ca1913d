//! The stacks, one a module: a line in [`STACKS`] for each.

mod certificate;
#[cfg(any(feature = "noq", feature = "quinn"))]
mod flight;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quiche")]
mod quiche;
#[cfg(feature = "quinn")]
mod quinn;
#[cfg(feature = "s2n")]
mod s2n;
#[cfg(any(feature = "noq", feature = "quinn", feature = "s2n"))]
mod tls;

use anyhow::{Result, bail};

use crate::qlog::Qlog;
use crate::stack::Endpoint;

/// A stack that this program has.
pub struct Stack {
    /// Name in scenarios.
    pub name: &'static str,
    /// Version of its package.
    pub version: &'static str,
    /// Names of its congestion controls.
    pub algorithms: &'static [&'static str],
    /// Makes the sender, with one of these.
    pub sender: fn(&str, Option<Qlog>) -> Result<Box<dyn Endpoint>>,
    /// Makes the receiver.
    pub receiver: fn(Option<Qlog>) -> Result<Box<dyn Endpoint>>,
}

/// Stacks in the order of documents.
pub const STACKS: &[Stack] = &[
    #[cfg(feature = "quinn")]
    quinn::STACK,
    #[cfg(feature = "noq")]
    noq::STACK,
    #[cfg(feature = "quiche")]
    quiche::STACK,
    #[cfg(feature = "s2n")]
    s2n::STACK,
];

/// The largest window of received data that is not read yet, for the stream and the connection: larger than the 6 MiB that
/// Linux's TCP gives a receiver by default, so that congestion control is the limit.
const RECEIVE_WINDOW: u32 = 16 << 20;
/// Name in the certificate.
const NAME: &str = "dumbbell";
const ALPN: &[u8] = b"dumbbell";

/// Version of a stack: that of its package, or of the tree that took the package's place when the program was built.
const fn version(package: &'static str, tree: Option<&'static str>) -> &'static str {
    match tree {
        Some(tree) => tree,
        None => package,
    }
}

/// Prepares libraries of stacks.
///
/// # Safety
/// The program has one thread.
pub unsafe fn prepare() {
    #[cfg(feature = "quiche")]
    // SAFETY: as above.
    unsafe {
        quiche::prepare();
    }
}

/// Lets libraries of stacks take the random bytes that they take once in a process.
pub fn try_randomness() {
    #[cfg(feature = "quiche")]
    quiche::try_randomness();
}

/// Finds a stack.
///
/// # Errors
/// This program does not have it.
pub fn named(name: &str) -> Result<&'static Stack> {
    match STACKS.iter().find(|stack| stack.name == name) {
        Some(stack) => Ok(stack),
        None => bail!("no stack {name}: there are {}", STACKS.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")),
    }
}
