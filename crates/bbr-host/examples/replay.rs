//! Replays what a congestion control in a kernel was told, call by call, and compares what it makes of it: `replay NAME FILE`.
//!
//! FILE is `/proc/traced` of a kernel with `tests/system/traced.h`. BBR is the core of the same source, compiled for this
//! machine: its whole state must be the same, to the last byte. Others are those of the crate `cc`: what they publish must be
//! the same. So must be, for all, each answer and each thing that they may write to the connection.

use std::collections::HashMap;
use std::mem::offset_of;
use std::process::ExitCode;

use bbr_host::{Mainline, SentPacket};
use cc::bbr::Parameters;
use cc::{AckSample, CaEvent, CaState, CongestionControl, EcnFlags, RateSample, Socket, State, Value};

/// `struct traced_call`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Call {
    tcp_mstamp: u64,
    tcp_clock_cache: u64,
    tcp_wstamp_ns: u64,
    delivered_mstamp: u64,
    pacing_rate: u64,
    max_pacing_rate: u64,
    interval_us: i64,
    rtt_us: i64,
    random: u64,
    after_pacing_rate: u64,
    callback: u32,
    argument: u32,
    acked: u32,
    result: u32,
    jiffies: u32,
    lsndtime: u32,
    flags: u32,
    ca_state: u32,
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_cwnd_clamp: u32,
    snd_ssthresh: u32,
    prior_cwnd: u32,
    max_packets_out: u32,
    snd_una: u32,
    snd_nxt: u32,
    packets_out: u32,
    retrans_out: u32,
    lost_out: u32,
    sacked_out: u32,
    delivered: u32,
    delivered_ce: u32,
    lost: u32,
    app_limited: u32,
    srtt_us: u32,
    min_rtt_us: u32,
    mss_cache: u32,
    pacing_shift: u32,
    gso_max_size: u32,
    tlp_high_seq: u32,
    sent_count: u32,
    newly_lost_end_seq: u32,
    found_lost_end_seq: u32,
    sample_prior_delivered: u32,
    sample_delivered: i32,
    sample_delivered_ce: i32,
    sample_losses: i32,
    sample_acked_sacked: u32,
    sample_prior_in_flight: u32,
    sample_last_end_seq: u32,
    after_cwnd: u32,
    after_cwnd_cnt: u32,
    after_ssthresh: u32,
    after_app_limited: u32,
    state_bytes: u32,
    socket: u32,
    sent: [Sent; 9],
    unused: u32,
    state: [u8; 512],
}

/// `struct traced_packet`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sent {
    end_seq: u32,
    delivered: u32,
    segments: u16,
    sacked: u8,
    is_app_limited: u8,
}

const _: () = assert!(size_of::<Call>() == offset_of!(Call, state) + 512, "the kernel's has no padding");

const CALLBACKS: [&str; 9] = [
    "init",
    "ssthresh",
    "cong_avoid",
    "cong_control",
    "set_state",
    "cwnd_event",
    "in_ack_event",
    "pkts_acked",
    "undo_cwnd",
];
const CWND_LIMITED: u32 = 1;
const PACING_NEEDED: u32 = 2;
const TLP_RETRANS: u32 = 4;
const SACK_RENEG: u32 = 8;
const HAS_HINT: u32 = 16;
const HAS_NEWLY_LOST: u32 = 32;
const SAMPLE_APP_LIMITED: u32 = 64;
const SAMPLE_ACK_DELAYED: u32 = 128;
const ECN_NEGOTIATED: u32 = 256;

/// `TCP_INFINITE_SSTHRESH`; the crate `cc` has all ones.
const INFINITE: u32 = 0x7fff_ffff;
/// A tick of the kernel's timer, us.
const TICK_US: u64 = 4000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, file] = &arguments[..] else { panic!("replay NAME FILE") };
    let bytes = std::fs::read(file).expect("a readable trace");
    assert_eq!(bytes.len() % size_of::<Call>(), 0, "whole calls");
    // SAFETY: a call is integers without padding: any bytes are one.
    let calls =
        bytes.chunks_exact(size_of::<Call>()).map(|one| unsafe { one.as_ptr().cast::<Call>().read_unaligned() });
    let mut twins = HashMap::new();
    let (mut number, mut different) = (0, 0);
    let (mut lost, mut mistaken) = (0, 0);
    for call in calls {
        // A receiver's first ACK comes before the algorithm's beginning. One without a state has none.
        if CALLBACKS[call.callback as usize] == "init" || call.state_bytes == 0 {
            twins.insert(call.socket, Twin::named(name));
        }
        let Some(twin) = twins.get_mut(&call.socket) else { continue };
        number += 1;
        // After a timeout it is not known which one was lost first, and in STARTUP it doesn't matter.
        if call.has(HAS_NEWLY_LOST) && call.has(HAS_HINT) && twin.has_filled_pipe() {
            lost += 1;
            if call.found_lost_end_seq != call.newly_lost_end_seq {
                mistaken += 1;
                if mistaken <= 10 {
                    println!("call {number}: {}", call.search());
                }
            }
        }
        let found = twin.differences(&call);
        if !found.is_empty() {
            different += 1;
            if different <= 10 {
                println!("call {number}, {}: {}", CALLBACKS[call.callback as usize], found.join(", "));
            }
        }
    }
    println!("{number} calls, {different} different");
    println!("{lost} losses, {mistaken} of them taken for that of another packet");
    ExitCode::from(u8::from(different > 0 || number == 0 || mistaken * 20 > lost))
}

