//! The flow sends again after it was idle (spec section 13). The window is left alone.

use super::Bbr;
use super::fixed::UNIT;
use super::state::State;
use crate::Socket;

impl Bbr {
    pub(super) fn restart_from_idle(&mut self, sk: &mut Socket) {
        if sk.app_limited == 0 {
            return;
        }
        // The queue has drained by itself: no need of PROBE_RTT.
        self.is_idle_restart = true;
        self.aggregation.restart(sk.tcp_mstamp);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(sk, self.bw(), UNIT);
        } else if self.state == State::ProbeRtt {
            self.maybe_end_probe_rtt(sk);
        }
    }
}
