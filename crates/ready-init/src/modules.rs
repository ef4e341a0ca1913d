//! The modules of a kernel.

use std::ffi::CStr;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// Load all modules of a folder, in the order of their names. One that the kernel refuses is left out: it says why in
/// its log.
pub(crate) fn load(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let mut files: Vec<_> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .with_context(|| format!("reading {}", folder.display()))?;
    files.sort();
    for file in files {
        let module = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
        let none: &CStr = c"";
        // SAFETY: the kernel reads `module`, whose length is given, and a text that ends with a zero.
        let done = unsafe { libc::syscall(libc::SYS_init_module, module.as_ptr(), module.len(), none.as_ptr()) };
        if let Err(error) = Errno::result(done)
            && error != Errno::EEXIST
        {
            eprintln!("{}: {error}", file.display());
        }
    }
    Ok(())
}
