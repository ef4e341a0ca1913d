use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, bail, ensure};
use messages::Failure;
use units::{Duration, Ip, Mtu};

use crate::algorithm::KERNEL;

/// The settings of a host's TCP, and some choices of ours. The defaults are Linux's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The MTU of the host's interface.
    pub mtu: Mtu,
    /// The version of IP that carries the segments.
    pub ip: Ip,
    /// Send trains of segments, as the kernel does whatever the device can; if not, each on its own.
    pub tso: bool,
    /// Timers fire at ticks, as the kernel's do; if not, when they are due.
    pub ticks: bool,
    /// Initial window, packets (RFC 6928).
    pub initial_cwnd: u32,
    /// `net.ipv4.tcp_min_tso_segs`, which congestion controls may override.
    pub min_tso_segs: Option<u32>,
    /// `net.ipv4.tcp_tso_win_divisor`: no train waits for company beyond this part of the window.
    pub tso_win_divisor: u32,
    /// `net.ipv4.tcp_tso_rtt_log`: each 2^this us of minimum RTT halve the bonus of short paths.
    pub tso_rtt_log: u32,
    /// `net.ipv4.tcp_slow_start_after_idle` (RFC 2861).
    pub slow_start_after_idle: bool,
    /// `net.ipv4.tcp_reordering`.
    pub reordering: u32,
    /// `net.ipv4.tcp_max_reordering`.
    pub max_reordering: u32,
    /// `net.ipv4.tcp_early_retrans`: tail loss probes (RFC 8985 section 7).
    pub loss_probes: bool,
    /// `net.ipv4.tcp_frto` (RFC 5682).
    pub frto: bool,
    /// `net.ipv4.tcp_pacing_ss_ratio`, percent.
    pub pacing_ss_ratio: u32,
    /// `net.ipv4.tcp_pacing_ca_ratio`, percent.
    pub pacing_ca_ratio: u32,
    /// `net.ipv4.tcp_comp_sack_nr`: SACKs that one may cover.
    pub comp_sack_nr: u32,
    /// `net.ipv4.tcp_comp_sack_delay_ns`.
    pub comp_sack_delay_ns: u32,
    /// `net.ipv4.tcp_comp_sack_slack_ns`: the timer of SACKs may be this late.
    pub comp_sack_slack_ns: u32,
    /// The memory for sending: the default of `net.ipv4.tcp_wmem`, bytes.
    pub send_buffer: u32,
    /// Most bytes of the send buffer: the maximum of `net.ipv4.tcp_wmem`.
    pub send_buffer_max: u32,
    /// Room for headers in each buffer that is sent, bytes: `MAX_TCP_HEADER`, which depends on what a kernel was built for.
    pub max_header: u32,
    /// An application takes a [step of the clock](READING) to read what came, as in a kernel in virtual time.
    pub reads_late: bool,
    /// The receive buffer: the default of `net.ipv4.tcp_rmem`, bytes.
    pub receive_buffer: u32,
    /// The largest size that it may grow to: the maximum of `net.ipv4.tcp_rmem`, bytes.
    pub receive_buffer_max: u32,
    /// The share of it that is offered as a window before the first frame shows what memory frames take, of 256: the
    /// kernel's `TCP_DEFAULT_SCALING_RATIO`.
    pub offered_at_first: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mtu: Mtu::default(),
            ip: Ip::default(),
            tso: true,
            ticks: true,
            initial_cwnd: 10,
            min_tso_segs: None,
            tso_win_divisor: 3,
            tso_rtt_log: 9,
            slow_start_after_idle: true,
            reordering: 3,
            max_reordering: 300,
            loss_probes: true,
            frto: true,
            pacing_ss_ratio: 200,
            pacing_ca_ratio: 120,
            comp_sack_nr: 44,
            comp_sack_delay_ns: 1_000_000,
            comp_sack_slack_ns: 100_000,
            send_buffer: 16_384,
            send_buffer_max: 4_194_304,
            max_header: HEADERS_OF_A_DISTRIBUTION,
            reads_late: false,
            receive_buffer: 131_072,
            receive_buffer_max: 6_291_456,
            offered_at_first: 128,
        }
    }
}

