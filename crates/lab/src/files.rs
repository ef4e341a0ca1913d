//! The limit of open files of processes that hold many nodes.

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use plan::Plan;

/// The hint of a failure for which a process may open too few files: it has raised its own limit to the hard one already.
pub const HINT: &str =
    "raise the hard limit of open files, as root by `nofile` in /etc/security/limits.conf, or use fewer nodes";

/// The most files that the process has open which builds the nodes of a plan, and emulates its links.
pub fn of_nodes(plan: &Plan) -> u64 {
    // Each node has doors to its namespaces, and a socket for each of its interfaces. Some are for ourselves.
    (4 * plan.nodes.len() + plan.links.len() + 200) as u64
}

/// Lets this process open `needed` files, as far as its hard limit allows. The usual soft limit, 1,024, is that of 250 hosts.
/// Raised no further than needed: programs inherit it.
pub fn allow(needed: u64) -> Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft < needed.min(hard) {
        setrlimit(Resource::RLIMIT_NOFILE, needed.min(hard), hard).context("raising the limit of open files")?;
    }
    Ok(())
}
