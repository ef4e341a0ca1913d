//! The number of times that the kernel has run an algorithm's programs, and the time that this took.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result};
use libbpf_rs::{MapCore, MapFlags, Object};
use libbpf_sys::{BPF_STATS_RUN_TIME, bpf_enable_stats, bpf_obj_get_info_by_fd, bpf_prog_info};
use serde::Serialize;

/// The kernel's counts of a program, while it counted (`bpf_prog_info`).
#[derive(Clone, Debug, Serialize)]
pub struct ProgramStatistics {
    /// The name in the source.
    pub name: String,
    /// The number of times that it ran.
    pub run_count: u64,
    /// The time of all these runs. About 60 ns per run of it are the counting itself.
    pub run_time_ns: u64,
    /// Instructions that the verifier has processed.
    pub verified_instructions: u32,
    /// Size of its machine code.
    pub jited_bytes: u32,
}

/// Lets the kernel count run times of all BPF programs for as long as the descriptor is open (BPF_ENABLE_STATS). Needs
/// CAP_SYS_ADMIN.
pub fn count_run_time() -> Result<OwnedFd> {
    // SAFETY: a plain system call that returns a new descriptor or a negative error.
    let fd = unsafe { bpf_enable_stats(BPF_STATS_RUN_TIME) };
    if fd < 0 {
        return Err(std::io::Error::from_raw_os_error(-fd)).context("enabling BPF run-time statistics");
    }
    // SAFETY: nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The statistics of each program of a loaded object.
pub fn statistics(object: &Object) -> Result<Vec<ProgramStatistics>> {
    let mut all = Vec::new();
    for program in object.progs() {
        // Programs of other variants were not loaded.
        if !program.autoload() {
            continue;
        }
        let mut info = bpf_prog_info::default();
        let mut size = size_of::<bpf_prog_info>() as u32;
        // SAFETY: `info` has room for `size` bytes, and zeros in it ask for no arrays.
        let code =
            unsafe { bpf_obj_get_info_by_fd(program.as_fd().as_raw_fd(), (&raw mut info).cast(), &raw mut size) };
        let name = program.name().to_string_lossy().into_owned();
        if code != 0 {
            let error = std::io::Error::from_raw_os_error(-code);
            return Err(error).with_context(|| format!("asking for the statistics of program {name}"));
        }
        all.push(ProgramStatistics {
            name,
            run_count: info.run_cnt,
            run_time_ns: info.run_time_ns,
            verified_instructions: info.verified_insns,
            jited_bytes: info.jited_prog_len,
        });
    }
    Ok(all)
}

/// Connections that an algorithm of ours had no memory for; `None` of one that doesn't count them.
pub(crate) fn stateless_flows(object: &Object) -> Result<Option<u64>> {
    let Some(map) = object.maps().find(|map| map.name() == OsStr::new("db_stateless")) else { return Ok(None) };
    let count = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).context("reading the count of flows without state")?;
    let count = count.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    Ok(Some(count.context("the count of flows without state is no number")?))
}