/// Settings that change nothing that is simulated: nothing is remembered between connections, and ECN is asked for by flow.
const WITHOUT_EFFECT: [&str; 3] = ["net.ipv4.tcp_ecn", "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_orphan_retries"];

/// [`max_header`](Settings::max_header) of a kernel that knows wireless meshes, or guests of Hyper-V, as those of distributions do.
const HEADERS_OF_A_DISTRIBUTION: u32 = 320;
/// [`max_header`](Settings::max_header) of the kernels that the engine of virtual time runs. Simulated hosts have it if the plan asks
/// for hosts like theirs.
pub(crate) const HEADERS_IN_VIRTUAL_TIME: u32 = 256;

/// The time from the arrival of data in a kernel in virtual time until the application has read them. Computing takes no time
/// there, but each look at the clock by a process does (`timer_read` of user-mode Linux), so that what waits for the clock gets
/// on. A read looks at it once before it sends an ACK: `tcp_rcv_space_adjust` before `tcp_cleanup_rbuf`.
pub(super) const READING: Duration = Duration(256);

impl Settings {
    /// Payload of a full segment, bytes.
    #[inline]
    pub const fn mss(&self) -> u32 {
        self.mtu.segment_bytes(self.ip)
    }

    /// The settings with a host's sysctls. Refuses settings that are not simulated.
    pub fn with_sysctls(mut self, sysctls: &BTreeMap<String, String>) -> Result<Settings> {
        for (name, value) in sysctls {
            self.set(name, value)?;
        }
        Ok(self)
    }

    /// The settings with one sysctl.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        self.take(name, value).map_err(|why| {
            let hint = if why.is::<Missing>() { KERNEL } else { "" };
            Failure::new(format!("sysctl {name} = {value}"), why).hint(hint)
        })
    }

    fn take(&mut self, name: &str, value: &str) -> Result<()> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        let Some(name) = name.strip_prefix("net.ipv4.") else { bail!(Missing::Setting) };
        match name {
            "tcp_rmem" => (self.receive_buffer, self.receive_buffer_max) = sizes(value)?,
            "tcp_wmem" => (self.send_buffer, self.send_buffer_max) = sizes(value)?,
            _ => return self.take_number(name, value),
        }
        Ok(())
    }

    fn take_number(&mut self, name: &str, value: &str) -> Result<()> {
        let Ok(number) = value.trim().parse::<u32>() else { bail!("expected an integer from 0 to {}", u32::MAX) };
        match name {
            // The network asks the plan for it.
            "ip_default_ttl" => ensure!((1..=255).contains(&number), "expected an integer from 1 to 255"),
            "tcp_min_tso_segs" => self.min_tso_segs = Some(number.max(1)),
            "tcp_tso_win_divisor" => self.tso_win_divisor = number,
            "tcp_tso_rtt_log" => self.tso_rtt_log = number.min(31),
            "tcp_slow_start_after_idle" => self.slow_start_after_idle = number != 0,
            "tcp_reordering" => self.reordering = number.max(1),
            "tcp_max_reordering" => self.max_reordering = number.max(1),
            "tcp_early_retrans" => self.loss_probes = number == 3 || number == 4,
            "tcp_frto" => self.frto = number != 0,
            "tcp_pacing_ss_ratio" => self.pacing_ss_ratio = number.min(1000),
            "tcp_pacing_ca_ratio" => self.pacing_ca_ratio = number.min(1000),
            "tcp_comp_sack_nr" => self.comp_sack_nr = number.min(255),
            "tcp_comp_sack_delay_ns" => self.comp_sack_delay_ns = number,
            "tcp_comp_sack_slack_ns" => self.comp_sack_slack_ns = number,
            "tcp_sack" | "tcp_dsack" | "tcp_timestamps" | "tcp_recovery" => {
                ensure!(number == 1, Missing::SwitchedOff);
            }
            _ => bail!(Missing::Setting),
        }
        Ok(())
    }
}

/// The default and the maximum of a buffer's three sizes.
fn sizes(value: &str) -> Result<(u32, u32)> {
    let sizes: Option<Vec<u32>> = value.split_whitespace().map(|size| size.parse().ok()).collect();
    let Some(&[_, default, max]) = sizes.as_deref() else {
        bail!("expected three integers: minimum, default, maximum")
    };
    ensure!(default >= 4096 && default <= max, "4096 bytes at least, and no default above the maximum");
    Ok((default, max))
}

