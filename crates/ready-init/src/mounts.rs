//! The file systems of a guest. Its root is the image, in memory.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::MsFlags;

/// Mount what a lab needs.
pub(crate) fn mount() -> Result<()> {
    let plain = MsFlags::empty();
    mount_at("proc", "/proc", plain)?;
    mount_at("sysfs", "/sys", plain)?;
    mount_at("devtmpfs", "/dev", plain)?;
    for folder in ["/dev/shm", "/run", "/tmp", crate::RUN] {
        mount_at("tmpfs", folder, MsFlags::MS_NOSUID | MsFlags::MS_NODEV)?;
    }
    Ok(())
}

fn mount_at(kind: &str, target: &str, flags: MsFlags) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("making {target}"))?;
    nix::mount::mount(Some(kind), Path::new(target), Some(kind), flags, None::<&Path>)
        .with_context(|| format!("mounting {kind} at {target}"))
}
