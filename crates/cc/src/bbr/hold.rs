//! PROBE_RTT's hold, in all versions: once little enough is in flight, the flow keeps it so for a time, and at least for a round.

use super::signals::Rounds;
use crate::{CaState, Socket};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hold {
    /// The earliest end of the hold, us; `None`: there is still more in flight.
    until: Option<u64>,
    /// A whole round passed in the hold.
    is_round_done: bool,
}

impl Hold {
    /// Takes an ACK in PROBE_RTT, in which at most `window` packets may be in flight for `length_us`. Returns true if the hold is
    /// over.
    pub(super) fn step(&mut self, sk: &mut Socket, rounds: &mut Rounds, window: u32, length_us: u64) -> bool {
        // The flow sends so little that its delivery rate says nothing of the path.
        sk.app_limited = sk.delivered.wrapping_add(sk.packets_in_flight()).max(1);
        if self.until.is_none() {
            if sk.packets_in_flight() <= window {
                *self = Hold { until: Some(sk.tcp_mstamp + length_us), is_round_done: false };
                rounds.restart(sk);
            }
            return false;
        }
        self.is_round_done |= rounds.is_start;
        self.is_round_done && self.is_over(sk)
    }

    /// Returns true if the hold's time has passed, even without a whole round: a flow that was idle has none.
    pub(super) fn is_over(&self, sk: &Socket) -> bool {
        self.until.is_some_and(|until| sk.tcp_mstamp > until)
    }
}

/// Returns the window to restore after recovery or PROBE_RTT, packets: the present one, or in either state the largest so far.
pub(super) fn saved_cwnd(sk: &Socket, prior_cwnd: u32, prev_ca_state: CaState, is_probing_rtt: bool) -> u32 {
    let is_undisturbed = prev_ca_state < CaState::Recovery && !is_probing_rtt;
    if is_undisturbed { sk.snd_cwnd } else { prior_cwnd.max(sk.snd_cwnd) }
}