/// The implementation that the calls are replayed on.
enum Twin {
    Bbr(Box<Mainline>),
    Other(Box<dyn CongestionControl>),
}

impl Twin {
    fn named(label: &str) -> Twin {
        let bbr = |parameters| Twin::Bbr(Box::new(Mainline::new(&parameters)));
        match label {
            "bbr2" => bbr(Parameters::v2()),
            "bbr3" => bbr(Parameters::v3()),
            "bbr3-draft" => bbr(Parameters::v3_draft()),
            _ => Twin::Other(cc::twin_of(label).and_then(cc::create).expect("an algorithm of dumbbell")),
        }
    }

    /// Returns true if the algorithm is BBR and its STARTUP is over.
    fn has_filled_pipe(&self) -> bool {
        let Twin::Bbr(bbr) = self else { return false };
        let mut found = false;
        bbr.publish(&mut |column| {
            found |= column.name == "bbr.full_bw_reached" && matches!(column.value, Value::Bool(true));
        });
        found
    }

    /// Makes the call here, and says what differs after it.
    fn differences(&mut self, call: &Call) -> Vec<String> {
        let sk = &mut call.socket();
        let result = match self {
            Twin::Bbr(bbr) => {
                bbr.set_tlp(call.tlp_high_seq, call.has(TLP_RETRANS));
                bbr.set_sack_reneg(call.has(SACK_RENEG));
                if call.has(HAS_HINT) {
                    let sent = call.sent();
                    let above_sacked = sent.len() - 1;
                    bbr.set_sent(&sent, Some(0), (above_sacked > 0).then_some(above_sacked));
                }
                call.make(&mut **bbr, sk)
            }
            Twin::Other(other) => call.make(&mut **other, sk),
        };
        let mut found = Vec::new();
        let mut compare = |what: &str, here: u64, there: u64| {
            if here != there {
                found.push(format!("{what} is {here} here and {there} in the kernel"));
            }
        };
        compare("the answer", finite(result).into(), call.result.into());
        compare("cwnd", sk.snd_cwnd.into(), call.after_cwnd.into());
        compare("cwnd_cnt", sk.snd_cwnd_cnt.into(), call.after_cwnd_cnt.into());
        compare("ssthresh", finite(sk.snd_ssthresh).into(), call.after_ssthresh.into());
        compare("app_limited", sk.app_limited.into(), call.after_app_limited.into());
        compare("the pacing rate", sk.sk_pacing_rate, call.after_pacing_rate);
        let state = &call.state[..call.state_bytes as usize];
        match self {
            Twin::Bbr(bbr) => {
                compare("the state's size", bbr.bytes().len() as u64, state.len() as u64);
                for (at, (&here, &there)) in bbr.bytes().iter().zip(state).enumerate() {
                    compare(&format!("byte {at} of the state"), here.into(), there.into());
                }
            }
            Twin::Other(other) => {
                let words = state.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes")));
                for (name, here, there) in published(other.state(), words) {
                    compare(name, here.into(), there.into());
                }
            }
        }
        found
    }
}

/// The values of `state` beside those that the kernel has published, by column.
fn published(state: State, mut words: impl Iterator<Item = u32>) -> Vec<(&'static str, u32, u32)> {
    let of = |set: &&cc::state::StateSet| set.columns.iter().any(|column| column.is_of(&state));
    let Some(set) = cc::state::STATE_SETS.iter().find(of) else { return Vec::new() };
    let number = 1 + cc::state::STATE_SETS.iter().position(|one| one == set).expect("just found") as u8;
    let there = State::published(number, std::array::from_fn(|_| words.next().unwrap_or(cc::state::NONE)));
    let there = there.expect("words that are known");
    let none = cc::state::NONE;
    let both = |column: &cc::state::StateColumn| {
        (column.name, column.value(&state).unwrap_or(none), column.value(&there).unwrap_or(none))
    };
    set.columns.iter().map(both).collect()
}

fn finite(ssthresh: u32) -> u32 {
    if ssthresh == u32::MAX { INFINITE } else { ssthresh }
}

