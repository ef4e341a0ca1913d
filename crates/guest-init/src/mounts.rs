//! The file systems of a guest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::MsFlags;

/// Mount what a lab needs, and the run's `directory` where it is outside; the kernel's process knows it as `own`.
pub(crate) fn mount(directory: &Path, own: &Path) -> Result<()> {
    let (plain, confined) = (MsFlags::empty(), MsFlags::MS_NOSUID | MsFlags::MS_NODEV);
    mount_at("proc", Path::new("/proc"), "proc", plain, None)?;
    mount_at("sys", Path::new("/sys"), "sysfs", plain, None)?;
    if !Path::new(crate::streams::ORDERS).exists() {
        mount_at("dev", Path::new("/dev"), "devtmpfs", plain, None)?;
    }
    fs::create_dir_all("/dev/shm").context("making /dev/shm")?;
    mount_at("shm", Path::new("/dev/shm"), "tmpfs", confined, None)?;
    // Programs may write below /tmp, into this kernel's memory. Files that are there already can be read.
    mount_at("run", Path::new("/run"), "tmpfs", confined, None)?;
    for folder in ["/run/upper", "/run/work"] {
        fs::create_dir(folder).with_context(|| format!("making {folder}"))?;
    }
    let layers = Path::new("lowerdir=/tmp,upperdir=/run/upper,workdir=/run/work");
    mount_at("tmp", Path::new("/tmp"), "overlay", plain, Some(layers))?;
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    mount_at("none", directory, "hostfs", plain, Some(own))
}

fn mount_at(source: &str, target: &Path, kind: &str, flags: MsFlags, data: Option<&Path>) -> Result<()> {
    nix::mount::mount(Some(source), target, Some(kind), flags, data)
        .with_context(|| format!("mounting {kind} at {}", target.display()))
}
