//! A kernel's description of itself.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

const SETTINGS: &str = "/proc/sys/net";

/// The facts about a kernel that do not change from run to run.
#[derive(Serialize)]
pub(crate) struct Description {
    /// `6.12.117+deb12-cloud-amd64`.
    release: String,
    /// Names of congestion controls, as the kernel lists them.
    algorithms: Vec<String>,
    /// Settings of networks, sorted: `net.ipv4.tcp_ecn`.
    sysctls: Vec<String>,
    /// True if it describes its types, which BPF programs need.
    has_btf: bool,
}

/// Describe this kernel.
pub(crate) fn describe() -> Result<Description> {
    let mut sysctls = Vec::new();
    collect(Path::new(SETTINGS), &mut sysctls)?;
    sysctls.sort();
    Ok(Description {
        release: read("/proc/sys/kernel/osrelease")?,
        algorithms: read("/proc/sys/net/ipv4/tcp_available_congestion_control")?
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        sysctls,
        has_btf: Path::new("/sys/kernel/btf/vmlinux").exists(),
    })
}

fn collect(folder: &Path, into: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if let Some(name) = path.strip_prefix("/proc/sys").ok().and_then(Path::to_str) {
            into.push(name.replace('/', "."));
        }
    }
    Ok(())
}

fn read(file: &str) -> Result<String> {
    Ok(fs::read_to_string(file).with_context(|| format!("reading {file}"))?.trim().to_owned())
}
