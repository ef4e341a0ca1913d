//! The first process of a user-mode kernel: it mounts what a lab needs, becomes the helper of an emulated run, and
//! switches the kernel off.
//!
//! Each system call and page fault in there costs some microseconds outside, so it is one program, without an
//! interpreter. Root is the host's file system, read-only; of it the run's directory alone can be written to. The other
//! side is `python/dumbbell/engines/virtual/inside.py`.

mod absent;
mod mounts;
mod settings;
mod streams;

use std::env;
use std::io::{Write, stdout};
use std::path::Path;

use anyhow::{Context, Result};
use supervisor::Prepared;

use crate::settings::Settings;

/// Before `/sys` is mounted it shows the folder in which the guard prepares all that a kernel starts from.
const PLACE: &str = "/sys";

fn main() {
    let _off = PowerOff;
    if let Err(error) = run_orders() {
        eprintln!("{error:#}");
    }
}

/// Carry out `plan.json` of the run's directory.
fn run_orders() -> Result<()> {
    let settings = Settings::read(&Path::new(PLACE).join("settings"))?;
    mounts::mount(&settings.directory, &Path::new(PLACE).join("run"))?;
    streams::connect(&settings.directory)?;
    settings.take_over_environment();
    env::set_current_dir(&settings.folder).with_context(|| format!("entering {}", settings.folder.display()))?;
    supervisor::emulate_in_guest(&settings.directory, settings.live, Prepared::default());
    Ok(())
}

/// Switches the kernel off, whatever ends this process: without its first process a kernel panics.
struct PowerOff;

impl Drop for PowerOff {
    fn drop(&mut self) {
        let _ = stdout().flush();
        // SAFETY: it takes a number only.
        unsafe { libc::reboot(libc::RB_POWER_OFF) };
    }
}
