//! The machine around the kernel: QEMU's own ports.

use std::arch::asm;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// The port of QEMU's device `pvpanic`, and the bit that says that the guest has panicked. With `-action panic=pause`
/// the machine stops at this very instruction, so that each snapshot is of the same state.
const PANIC: u16 = 0x505;
const PANICKED: u8 = 1;
/// The port of QEMU's device `isa-debug-exit`.
const EXIT: u16 = 0x501;

/// Stop the machine here. The call returns in each machine that goes on from the snapshot.
pub(crate) fn pause() -> Result<()> {
    put(PANIC, PANICKED)
}

/// End the machine here: to switch it off as its kernel does takes longer. The call does not return.
pub(crate) fn end() -> Result<()> {
    put(EXIT, 0)
}

fn put(port: u16, byte: u8) -> Result<()> {
    // SAFETY: it takes numbers only, and the port is QEMU's.
    Errno::result(unsafe { libc::ioperm(port.into(), 1, 1) }).context("reaching the machine's port")?;
    // SAFETY: the port is allowed now, and no memory is touched.
    unsafe { asm!("out dx, al", in("dx") port, in("al") byte, options(nomem, nostack, preserves_flags)) };
    Ok(())
}
