//! A kernel of ours that writes rows itself, without programs (`kernel/src/acks.c`).

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};

use crate::raw::RawAck;
use crate::senders::Sender;

const ACKS: &str = "/proc/dumbbell/acks";
const LOST: &str = "/proc/dumbbell/acks_lost";
/// Rows of the kernel's ring: `DUMBBELL_ACK_ROWS`.
const RING_ROWS: usize = 1 << 17;
/// Rows that are read at once.
const ROWS: usize = 4096;

/// The running kernel's ring of rows. It is there until all processes have closed it.
#[derive(Debug)]
pub struct Device(File);

impl Device {
    /// The running kernel's, if it writes rows. They are recorded from now on, of no sender so far.
    pub(crate) fn find() -> Result<Option<Device>> {
        match File::options().read(true).write(true).open(ACKS) {
            Ok(file) => Ok(Some(Device(file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(ACKS),
        }
    }

    pub(crate) fn watch<'a>(&self, senders: impl Iterator<Item = &'a Sender>) -> Result<()> {
        let keys: Vec<u8> = senders.flat_map(Sender::key).collect();
        (&self.0).write_all(&keys).context("telling the kernel the run's senders")
    }

    /// Hands over all rows that are there.
    pub(crate) fn read(&self, mut take: impl FnMut(&[u8])) -> Result<()> {
        let mut rows = vec![0; ROWS * size_of::<RawAck>()];
        loop {
            let bytes = (&self.0).read(&mut rows).with_context(|| format!("reading {ACKS}"))?;
            if bytes == 0 {
                return Ok(());
            }
            rows[..bytes].chunks_exact(size_of::<RawAck>()).for_each(&mut take);
        }
    }

    /// Rows that found the ring full.
    pub(crate) fn lost(&self) -> Result<u64> {
        let text = fs::read_to_string(LOST).context(LOST)?;
        text.trim().parse().with_context(|| format!("{LOST} has no number: {text}"))
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        (RING_ROWS * size_of::<RawAck>()) as u64
    }
}

impl AsFd for Device {
    /// Readable once there are many rows.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_as_long_as_the_kernels() {
        let header = include_str!("../../../kernel/include/dumbbell/process.h");
        assert!(header.contains("#define DUMBBELL_ACK_ROWS (1 << 17)"));
        assert_eq!(RING_ROWS, 1 << 17);
    }
}
