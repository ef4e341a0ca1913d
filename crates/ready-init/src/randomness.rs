//! The kernel's randomness: a stream of the run's seed.

use std::fs::File;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// `_IOW('R', 0x03, int[2])` and `_IO('R', 0x07)` of random(4).
const ADD_ENTROPY: libc::Ioctl = 0x4008_5203;
const RESEED: libc::Ioctl = 0x5207;

#[repr(C)]
struct Entropy {
    bits: i32,
    bytes: i32,
    pool: [u8; 32],
}

/// Make all that the kernel draws from now on follow from `seed`. All kernels of a snapshot have the same state before.
pub(crate) fn seed(seed: u64) -> Result<()> {
    let random = File::options().write(true).open("/dev/random").context("opening /dev/random")?;
    let mut pool = [0; 32];
    pool[..8].copy_from_slice(&seed.to_le_bytes());
    let entropy = Entropy { bits: 256, bytes: 32, pool };
    // SAFETY: the kernel reads the structure, which is as random(4) says.
    let added = unsafe { libc::ioctl(random.as_raw_fd(), ADD_ENTROPY, &entropy) };
    Errno::result(added).context("adding to the kernel's randomness")?;
    // SAFETY: it has no argument.
    Errno::result(unsafe { libc::ioctl(random.as_raw_fd(), RESEED) }).context("reseeding the kernel's randomness")?;
    Ok(())
}
