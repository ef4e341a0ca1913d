//! A path between two hosts, by the project's own emulator.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result, ensure};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use plan::{Buffer, Distribution, Emulate, Flow, Jitter, Link, Loss, Node, Plan, Record, Workload};
use units::{Duration, Rate, Time};

#[derive(Clone, Copy)]
pub struct Path {
    pub rate_mbps: u64,
    pub rtt_ms: i64,
    pub seconds: i64,
    pub flows: u16,
    /// The buffer in bandwidth-delay products; 100 kB at least.
    pub buffer_bdp: u64,
    /// Probability of a packet's loss.
    pub loss: f64,
    /// The greatest additional delay of a packet; those behind it overtake it.
    pub reordering_ms: i64,
}

impl Default for Path {
    fn default() -> Path {
        Path { rate_mbps: 50, rtt_ms: 20, seconds: 4, flows: 1, buffer_bdp: 1, loss: 0.0, reordering_ms: 0 }
    }
}

/// Drives flows of the congestion control `cc` over the path.
pub fn run(path: &Path, cc: &str) -> Result<()> {
    let dir = tempfile::tempdir().context("making a directory")?;
    let plan = serde_json::to_vec(&path.plan(cc)).context("writing the plan")?;
    std::fs::write(dir.path().join("plan.json"), plan)?;
    let said = File::create(dir.path().join("events"))?;
    // The lab takes the end of its standard input for an order to end.
    let (control, held) = pipe()?;
    // SAFETY: this program has one thread.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(held);
            // SAFETY: both are descriptors of ours.
            unsafe {
                libc::dup2(control.as_raw_fd(), 0);
                libc::dup2(said.as_raw_fd(), 1);
            }
            let code = supervisor::emulate(dir.path(), false);
            // SAFETY: ends the process; what the parent registered to run at its end is the parent's.
            unsafe { libc::_exit(code) }
        }
        ForkResult::Parent { child } => {
            let ended = waitpid(child, None)?;
            let events = std::fs::read_to_string(dir.path().join("events"))?;
            ensure!(matches!(ended, WaitStatus::Exited(_, 0)), "the run failed:\n{events}");
            Ok(())
        }
    }
}

impl Path {
    fn plan(&self, cc: &str) -> Plan {
        let half = Duration::from_micros(self.rtt_ms * 500);
        let bdp_bytes = self.rate_mbps * self.rtt_ms as u64 * 125;
        let mut there = Link::transparent("bottleneck", "s", "r");
        there.rate_bps = Rate::from_bps(self.rate_mbps * 1_000_000);
        there.delay_ns = half;
        there.buffer = Buffer::Bytes((self.buffer_bdp * bdp_bytes).max(100_000));
        if self.loss > 0.0 {
            there.loss_before = vec![Loss::Independent { probability: self.loss }];
        }
        if self.reordering_ms > 0 {
            let (min_ns, max_ns) = (Duration::ZERO, Duration::from_millis(self.reordering_ms));
            there.jitter = Some(Jitter { distribution: Distribution::Uniform { min_ns, max_ns }, correlation: 0.0 });
            there.reordering = true;
        }
        let mut back = Link::transparent("back", "r", "s");
        back.delay_ns = half;
        let memory = 8 * bdp_bytes + 4_000_000;
        let sysctl: BTreeMap<String, String> = [
            ("net.ipv4.tcp_rmem", format!("4096 {memory} {memory}")),
            ("net.ipv4.tcp_wmem", format!("4096 16384 {memory}")),
            ("net.ipv4.tcp_no_metrics_save", "1".into()),
        ]
        .map(|(key, value)| (key.into(), value))
        .into();
        let host = |name: &str, last| Node::Host {
            private: Vec::new(),
            cpus: Vec::new(),
            cpu_ppm: None,
            name: name.into(),
            address: Ipv4Addr::new(10, 0, 0, last),
            sysctl: sysctl.clone(),
            interfaces: Vec::new(),
            routes: Vec::new(),
        };
        let end = Time::ZERO + Duration::from_secs(self.seconds);
        let flow = |n| Flow {
            id: format!("f{n}"),
            group: None,
            from: "s".into(),
            to: "r".into(),
            start_ns: Time::ZERO,
            stop_ns: end,
            port: 5000 + n,
            ip: units::Ip::V4,
            workload: Workload::Tcp { cc: cc.into(), bytes: None, ecn: false, on_off: None },
        };
        Plan {
            name: "oracle".into(),
            duration_ns: end - Time::ZERO,
            seed: 1,
            nodes: vec![host("s", 1), host("r", 2)],
            links: vec![there, back],
            events: Vec::new(),
            algorithms: Vec::new(),
            flows: (1..=self.flows).map(flow).collect(),
            record: Record {
                sample_interval_ns: Duration::from_millis(100),
                packets: false,
                acks: plan::Acks::Off,
                capture: false,
            },
            emulate: Emulate {
                ring_bytes: 64 << 20,
                spin_ns: Duration::ZERO,
                arena_bytes: 256 << 20,
                path: plan::EmulatePath::Wire,
                merge_ns: Duration::ZERO,
                whole_bursts: false,
                cpus: None,
                kernel: None,
                kernel_sha256: None,
                quic_sha256: None,
                links: None,
            },
            simulate: plan::Simulate::default(),
            changeable: false,
            mtu: units::Mtu::default(),
            neighbours: plan::Neighbours::default(),
            spread: plan::Spread::default(),
            anycast: Vec::new(),
            wait: None,
            daemon_events: Vec::new(),
            programs: Vec::new(),
        }
    }
}
