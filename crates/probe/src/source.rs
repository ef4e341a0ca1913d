//! The sources of rows: BPF programs in the kernel of the machine, or a kernel of ours in virtual time.

use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use bpf::ProgramStatistics;
use libbpf_rs::{RingBuffer, RingBufferBuilder};
use nix::poll::PollTimeout;

use crate::device::Device;
use crate::kernel::Probe;
use crate::programs::Programs;
use crate::senders::Sender;

/// Time between two reads of a BPF program's ring: rare enough to cost next to nothing, frequent enough that the ring is
/// never near full.
const INTERVAL_MS: u8 = 20;
/// Header that the kernel puts before each record of a BPF program's ring.
const HEADER_BYTES: u64 = 8;

/// The source of rows.
#[derive(Debug)]
pub enum Source<'a> {
    /// The probe's programs, and those algorithms of the run that write rows themselves.
    Programs(&'a Probe, Programs<'a>),
    /// A kernel of ours, whose own code writes rows.
    Device(&'a Device),
}

impl Source<'_> {
    /// Starts to record `senders`.
    pub(crate) fn watch<'s>(&self, senders: impl Iterator<Item = &'s Sender> + Clone) -> Result<()> {
        match self {
            Source::Programs(probe, programs) => {
                probe.watch(senders.clone(), programs)?;
                programs.watch(senders)
            }
            Source::Device(device) => device.watch(senders),
        }
    }

    /// The longest wait between two reads, and the file that ends it early.
    pub(crate) fn pace(&self) -> (PollTimeout, Option<BorrowedFd<'_>>) {
        match self {
            Source::Programs(..) => (PollTimeout::from(INTERVAL_MS), None),
            Source::Device(device) => (PollTimeout::NONE, Some(device.as_fd())),
        }
    }

    /// Rows that found the ring full.
    pub(crate) fn lost(&self) -> Result<u64> {
        match self {
            Source::Programs(probe, programs) => Ok(probe.lost()? + programs.lost()?),
            Source::Device(device) => device.lost(),
        }
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        match self {
            Source::Programs(probe, _) => probe.ring_bytes(),
            Source::Device(device) => device.ring_bytes(),
        }
    }

    /// Cost of the probe's programs so far, if there are any and the kernel counts it.
    pub(crate) fn cost(&self) -> Result<Vec<ProgramStatistics>> {
        match self {
            Source::Programs(probe, _) => probe.cost(),
            Source::Device(_) => Ok(Vec::new()),
        }
    }

    /// Hands rows to `take`, each with the bytes that it took of the ring.
    pub(crate) fn reader<'t>(&'t self, mut take: impl FnMut(&[u8], u64) + 't) -> Result<Reader<'t>> {
        Ok(match self {
            Source::Programs(probe, _) => {
                let mut ring = RingBufferBuilder::new();
                ring.add(probe.ring().map(), move |record| {
                    take(record, HEADER_BYTES + record.len() as u64);
                    0
                })?;
                Reader::Ring(ring.build().context("mapping the ring of rows")?)
            }
            Source::Device(device) => Reader::Device(device, Box::new(take)),
        })
    }
}

/// Takes a row, and the bytes that it took of the ring.
type Take<'t> = Box<dyn FnMut(&[u8], u64) + 't>;

/// Reads what is there.
pub(crate) enum Reader<'t> {
    Ring(RingBuffer<'t>),
    Device(&'t Device, Take<'t>),
}

impl Reader<'_> {
    pub(crate) fn read(&mut self) -> Result<()> {
        match self {
            Reader::Ring(ring) => ring.consume().context("reading the ring of rows"),
            Reader::Device(device, take) => device.read(|row| take(row, row.len() as u64)),
        }
    }
}
