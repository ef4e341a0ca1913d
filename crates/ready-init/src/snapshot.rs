//! The point at which a snapshot of the machine is taken.

use std::arch::asm;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// The port of QEMU's device `pvpanic`, and the bit that says that the guest has panicked. With `-action panic=pause`
/// the machine stops at this very instruction, so that each snapshot is of the same state.
const PORT: u16 = 0x505;
const PANICKED: u8 = 1;

/// Stop the machine here. The call returns in each machine that goes on from the snapshot.
pub(crate) fn pause() -> Result<()> {
    // SAFETY: it takes numbers only, and the port is QEMU's.
    Errno::result(unsafe { libc::ioperm(PORT.into(), 1, 1) }).context("reaching the machine's port")?;
    // SAFETY: the port is allowed now, and no memory is touched.
    unsafe { asm!("out dx, al", in("dx") PORT, in("al") PANICKED, options(nomem, nostack, preserves_flags)) };
    Ok(())
}
