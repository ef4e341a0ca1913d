use std::path::Path;

use anyhow::{Context, Result};
use realtime::{Quantiles, Scheduling};
use records::accounts::LinkReport;
use serde::Serialize;
use units::{Duration, Time};

/// `emulator.json`: the evidence of how faithfully the links were emulated.
#[derive(Debug, Serialize)]
pub struct EmulatorReport {
    /// Lateness of packets handed to their hosts.
    pub lateness_us: Quantiles,
    /// Packets that were more than 1 ms late.
    pub late_over_1ms: u64,
    /// Packets handed to hosts.
    pub sent_packets: u64,
    /// Time from the kernel's stamp to the emulator's reading.
    pub read_lag_us: Quantiles,
    /// Packets read from the ring.
    pub ring_packets: u64,
    /// Packets that found the ring full.
    pub ring_drops: u64,
    /// Room for packets inside the links.
    pub arena_bytes: u64,
    /// The most of it that was used.
    pub arena_peak_bytes: u64,
    /// Packets that found no room.
    pub arena_overflows: u64,
    /// CPU time of the emulating thread.
    pub cpu_s: f64,
    /// Time that it waited for a CPU, where the kernel tells.
    pub run_delay_s: Option<f64>,
    /// Number of times that it got a CPU.
    pub scheduled: Option<u64>,
    /// Time from the first moment at which packets could arrive to the last packet sent.
    pub wall_s: f64,
    /// Jumps of the wall clock.
    pub clock_steps: Vec<ClockStep>,
    /// Frames that a host's interface refused.
    pub send_errors: u64,
    /// The last refusal in words.
    pub send_error: Option<String>,
    /// In a core network: frames to no host of the plan, or not IPv4.
    pub unroutable_packets: u64,
    /// Frames larger than a wire-size packet, and no bursts that can be taken apart; on the wire path: a host's
    /// segmentation offload is on.
    pub oversize_packets: u64,
    /// Frames without a checksum that the emulator doesn't know how to complete; on the wire path: a host's checksum
    /// offload is on.
    pub checksum_missing: u64,
    /// The way of packets across the boundary to the kernel.
    pub path: plan::EmulatePath,
    /// Frames taken in; on the GSO path a frame may be a burst of segments.
    pub bursts_in: u64,
    /// Frames of wire size that they were.
    pub segments_in: u64,
    /// Frames handed to hosts.
    pub bursts_out: u64,
    /// Frames that came before time 0, while routing converged or before a lab was recorded, and were handed to nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_frames: Option<u64>,
    /// Frames of wire size that they were.
    pub segments_out: u64,
    /// Packets that entered the network of links.
    pub entered_packets: u64,
    /// Packets that came out of it.
    pub left_packets: u64,
    /// Frames that came out at an interface without carrier.
    #[serde(skip_serializing_if = "is_none_at_all")]
    pub without_carrier: u64,
    /// Packets that were dropped or lost in it.
    pub dropped_packets: u64,
    /// Copies that its links made.
    pub duplicated_packets: u64,
    /// Copies that switches of a lab network made.
    pub flooded_packets: u64,
    /// Packets that switches had no link for: their receivers were where they came from.
    pub filtered_packets: u64,
    /// Packets in it at the end.
    pub inside_packets: u64,
    /// Link by link.
    pub links: Vec<LinkReport>,
    /// Scheduling of the emulating thread.
    pub scheduling: Scheduling,
    /// Part of `cpu_s`: busy-waited.
    pub spun_s: f64,
    /// Time that it busy-waited before a packet was due, at the end of the run.
    pub spin_us: f64,
    /// Cost of writing `packets`.
    pub writer: records::WriterStats,
}

impl EmulatorReport {
    /// Write it as `emulator.json` into `dir`.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).context("spelling emulator.json")?;
        std::fs::write(dir.join("emulator.json"), text).context("writing emulator.json")
    }
}

fn is_none_at_all(count: &u64) -> bool {
    *count == 0
}

/// A jump of CLOCK_REALTIME against CLOCK_MONOTONIC.
#[derive(Debug, Serialize)]
pub struct ClockStep {
    /// The time at which it was noticed.
    pub time_ns: i64,
    /// Size of the step.
    pub step_ns: i64,
}

impl From<&(Time, Duration)> for ClockStep {
    fn from((time, step): &(Time, Duration)) -> ClockStep {
        ClockStep { time_ns: time.as_nanos(), step_ns: step.as_nanos() }
    }
}
