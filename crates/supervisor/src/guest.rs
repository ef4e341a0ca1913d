//! Setup of a kernel that runs nothing but a lab.

use std::fs;

use anyhow::{Context, Result};

const MEMORY: &str = "/proc/meminfo";
const TCP_MEMORY: &str = "/proc/sys/net/ipv4/tcp_mem";

/// Let TCP take most of the memory. Linux gives it a sixteenth, for a machine that does other things, and a guest has little: beyond
/// that, receivers throw away what waits behind a hole, and their senders send it again.
pub(crate) fn give_tcp_its_memory() -> Result<()> {
    let memory = fs::read_to_string(MEMORY).with_context(|| format!("reading {MEMORY}"))?;
    fs::write(TCP_MEMORY, limits(&memory)?).with_context(|| format!("writing {TCP_MEMORY}"))
}

/// Pages: from where on TCP returns to normal, is under pressure, and gets nothing (`tcp_mem`).
fn limits(memory: &str) -> Result<String> {
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib: u64 = total
        .and_then(|total| total.trim().strip_suffix(" kB"))
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("{MEMORY} lacks MemTotal"))?;
    let pages = kib / 4;
    Ok(format!("{} {} {}", pages / 2, pages * 5 / 8, pages * 3 / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_may_take_three_quarters() {
        assert_eq!(limits("MemTotal:         409600 kB\nMemFree:            1000 kB\n").unwrap(), "51200 64000 76800");
        assert!(limits("MemFree: 1000 kB\n").is_err());
    }
}
