//! BBR: v1 as Linux runs it, and v2 and v3 as one core with [`Parameters`].
//!
//! Everything here is written from `SPECIFICATION.md` beside this file, whose sections are cited as "spec section n". What it
//! calls K2 and K3 (the deployed code) is the default; D3 (the draft) is a set of switches.
//!
//! The model leaves out the fast path for application-limited flows (spec section 13), and PLB.

mod aggregation;
mod drain;
mod ecn;
mod fixed;
mod growth;
mod hold;
mod idle;
mod loss;
mod lower;
mod model;
mod outputs;
mod parameters;
mod phases;
mod plateau;
mod probe_bw;
mod probe_rtt;
mod publish;
mod recovery;
mod signals;
mod startup;
mod state;
#[cfg(test)]
mod tests;
mod tso;
mod tunables;
mod upper;
mod v1;
mod windowed;

pub use parameters::{Parameters, Plateau, UpExit, Version};
pub use state::State;
pub use v1::Bbr1;

use alloc::boxed::Box;

use crate::algorithms::{Declared, Made};
use crate::ce_echo::CeEcho;
use crate::tunable::{plain, with};
use crate::{AckSample, CaEvent, CaState, Column, CongestionControl, LostPacket, RateSample, Setting, Socket};
use aggregation::Aggregation;
use ecn::EcnAlpha;
use fixed::delivery_rate;
use model::Bounds;
use plateau::FullBandwidth;
use probe_bw::Probe;
use probe_rtt::MinRtt;
use recovery::Undo;
use signals::{Rounds, Signals};
use tunables::TUNABLES;

/// Any BBR, by its declared name.
pub(crate) fn create(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    let defaults = match declared.name {
        "bbr" => return plain(Bbr1::default(), settings),
        "bbr2" => Parameters::v2(),
        "bbr3" => Parameters::v3(),
        _ => Parameters::v3_draft(),
    };
    Ok(Box::new(Bbr::new(with(&TUNABLES, defaults, declared.parameters, settings)?)))
}

/// BBRv2 or BBRv3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bbr {
    params: Parameters,
    state: State,
    pacing_gain: u32,
    cwnd_gain: u32,
    rounds: Rounds,
    signals: Signals,
    bounds: Bounds,
    full: FullBandwidth,
    probe: Probe,
    rtt: MinRtt,
    aggregation: Aggregation,
    ecn: EcnAlpha,
    echo: CeEcho,
    undo: Undo,
    /// The window before recovery or PROBE_RTT.
    prior_cwnd: u32,
    /// The initial window, 127 at most.
    init_cwnd: u32,
    /// The round in which DRAIN began.
    drain_round: u32,
    prev_ca_state: CaState,
    has_seen_rtt: bool,
    is_idle_restart: bool,
}

impl Bbr {
    /// A flow that begins; [`CongestionControl::init`] comes first.
    pub fn new(params: Parameters) -> Bbr {
        Bbr {
            state: State::Startup,
            pacing_gain: params.startup_pacing_gain,
            cwnd_gain: params.startup_cwnd_gain,
            rounds: Rounds::default(),
            signals: Signals::default(),
            bounds: Bounds::default(),
            full: FullBandwidth::default(),
            probe: Probe::default(),
            rtt: MinRtt::default(),
            aggregation: Aggregation::slots(0),
            ecn: EcnAlpha::default(),
            echo: CeEcho::default(),
            undo: Undo::default(),
            prior_cwnd: 0,
            init_cwnd: 0,
            drain_round: 0,
            prev_ca_state: CaState::Open,
            has_seen_rtt: false,
            is_idle_restart: false,
            params,
        }
    }

    /// The state of the state machine.
    pub fn state(&self) -> State {
        self.state
    }

    fn is_v2(&self) -> bool {
        self.params.version == Version::V2
    }

