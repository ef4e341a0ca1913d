use alloc::boxed::Box;

use crate::algorithms::{Declared, Made};
use crate::ce_echo::CeEcho;
use crate::state::DctcpState;
use crate::tunable::{Tunable, defaults, number, with};
use crate::{CaEvent, CaState, CongestionControl, Setting, Socket, State, before};

/// DCTCP (RFC 8257) as Linux runs it: the window is cut by the share of packets that were marked. It is Reno where
/// ECN was not negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dctcp {
    params: Parameters,
    /// The estimated share of marked packets, of 1024.
    alpha: u32,
    /// The round ends when this is acknowledged.
    next_seq: u32,
    /// `delivered` and `delivered_ce` when it began.
    old_delivered: u32,
    old_delivered_ce: u32,
    /// The window before the last reduction, packets.
    loss_cwnd: u32,
    echo: CeEcho,
}

/// The parameters of DCTCP: `bpf/algorithms/dctcp/algorithm.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// g = 1/2^shift_g: the weight of a round in the estimate.
    shift_g: u32,
    /// alpha at first, of 1024.
    alpha_on_init: u32,
}

/// alpha = 1.
const MAX_ALPHA: u32 = 1024;

impl Default for Parameters {
    fn default() -> Parameters {
        let blank = Parameters { shift_g: 0, alpha_on_init: 0 };
        defaults(&TUNABLES, blank, crate::parameters("dctcp").unwrap_or_default())
    }
}

const TUNABLES: [Tunable<Parameters>; 2] = [number!(shift_g), number!(alpha_on_init)];

pub(crate) fn create(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    Ok(Box::new(Dctcp::new(with(&TUNABLES, Parameters::default(), declared.parameters, settings)?)))
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp::new(Parameters::default())
    }
}

impl CongestionControl for Dctcp {
    fn name(&self) -> &'static str {
        "dctcp"
    }

    fn init(&mut self, sk: &mut Socket) {
        *self = Dctcp { echo: CeEcho::begin(sk), ..Dctcp::new(self.params) };
        self.start_round(sk);
    }

    /// cwnd (1 - alpha/2) after a mark (RFC 8257 section 3.3 equation 4).
    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.loss_cwnd = sk.snd_cwnd;
        if !sk.ecn_flags.ok {
            return sk.reno_ssthresh();
        }
        let cut = (u64::from(sk.snd_cwnd) * u64::from(self.alpha)) >> 11;
        (sk.snd_cwnd - cut as u32).max(2)
    }

    fn cong_avoid(&mut self, sk: &mut Socket, _ack: u32, acked: u32) {
        sk.reno_cong_avoid(acked);
    }

    /// Once a round: alpha = alpha (1 - g) + g * share (RFC 8257 section 3.3 equation 1).
    fn in_ack_event(&mut self, sk: &mut Socket, _flags: u32) {
        if !sk.ecn_flags.ok || before(sk.snd_una, self.next_seq) {
            return;
        }
        let marked = sk.delivered_ce.wrapping_sub(self.old_delivered_ce);
        let delivered = sk.delivered.wrapping_sub(self.old_delivered).max(1);
        let step = self.alpha >> self.params.shift_g;
        // If the step down would round to nothing (under 16/1024), alpha goes to 0 at once.
        self.alpha -= if step == 0 { self.alpha } else { step };
        if marked > 0 {
            let share = (u64::from(marked) << (10 - self.params.shift_g)) / u64::from(delivered);
            self.alpha = (u64::from(self.alpha) + share).min(u64::from(MAX_ALPHA)) as u32;
        }
        self.start_round(sk);
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        // A loss is answered as Reno does (RFC 8257 section 3.4), whatever alpha says.
        if state == CaState::Recovery && sk.ca_state != CaState::Recovery {
            self.react_to_loss(sk);
        }
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        match event {
            CaEvent::EcnIsCe | CaEvent::EcnNoCe => self.echo.receive(sk, event == CaEvent::EcnIsCe),
            CaEvent::Loss => self.react_to_loss(sk),
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        sk.snd_cwnd.max(self.loss_cwnd)
    }

    fn needs_ecn(&self) -> bool {
        true
    }

    fn state(&self) -> State {
        DctcpState { alpha: self.alpha }.into()
    }
}

