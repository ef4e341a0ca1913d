//! The C side: its structs, and the functions of BBR's core for each version.

use std::cell::Cell;
use std::ffi::{c_char, c_long, c_void};

use cc::Random;

/// `struct tcp_sock` of `include/dumbbell/kernel.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpSock {
    pub sk_pacing_rate: u64,
    pub sk_max_pacing_rate: u64,
    pub sk_pacing_shift: u32,
    pub is_pacing_requested: bool,
    pub ca_state: u8,
    pub tcp_mstamp: u64,
    pub tcp_clock_cache: u64,
    pub tcp_wstamp_ns: u64,
    pub delivered_mstamp: u64,
    pub snd_cwnd: u32,
    pub snd_cwnd_clamp: u32,
    pub snd_ssthresh: u32,
    pub packets_out: u32,
    pub retrans_out: u32,
    pub lost_out: u32,
    pub sacked_out: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub app_limited: u32,
    pub srtt_us: u32,
    pub min_rtt_us: u32,
    pub mss_cache: u32,
    pub lost: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub tlp_high_seq: u32,
    pub sent: [SkBuff; 9],
    pub retransmit_skb_hint: u8,
    pub highest_sack: u8,
    pub is_cwnd_limited: bool,
    pub tlp_retrans: bool,
    pub is_sack_reneg: bool,
    pub rate_app_limited: bool,
    pub snd_cwnd_cnt: u32,
    pub prior_cwnd: u32,
    pub max_packets_out: u32,
    pub icsk_ca_priv: [u64; 13],
}

/// `struct tcp_skb_cb`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SkbCb {
    pub end_seq: u32,
    pub tcp_gso_segs: u16,
    pub sacked: u8,
    pub tx: Tx,
}

/// `struct sk_buff`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SkBuff {
    pub cb: SkbCb,
    pub is_first: bool,
}

/// `struct tcp_skb_cb.tx`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tx {
    pub delivered: u32,
    pub is_app_limited: bool,
}

/// `struct rate_sample`.
#[repr(C)]
pub(crate) struct Sample {
    pub prior_delivered: u32,
    pub delivered: i32,
    pub delivered_ce: i32,
    pub interval_us: c_long,
    pub rtt_us: c_long,
    pub losses: i32,
    pub acked_sacked: u32,
    pub prior_in_flight: u32,
    pub last_end_seq: u32,
    pub is_app_limited: bool,
    pub is_ack_delayed: bool,
}

/// `struct bbr_ack` of `bbr/state.h`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct Ack {
    pub bw: u64,
    pub interval_us: i64,
    pub rtt_us: i64,
    pub prior_delivered: u32,
    pub delivered: i32,
    pub delivered_ce: i32,
    pub newly_lost: i32,
    pub lost: i32,
    pub newly_acked: u32,
    pub prior_in_flight: u32,
    pub tx_in_flight: u32,
    pub is_app_limited: bool,
    pub is_ack_delayed: bool,
    pub is_ece: bool,
    pub is_of_tlp: bool,
}

/// `struct bbr_lost_packet` of `bbr/state.h`.
#[repr(C)]
pub(crate) struct Lost {
    pub tx_in_flight: u32,
    pub lost: i32,
    pub segments: u32,
    pub is_app_limited: bool,
    pub was_sacked: bool,
}

/// `struct host_view` of `host.c`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct View {
    pub bw: u64,
    pub max_bw: u64,
    pub bw_lo: u64,
    pub bw_hi: u64,
    pub full_bw: u64,
    pub cycle_start: u64,
    pub min_rtt: u32,
    pub pacing_gain: u32,
    pub cwnd_gain: u32,
    pub inflight_lo: u32,
    pub inflight_hi: u32,
    pub extra_acked: u32,
    pub prior_cwnd: u32,
    pub round: u32,
    pub probes: u32,
    pub rounds_since_probe: u32,
    pub probe_wait: u32,
    pub ecn_alpha: u32,
    pub state: u8,
    pub ack_phase: u8,
    pub full_bw_reached: bool,
    pub ecn_eligible: bool,
    pub loss_in_round: bool,
    pub ecn_in_round: bool,
}