/// Settings of the kernel that the simulator lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Setting,
    SwitchedOff,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Setting => "the simulator doesn't know this setting",
            Missing::SwitchedOff => "the simulator knows it only switched on",
        })
    }
}

impl std::error::Error for Missing {}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Settings> {
        Settings::default().with_sysctls(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn known_settings_are_taken_over() {
        assert_eq!(with("net.ipv4.tcp_rmem", "4096 6291456 8388608").unwrap().receive_buffer_max, 8_388_608);
        assert!(!with("net.ipv4.tcp_frto", "0").unwrap().frto);
        assert_eq!(with("net.ipv4.tcp_wmem", "4096 65536 8388608").unwrap().send_buffer, 65_536);
        assert_eq!(with("net.ipv4.tcp_ecn", "1").unwrap(), Settings::default());
    }

    /// Each changes what it names, to the values that the kernel allows, and nothing else.
    #[test]
    fn numbers_are_taken_over() {
        type Change = fn(&mut Settings);
        let changed: [(&str, &str, Change); 23] = [
            ("ip_default_ttl", "255", |_| ()),
            ("tcp_min_tso_segs", "0", |s| s.min_tso_segs = Some(1)),
            ("tcp_min_tso_segs", "7", |s| s.min_tso_segs = Some(7)),
            ("tcp_tso_win_divisor", "8", |s| s.tso_win_divisor = 8),
            ("tcp_tso_rtt_log", " 10 ", |s| s.tso_rtt_log = 10),
            ("tcp_tso_rtt_log", "32", |s| s.tso_rtt_log = 31),
            ("tcp_slow_start_after_idle", "0", |s| s.slow_start_after_idle = false),
            ("tcp_slow_start_after_idle", "2", |_| ()),
            ("tcp_reordering", "0", |s| s.reordering = 1),
            ("tcp_max_reordering", "0", |s| s.max_reordering = 1),
            ("tcp_early_retrans", "0", |s| s.loss_probes = false),
            ("tcp_early_retrans", "1", |s| s.loss_probes = false),
            ("tcp_early_retrans", "3", |_| ()),
            ("tcp_early_retrans", "4", |_| ()),
            ("tcp_frto", "0", |s| s.frto = false),
            ("tcp_frto", "2", |_| ()),
            ("tcp_pacing_ss_ratio", "1001", |s| s.pacing_ss_ratio = 1000),
            ("tcp_pacing_ca_ratio", "1001", |s| s.pacing_ca_ratio = 1000),
            ("tcp_comp_sack_nr", "256", |s| s.comp_sack_nr = 255),
            ("tcp_comp_sack_delay_ns", "0", |s| s.comp_sack_delay_ns = 0),
            ("tcp_comp_sack_slack_ns", "5", |s| s.comp_sack_slack_ns = 5),
            ("tcp_sack", "1", |_| ()),
            ("tcp_recovery", "1", |_| ()),
        ];
        for (name, value, change) in changed {
            let mut expected = Settings::default();
            change(&mut expected);
            assert_eq!(with(&format!("net.ipv4.{name}"), value).unwrap(), expected, "{name} = {value}");
        }
    }

    #[test]
    fn what_is_not_simulated_is_refused() {
        for (name, value) in [
            ("net.ipv4.tcp_sack", "0"),
            ("net.ipv4.tcp_rmem", "1 2"),
            ("net.ipv4.tcp_wmem", "1 2 3"),
            ("net.ipv4.tcp_frto", "x"),
            ("net.ipv4.ip_default_ttl", "0"),
            ("net.ipv4.ip_default_ttl", "256"),
            ("net.core.rmem_max", "1"),
            ("net.ipv4.tcp_thin_linear_timeouts", "1"),
        ] {
            assert!(with(name, value).is_err(), "{name}");
        }
        let refusal = |name, value| Failure::of(&with(name, value).unwrap_err());
        assert_eq!(refusal("net.core.rmem_max", "1").hint, KERNEL);
        assert_eq!(refusal("net.ipv4.tcp_frto", "x").hint, "");
    }
}