impl Dctcp {
    pub(crate) fn new(params: Parameters) -> Dctcp {
        Dctcp {
            params,
            alpha: params.alpha_on_init,
            next_seq: 0,
            old_delivered: 0,
            old_delivered_ce: 0,
            loss_cwnd: 0,
            echo: CeEcho::default(),
        }
    }

    fn start_round(&mut self, sk: &Socket) {
        self.next_seq = sk.snd_nxt;
        self.old_delivered = sk.delivered;
        self.old_delivered_ce = sk.delivered_ce;
    }

    fn react_to_loss(&mut self, sk: &mut Socket) {
        self.loss_cwnd = sk.snd_cwnd;
        sk.snd_ssthresh = sk.reno_ssthresh();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EcnFlags, ImmediateAck};

    fn socket(snd_cwnd: u32) -> Socket {
        Socket { snd_cwnd, ecn_flags: EcnFlags { ok: true, ..EcnFlags::default() }, ..Socket::new(1448, 1) }
    }

    /// A round that acknowledges `delivered` packets, of which `marked` had CE.
    fn round(dctcp: &mut Dctcp, sk: &mut Socket, delivered: u32, marked: u32) {
        (sk.delivered, sk.delivered_ce) = (sk.delivered + delivered, sk.delivered_ce + marked);
        sk.snd_una = sk.snd_nxt;
        sk.snd_nxt += delivered * sk.mss_cache;
        dctcp.in_ack_event(sk, 0);
    }

    #[test]
    fn alpha_decays_by_a_sixteenth_per_clean_round_down_to_nothing() {
        let (mut dctcp, mut sk) = (Dctcp::default(), socket(10));
        round(&mut dctcp, &mut sk, 10, 0);
        assert_eq!(dctcp.alpha, 960);
        (0..200).for_each(|_| round(&mut dctcp, &mut sk, 10, 0));
        assert_eq!(dctcp.alpha, 0);
        assert_eq!(dctcp.ssthresh(&mut sk), sk.snd_cwnd);
    }

    #[test]
    fn alpha_converges_to_the_share_of_marked_packets() {
        let (mut dctcp, mut sk) = (Dctcp::default(), socket(10));
        (0..200).for_each(|_| round(&mut dctcp, &mut sk, 100, 25));
        assert!(dctcp.alpha.abs_diff(256) <= 16, "alpha {}", dctcp.alpha);
    }

    #[test]
    fn the_cut_is_half_of_alpha() {
        let mut sk = socket(100);
        assert_eq!(Dctcp { alpha: 1024, ..Dctcp::default() }.ssthresh(&mut sk), 50);
        assert_eq!(Dctcp { alpha: 256, ..Dctcp::default() }.ssthresh(&mut sk), 88);
    }

    #[test]
    fn without_ecn_it_is_reno() {
        let mut sk = Socket { ecn_flags: EcnFlags::default(), ..socket(100) };
        assert_eq!(Dctcp { alpha: 0, ..Dctcp::default() }.ssthresh(&mut sk), 50);
    }

    #[test]
    fn a_loss_halves_whatever_alpha_says() {
        let mut sk = socket(100);
        let mut dctcp = Dctcp { alpha: 0, ..Dctcp::default() };
        sk.snd_ssthresh = dctcp.ssthresh(&mut sk);
        dctcp.set_state(&mut sk, CaState::Recovery);
        assert_eq!((sk.snd_ssthresh, dctcp.undo_cwnd(&mut sk)), (50, 100));
    }

    #[test]
    fn a_change_of_ce_acknowledges_what_came_before_with_the_old_echo() {
        let mut sk = Socket { rcv_nxt: 1000, is_ack_pending: true, ..Socket::new(1448, 1) };
        let mut dctcp = Dctcp::default();
        dctcp.init(&mut sk);
        sk.rcv_nxt = 2000;
        dctcp.cwnd_event(&mut sk, CaEvent::EcnIsCe);
        assert_eq!(sk.immediate_ack.take(), Some(ImmediateAck { rcv_nxt: 1000, ece: false }));
        assert!(sk.ecn_flags.demand_cwr);
        dctcp.cwnd_event(&mut sk, CaEvent::EcnIsCe);
        assert_eq!(sk.immediate_ack, None);
    }
}