thread_local! {
    static RANDOM: Cell<Random> = const { Cell::new(Random::new(0)) };
}

/// Calls into C with this stream of random numbers.
pub(crate) fn with_random<R>(random: &mut Random, call: impl FnOnce() -> R) -> R {
    RANDOM.set(*random);
    let result = call();
    *random = RANDOM.get();
    result
}

// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn bbr_host_random_below(n: u32) -> u32 {
    let mut random = RANDOM.get();
    let drawn = random.below(n);
    RANDOM.set(random);
    drawn
}

/// Declares the functions of both versions, and a table with all functions.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?, $v2:literal, $v3:literal;)*) => {
        /// The functions of `host.c`, for one version.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        mod v2 {
            use super::*;
            unsafe extern "C" {
                $(#[link_name = $v2] pub(super) fn $name($(_: $argument),*) $(-> $result)?;)*
            }
        }

        mod v3 {
            use super::*;
            unsafe extern "C" {
                $(#[link_name = $v3] pub(super) fn $name($(_: $argument),*) $(-> $result)?;)*
            }
        }

        pub(crate) static V2: Functions = Functions { $($name: v2::$name,)* };
        pub(crate) static V3: Functions = Functions { $($name: v3::$name,)* };
    };
}

type Flow = *mut c_void;
type Sock = *mut TcpSock;

functions! {
    flow_size: fn() -> usize, "bbr2_flow_size", "bbr3_flow_size";
    use_defaults: fn(Flow), "bbr2_use_defaults", "bbr3_use_defaults";
    set_parameter: fn(Flow, *const c_char, u32) -> bool, "bbr2_set_parameter", "bbr3_set_parameter";
    get_parameter: fn(Flow, *const c_char, *mut u32) -> bool, "bbr2_get_parameter", "bbr3_get_parameter";
    begin: fn(Flow, Sock), "bbr2_begin", "bbr3_begin";
    on_ack: fn(Flow, Sock, *const Ack), "bbr2_on_ack", "bbr3_on_ack";
    begin_recovery: fn(Flow, Sock), "bbr2_begin_recovery", "bbr3_begin_recovery";
    change_ca_state: fn(Flow, Sock, u8), "bbr2_change_ca_state", "bbr3_change_ca_state";
    undo_recovery: fn(Flow, Sock) -> u32, "bbr2_undo_recovery", "bbr3_undo_recovery";
    packet_lost: fn(Flow, Sock, *const Lost), "bbr2_packet_lost", "bbr3_packet_lost";
    repaired_by_tlp: fn(Flow, Sock, bool), "bbr2_repaired_by_tlp", "bbr3_repaired_by_tlp";
    restart_from_idle: fn(Flow, Sock), "bbr2_restart_from_idle", "bbr3_restart_from_idle";
    train_floor: fn(*const TcpSock) -> u32, "bbr2_train_floor", "bbr3_train_floor";
    begin_transport: fn(Flow, Sock), "bbr2_begin_transport", "bbr3_begin_transport";
    take_ack: fn(Flow, Sock, *const Sample, bool, *mut Ack), "bbr2_take_ack", "bbr3_take_ack";
    take_losses: fn(Flow, Sock), "bbr2_take_losses", "bbr3_take_losses";
    take_ca_state: fn(Flow, Sock, u8), "bbr2_take_ca_state", "bbr3_take_ca_state";
    begin_sampling: fn(Flow), "bbr2_begin_sampling", "bbr3_begin_sampling";
    view: fn(*const c_void, *mut View), "bbr2_view", "bbr3_view";
    state: fn(*const c_void, *mut usize) -> *const u8, "bbr2_state", "bbr3_state";
}