impl Call {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The connection before the call.
    fn socket(&self) -> Socket {
        Socket {
            tcp_mstamp: self.tcp_mstamp,
            tcp_clock_cache: self.tcp_clock_cache,
            tcp_wstamp_ns: self.tcp_wstamp_ns,
            delivered_mstamp: self.delivered_mstamp,
            lsndtime: self.tcp_mstamp.wrapping_sub(u64::from(self.jiffies.wrapping_sub(self.lsndtime)) * TICK_US),
            snd_cwnd: self.snd_cwnd,
            snd_cwnd_cnt: self.snd_cwnd_cnt,
            snd_cwnd_clamp: self.snd_cwnd_clamp,
            snd_ssthresh: if self.snd_ssthresh >= INFINITE { u32::MAX } else { self.snd_ssthresh },
            prior_cwnd: self.prior_cwnd,
            is_cwnd_limited: self.has(CWND_LIMITED),
            max_packets_out: self.max_packets_out,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            packets_out: self.packets_out,
            retrans_out: self.retrans_out,
            lost_out: self.lost_out,
            sacked_out: self.sacked_out,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            lost: self.lost,
            app_limited: self.app_limited,
            srtt_us: self.srtt_us,
            min_rtt_us: self.min_rtt_us,
            sk_pacing_rate: self.pacing_rate,
            sk_max_pacing_rate: self.max_pacing_rate,
            sk_pacing_shift: self.pacing_shift,
            sk_gso_max_size: self.gso_max_size,
            sk_pacing_needed: self.has(PACING_NEEDED),
            ca_state: state(self.ca_state),
            ecn_flags: EcnFlags { ok: self.has(ECN_NEGOTIATED), ..EcnFlags::default() },
            ..Socket::new(self.mss_cache, self.random)
        }
    }

    /// The packet at TCP's hint, and those up to the one behind the highest that was SACKed.
    fn sent(&self) -> Vec<SentPacket> {
        let packet = |&Sent { end_seq, delivered, segments, sacked, is_app_limited }: &Sent| SentPacket {
            end_seq,
            delivered,
            segments,
            sacked,
            is_app_limited: is_app_limited != 0,
        };
        self.sent[..self.sent_count as usize].iter().map(packet).collect()
    }

    /// Where the packet was looked for, in bytes from the first one that is not ACKed.
    fn search(&self) -> String {
        let at = |seq: u32| if seq == 0 { -1 } else { seq.wrapping_sub(self.snd_una) as i32 };
        let sent: Vec<String> =
            self.sent().iter().map(|packet| format!("{}:{:x}", at(packet.end_seq), packet.sacked)).collect();
        let (found, lost) = (at(self.found_lost_end_seq), at(self.newly_lost_end_seq));
        let waiting = self.lost_out as i32 - self.retrans_out as i32;
        format!("found {found}, lost {lost}, {waiting} wait, sent {}", sent.join(" "))
    }

    /// Makes the call; its answer, 0 if it has none.
    fn make(&self, cc: &mut dyn CongestionControl, sk: &mut Socket) -> u32 {
        match CALLBACKS[self.callback as usize] {
            "init" => cc.init(sk),
            "ssthresh" => return cc.ssthresh(sk),
            "cong_avoid" => cc.cong_avoid(sk, self.argument, self.acked),
            "cong_control" => cc.cong_control(sk, &self.sample()),
            "set_state" => cc.set_state(sk, state(self.argument)),
            "cwnd_event" => cc.cwnd_event(sk, event(self.argument)),
            "in_ack_event" => cc.in_ack_event(sk, self.argument),
            "pkts_acked" => {
                let rtt_us = self.rtt_us as i32;
                cc.pkts_acked(sk, &AckSample { pkts_acked: self.acked, rtt_us, in_flight: self.argument });
            }
            _ => return cc.undo_cwnd(sk),
        }
        0
    }

    fn sample(&self) -> RateSample {
        RateSample {
            prior_delivered: self.sample_prior_delivered,
            delivered: self.sample_delivered,
            delivered_ce: self.sample_delivered_ce,
            interval_us: self.interval_us,
            rtt_us: self.rtt_us,
            losses: self.sample_losses,
            acked_sacked: self.sample_acked_sacked,
            prior_in_flight: self.sample_prior_in_flight,
            last_end_seq: self.sample_last_end_seq,
            is_app_limited: self.has(SAMPLE_APP_LIMITED),
            is_ack_delayed: self.has(SAMPLE_ACK_DELAYED),
            ..RateSample::default()
        }
    }
}

fn state(number: u32) -> CaState {
    [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss][number as usize]
}

/// `enum tcp_ca_event`.
fn event(number: u32) -> CaEvent {
    [CaEvent::TxStart, CaEvent::CwndRestart, CaEvent::CompleteCwr, CaEvent::Loss, CaEvent::EcnNoCe, CaEvent::EcnIsCe]
        [number as usize]
}