    fn is_v3(&self) -> bool {
        self.params.version == Version::V3
    }
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        self.params.name
    }

    /// Spec section 4.
    fn init(&mut self, sk: &mut Socket) {
        *self = Bbr::new(self.params.clone());
        self.init_cwnd = sk.snd_cwnd.min(127);
        sk.snd_ssthresh = u32::MAX;
        self.rounds = Rounds::begin(if self.is_v2() { 0 } else { sk.delivered });
        self.signals.loss_round_end = sk.delivered.wrapping_add(1);
        self.rtt = MinRtt::begin(sk.min_rtt_us, sk.tcp_mstamp);
        self.aggregation = match self.params.windowed_extra_acked {
            true => Aggregation::windowed(sk.tcp_mstamp),
            false => Aggregation::slots(sk.tcp_mstamp),
        };
        self.echo = CeEcho::begin(sk);
        sk.sk_pacing_needed = true;
        self.init_pacing_rate(sk);
    }

    /// The window is not for recovery to set: only what is to be restored is kept (spec section 12).
    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.begin_recovery(sk);
        sk.snd_ssthresh
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    /// The pipeline of spec section 7; the order matters.
    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        self.rounds.update(sk, rs);
        if self.rounds.is_start {
            self.probe.rounds_since = self.probe.rounds_since.saturating_add(1);
            self.update_ecn_alpha(sk);
        }
        self.signals.ecn_in_round |= rs.is_ece && (self.is_v2() || self.ecn.is_eligible);
        let sample = delivery_rate(rs, true);
        if self.is_v3() {
            self.update_latest(sk, rs, sample);
        }
        self.update_congestion_signals(sk, rs, sample);
        let bw = self.bw();
        self.aggregation.on_ack(sk, rs, bw, self.rounds.is_start, self.full.is_reached);
        self.check_startup_loss(sk, rs);
        self.check_full_bw(rs, sample);
        self.check_drain(sk);
        if self.full.is_reached && !self.adapt_upper(sk, rs, sample) {
            self.step_probe_bw(sk, rs, sample);
        }
        self.update_min_rtt(sk, rs);
        self.refresh_gains();
        self.set_pacing_rate(sk, self.bw(), self.pacing_gain);
        self.set_cwnd(sk, rs);
        if self.is_v3() {
            self.advance_latest(rs, sample);
        }
        self.prev_ca_state = sk.ca_state;
        self.signals.loss_in_cycle |= rs.lost > 0;
        self.signals.ecn_in_cycle |= rs.delivered_ce > 0;
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        self.change_ca_state(sk, state);
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        match event {
            CaEvent::TxStart => self.restart_from_idle(sk),
            CaEvent::TlpRecovery if self.is_v3() => self.loss_repaired_by_tlp(sk),
            // The receiver's precise echo (spec section 10).
            CaEvent::EcnIsCe | CaEvent::EcnNoCe => self.echo.receive(sk, event == CaEvent::EcnIsCe),
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.undo_recovery(sk);
        // A flow that came to BBR in the midst of recovery has saved no window.
        if self.prior_cwnd == 0 { sk.snd_cwnd } else { self.prior_cwnd }
    }

    fn pkts_acked(&mut self, _sk: &mut Socket, _sample: &AckSample) {}

    fn skb_marked_lost(&mut self, sk: &mut Socket, packet: &LostPacket) {
        self.packet_lost(sk, packet);
    }

    /// Spec section 3, "TSO floor".
    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        if self.is_v2() { tso::floor_by_rate(sk) } else { 2 }
    }

    /// Spec section 3, "sndbuf expansion".
    fn sndbuf_expand(&self) -> u32 {
        3
    }

    /// The rule of the BPF programs: a version that answers marks needs them echoed one by one.
    fn needs_ecn(&self) -> bool {
        self.params.ecn
    }

    fn state(&self) -> crate::State {
        self.published().into()
    }

    fn publish(&self, column: &mut dyn FnMut(Column)) {
        self.publish_columns(column);
    }
}
