//! The memory that nobody uses.

use std::fs::read_to_string;
use std::ptr;

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;

/// Bytes that stay free meanwhile, so that the kernel need not look for a process to end.
const LEFT: usize = 48 << 20;
const PAGE: usize = 4096;

/// Clear free memory: what was there before, the image above all, would be a part of the snapshot. The kernel clears what it
/// gives to a process.
pub(crate) fn clear() -> Result<()> {
    let told = read_to_string("/proc/meminfo").context("asking for free memory")?;
    let length = free(&told).context("the kernel tells no free memory")?.saturating_sub(LEFT);
    if length == 0 {
        return Ok(());
    }
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory of our own.
    unsafe {
        let start = libc::mmap(ptr::null_mut(), length, access, flags, -1, 0);
        ensure!(start != libc::MAP_FAILED, "taking free memory: {}", Errno::last());
        for at in (0..length).step_by(PAGE) {
            start.cast::<u8>().add(at).write_volatile(0);
        }
        libc::munmap(start, length);
    }
    Ok(())
}

/// `MemFree` of /proc/meminfo, in bytes.
fn free(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemFree:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_a_line() {
        assert_eq!(free("MemTotal:  503500 kB\nMemFree:         421096 kB\n"), Some(421_096 << 10));
        assert_eq!(free("MemTotal:  503500 kB\n"), None);
    }
}
