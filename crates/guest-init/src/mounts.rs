//! The file systems of a guest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::mount::MsFlags;

/// Mount what a lab needs, and the run's `directory` where it is outside; the kernel's process knows it as `own`.
pub(crate) fn mount(directory: &Path, own: &Path) -> Result<()> {
    let (plain, confined) = (MsFlags::empty(), MsFlags::MS_NOSUID | MsFlags::MS_NODEV);
    one("proc", Path::new("/proc"), "proc", plain, None)?;
    one("sys", Path::new("/sys"), "sysfs", plain, None)?;
    if !Path::new(crate::streams::ORDERS).exists() {
        one("dev", Path::new("/dev"), "devtmpfs", plain, None)?;
    }
    fs::create_dir_all("/dev/shm").context("making /dev/shm")?;
    one("shm", Path::new("/dev/shm"), "tmpfs", confined, None)?;
    // Programs may write below /tmp, into this kernel's memory. Files that are there already can be read.
    one("run", Path::new("/run"), "tmpfs", confined, None)?;
    for folder in ["/run/upper", "/run/work"] {
        fs::create_dir(folder).with_context(|| format!("making {folder}"))?;
    }
    let layers = Path::new("lowerdir=/tmp,upperdir=/run/upper,workdir=/run/work");
    one("tmp", Path::new("/tmp"), "overlay", plain, Some(layers))?;
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    one("none", directory, "hostfs", plain, Some(own))
}

fn one(source: &str, target: &Path, kind: &str, flags: MsFlags, data: Option<&Path>) -> Result<()> {
    nix::mount::mount(Some(source), target, Some(kind), flags, data)
        .with_context(|| format!("mounting {kind} at {}", target.display()))
}
