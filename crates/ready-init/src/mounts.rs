//! The file systems of a guest. Its root is the image, in memory.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::MsFlags;

/// Mount what a lab needs.
pub(crate) fn mount() -> Result<()> {
    let plain = MsFlags::empty();
    one("proc", "/proc", plain)?;
    one("sysfs", "/sys", plain)?;
    one("devtmpfs", "/dev", plain)?;
    for folder in ["/dev/shm", "/run", "/tmp", crate::RUN] {
        one("tmpfs", folder, MsFlags::MS_NOSUID | MsFlags::MS_NODEV)?;
    }
    Ok(())
}

fn one(kind: &str, target: &str, flags: MsFlags) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("making {target}"))?;
    nix::mount::mount(Some(kind), Path::new(target), Some(kind), flags, None::<&Path>)
        .with_context(|| format!("mounting {kind} at {target}"))
}
