//! The ring buffer through which a row per ACK leaves the kernel.

use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use libbpf_rs::{MapHandle, MapType};
use libbpf_sys::bpf_map_create_opts;

/// A ring buffer in the kernel (BPF_MAP_TYPE_RINGBUF). Algorithms and the probe write to the same one.
#[derive(Debug)]
pub struct AckRing(MapHandle);

impl AckRing {
    /// A ring of so many bytes: a power of two, and whole pages.
    pub fn create(bytes: u32) -> Result<AckRing> {
        let options = bpf_map_create_opts { sz: size_of::<bpf_map_create_opts>() as u64, ..Default::default() };
        let map = MapHandle::create(MapType::RingBuf, Some("db_acks"), 0, 0, bytes, &options)
            .with_context(|| format!("creating a ring buffer of {bytes} bytes for ACKs"))?;
        Ok(AckRing(map))
    }

    /// The map as libbpf's ring buffer reader needs it.
    pub fn map(&self) -> &MapHandle {
        &self.0
    }
}

impl AsFd for AckRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
