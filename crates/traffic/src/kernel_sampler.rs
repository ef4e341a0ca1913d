//! Samples that the kernel takes, where it can: a user-mode kernel of ours does, as there each system call of a process
//! costs as much as a packet (`kernel/src/sampler.c`).

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use anyhow::{Context, Result};
use realtime::Clock;
use records::samples::{Account, Sample};
use units::{Duration, Time};

use crate::sink::Sink;
use crate::tcp_info::{BbrInfo, TcpInfo};

const SAMPLER: &str = "/proc/dumbbell/sampler";
/// Sockets that it samples at most.
pub const SOCKETS: usize = 2048;
/// Rows that are read at once.
const ROWS: usize = 1024;
/// The key of a sampling without sockets.
const NO_SOCKET: u32 = u32::MAX;

/// `struct dumbbell_sampled`.
#[repr(C)]
pub struct Sampled {
    socket: i32,
    sink: i32,
    key: u32,
}

/// `struct dumbbell_grid`.
#[repr(C)]
pub struct KernelGrid {
    first_ns: i64,
    interval_ns: i64,
    end_ns: i64,
}

/// `struct dumbbell_sample`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Row {
    time_ns: i64,
    received: u64,
    key: u32,
    info_bytes: u32,
    cc_bytes: u32,
    unused: u32,
    info: [u8; 320],
    cc: [u8; 32],
}

const EMPTY: Row =
    Row { time_ns: 0, received: 0, key: 0, info_bytes: 0, cc_bytes: 0, unused: 0, info: [0; 320], cc: [0; 32] };

nix::ioctl_write_ptr!(sample, b'd', 4, Sampled);
nix::ioctl_write_int_bad!(no_more, nix::request_code_none!(b'd', 5));
nix::ioctl_write_ptr!(grid, b'd', 6, KernelGrid);

/// The kernel's sampler of TCP senders, by their flows.
pub struct KernelSampler {
    file: File,
    /// The sender's port of each flow, and whether its algorithm is a BBR.
    sockets: HashMap<u32, (u16, bool)>,
    rows: Vec<Row>,
}

/// A point of the grid at which the kernel has sampled; a sample, if a flow had a socket then.
pub struct Taken {
    pub time: Time,
    pub sample: Option<Sample>,
}

impl KernelSampler {
    /// `None` if this kernel has none.
    pub fn open() -> Result<Option<KernelSampler>> {
        match File::open(SAMPLER) {
            Ok(file) => Ok(Some(KernelSampler { file, sockets: HashMap::new(), rows: vec![EMPTY; ROWS] })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(SAMPLER),
        }
    }

    /// Sample on a grid from time 0, to before `end`.
    pub fn start(&self, clock: Clock, interval: Duration, end: Time) -> Result<()> {
        let zero = clock.monotonic_ns(Time::ZERO);
        let asked = KernelGrid { first_ns: zero, interval_ns: interval.as_nanos(), end_ns: zero + end.as_nanos() };
        // SAFETY: a valid struct.
        unsafe { grid(self.file.as_raw_fd(), &asked) }.context("starting the kernel's sampler")?;
        Ok(())
    }

    /// Sample the flow's sender from now on, and what the sink at the other end has taken in.
    pub fn add(
        &mut self,
        flow: u32,
        sender: BorrowedFd<'_>,
        sink: Option<&Sink>,
        socket: u16,
        has_bbr: bool,
    ) -> Result<()> {
        let sink = sink.map_or(-1, |sink| sink.as_fd().as_raw_fd());
        // SAFETY: a valid struct.
        unsafe { sample(self.file.as_raw_fd(), &Sampled { socket: sender.as_raw_fd(), sink, key: flow }) }
            .context("adding a socket to the kernel's sampler")?;
        self.sockets.insert(flow, (socket, has_bbr));
        Ok(())
    }

    /// No more samples of the flow. Samples from before are still to be read.
    pub fn remove(&self, flow: u32) -> Result<()> {
        // SAFETY: a number, not a pointer.
        unsafe { no_more(self.file.as_raw_fd(), flow as i32) }
            .context("removing a socket from the kernel's sampler")?;
        Ok(())
    }

    /// The samples that have not been read yet.
    pub fn read(&mut self, clock: Clock, taken: &mut Vec<Taken>) -> Result<()> {
        loop {
            // SAFETY: plain integers without padding, so their bytes may be written.
            let bytes =
                unsafe { std::slice::from_raw_parts_mut(self.rows.as_mut_ptr().cast::<u8>(), size_of::<Row>() * ROWS) };
            let read = self.file.read(bytes).context(SAMPLER)? / size_of::<Row>();
            for row in &self.rows[..read] {
                let time = clock.at(row.time_ns);
                let sample = if row.key == NO_SOCKET { None } else { Some(self.sample(row, time)?) };
                taken.push(Taken { time, sample });
            }
            if read < ROWS {
                return Ok(());
            }
        }
    }

    fn sample(&self, row: &Row, time: Time) -> Result<Sample> {
        let &(socket, has_bbr) = self.sockets.get(&row.key).context("a sample of a flow that was not asked for")?;
        let info = TcpInfo::parse(&row.info[..row.info_bytes as usize])?;
        let bbr = has_bbr.then(|| BbrInfo::parse(&row.cc[..row.cc_bytes as usize])).flatten();
        Ok(Sample {
            time,
            flow: row.key as u16,
            socket,
            bytes_sent: info.bytes_sent,
            received_bytes: Some(row.received),
            lost_packets: info.lost,
            account: Some(Account::Tcp(info.sample(bbr))),
        })
    }
}

impl AsFd for KernelSampler {
    /// Readable once there are many rows.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_kernels() {
        let header = include_str!("../../../kernel/include/dumbbell/process.h");
        assert!(header.contains("__u8 info[320];") && header.contains("__u8 cc[32];"));
        assert_eq!((size_of::<Row>(), std::mem::offset_of!(Row, info)), (384, 32));
        assert_eq!((size_of::<Sampled>(), size_of::<KernelGrid>()), (12, 24));
    }
}
