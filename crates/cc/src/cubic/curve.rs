use super::Parameters;
use crate::socket::{TICK_US, TICKS_PER_S};
use crate::state::{CubicState, NONE, narrow};

/// C = 0.4 (RFC 9438 section 5) in 1/1024, rounded as Linux does: 10 * 41 = 410.
const C: u64 = 410;
/// The curve's clock ticks 1024 times a second, so that the scalings are shifts.
const CLOCK_SHIFT: u32 = 10;
/// Scale of `C * t^3`: that of C, and that of the clock three times.
const CUBE_SHIFT: u32 = 10 + 3 * CLOCK_SHIFT;
/// Ticks for which the last answer holds while the window is constant (`HZ / 32`).
const UPDATE_EVERY: u64 = TICKS_PER_S / 32;
/// Before the first loss the window grows by 5 % in a round at least: a packet for each 20 ACKed.
const SLOWEST_WITHOUT_LOSS: u32 = 20;
/// The window grows by half a packet at most for each ACKed (RFC 9438 section 4.4's limit of 1.5 cwnd in a round).
const FASTEST: u32 = 2;

/// The cubic function of time, and the Reno that runs beside it (RFC 9438 sections 4.2 and 4.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Curve {
    pub params: Parameters,
    /// W_max: the window before the last reduction, packets; 0: there was none.
    last_max: u32,
    /// The window and the time of the last update, packets and ticks.
    last_cwnd: u32,
    last_update: u64,
    /// The start of this epoch of congestion avoidance, ticks; `None`: it begins at the next ACK.
    epoch_start: Option<u64>,
    /// The window at the plateau, packets.
    origin: u32,
    /// K: from the epoch's start to the plateau, 1/1024 s.
    k: u64,
    /// W_est: Reno's window (RFC 9438 section 4.3), packets.
    reno_cwnd: u32,
    /// ACKed packets that `reno_cwnd` has not grown by yet.
    reno_acked: u32,
    /// Last answer of [`update`](Curve::update): ACKs per packet of growth.
    acks_per_packet: u32,
}

impl Curve {
    pub(super) fn new(params: Parameters) -> Curve {
        Curve { params, ..Curve::default() }
    }

    /// Returns the window after a loss: 0.7 of `cwnd`, in packets, unless `beta` is set otherwise. If `cwnd` had not reached
    /// the last maximum, other flows need room: the plateau becomes lower than `cwnd` (fast convergence, RFC 9438 section 4.7).
    pub(super) fn reduce(&mut self, cwnd: u32) -> u32 {
        self.epoch_start = None;
        let Parameters { beta, fast_convergence, .. } = self.params;
        let makes_room = fast_convergence && cwnd < self.last_max;
        self.last_max = if makes_room { scale(cwnd, 1024 + beta, 2048) } else { cwnd };
        scale(cwnd, beta, 1024).max(2)
    }

    /// The number of packets that have to be ACKed for the window to grow by one.
    ///
    /// `now` in ticks; `delay_min` in us: the window is aimed at the time one RTT ahead (RFC 9438 section 4.2).
    pub(super) fn update(&mut self, cwnd: u32, acked: u32, now: u64, delay_min: u32) -> u32 {
        self.reno_acked = self.reno_acked.saturating_add(acked);
        if self.last_cwnd == cwnd && now.saturating_sub(self.last_update) <= UPDATE_EVERY {
            return self.acks_per_packet.max(FASTEST);
        }
        // The curve is a function of ticks: it need not be worked out twice in one.
        if self.epoch_start.is_none() || now != self.last_update {
            let start = *self.epoch_start.get_or_insert_with(|| {
                self.reno_acked = acked;
                self.reno_cwnd = cwnd;
                self.origin = cwnd.max(self.last_max);
                self.k = cube_root((u64::from(self.origin - cwnd) << CUBE_SHIFT) / C);
                now
            });
            let ahead = now.saturating_sub(start) + u64::from(delay_min).div_ceil(TICK_US);
            self.acks_per_packet = self.cubic_pace(cwnd, (ahead << CLOCK_SHIFT) / TICKS_PER_S);
            self.last_cwnd = cwnd;
            self.last_update = now;
        }
        if self.params.reno_friendliness {
            self.acks_per_packet = self.reno_pace(cwnd).min(self.acks_per_packet);
        }
        self.acks_per_packet = self.acks_per_packet.max(FASTEST);
        self.acks_per_packet
    }

    /// ACKs per packet so that the window meets `W_cubic(t) = C (t - K)^3 + W_max` (RFC 9438 equation 1); `t` in 1/1024 s.
    fn cubic_pace(&self, cwnd: u32, t: u64) -> u32 {
        let offset = t.abs_diff(self.k);
        let delta = (u128::from(C) * u128::from(offset).pow(3)) >> CUBE_SHIFT;
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) };
        // The window hardly grows at or above the target: a packet in 100 rounds.
        let pace = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.last_max == 0 { pace.min(SLOWEST_WITHOUT_LOSS) } else { pace }
    }

    /// ACKs per packet so that the window is not smaller than Reno's (RFC 9438 section 4.3).
    fn reno_pace(&mut self, cwnd: u32) -> u32 {
        let acks_per_packet = scale(cwnd, self.params.reno_scale(), 8).max(1);
        let steps = self.reno_acked.saturating_sub(1) / acks_per_packet;
        self.reno_acked -= steps * acks_per_packet;
        self.reno_cwnd = self.reno_cwnd.saturating_add(steps);
        if self.reno_cwnd > cwnd { cwnd / (self.reno_cwnd - cwnd) } else { u32::MAX }
    }

    /// Takes the idle time from `last_sent` to `now`, in ticks, out of the epoch (RFC 9438 section 5.8). Otherwise the window
    /// would jump after the idle time.
    pub(super) fn shift_epoch(&mut self, now: u64, last_sent: u64) {
        if let Some(start) = &mut self.epoch_start {
            *start = (*start + now.saturating_sub(last_sent)).min(now);
        }
    }

    /// Returns true if an epoch began less than `span` ticks ago.
    pub(super) fn began_within(&self, now: u64, span: u64) -> bool {
        self.epoch_start.is_some_and(|start| now.saturating_sub(start) < span)
    }

    /// Returns the state that records show. Plateau, K and W_est are `NONE` outside an epoch.
    pub(super) fn published(&self) -> CubicState {
        let of_epoch = |value: u32| if self.epoch_start.is_some() { value } else { NONE };
        CubicState {
            w_max: self.last_max,
            origin: of_epoch(self.origin),
            k: of_epoch(narrow(self.k)),
            w_est: of_epoch(self.reno_cwnd),
            ..CubicState::default()
        }
    }
}

fn scale(value: u32, numerator: u32, denominator: u32) -> u32 {
    (u64::from(value) * u64::from(numerator) / u64::from(denominator)) as u32
}

/// The largest integer whose cube is at most `a`: bit by bit, from the top.
fn cube_root(a: u64) -> u64 {
    (0..=21).rev().fold(0, |root: u64, bit| {
        let longer = root | 1 << bit;
        if u128::from(longer).pow(3) <= u128::from(a) { longer } else { root }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_root_is_exact() {
        for root in [0u64, 1, 2, 3, 100, 12_345, 2_642_245] {
            assert_eq!(cube_root(root.pow(3)), root);
            assert_eq!(cube_root(root.pow(3) + 1), root.max(1));
        }
        assert_eq!(cube_root(u64::MAX), 2_642_245);
    }

    #[test]
    fn k_is_the_time_to_the_old_maximum() {
        // RFC 9438 equation 2: K = cbrt(W_max (1 - beta) / C) = cbrt(100 * 0.3 / 0.4) = 4.217 s.
        let mut curve = Curve::default();
        let cwnd = curve.reduce(100);
        assert_eq!(cwnd, 70);
        curve.update(cwnd, 1, 1_000, 0);
        assert_eq!(curve.origin, 100);
        assert!((4.21..4.22).contains(&(curve.k as f64 / 1024.0)), "K = {}/1024 s", curve.k);
    }

    #[test]
    fn the_window_is_concave_up_to_the_old_maximum_and_convex_beyond() {
        let mut curve = Curve::default();
        let cwnd = curve.reduce(1000);
        curve.update(cwnd, 1, 0, 0);
        let k = curve.k;
        let at = |t| curve.cubic_pace(1000, t);
        assert!(curve.cubic_pace(999, k) > curve.cubic_pace(700, k / 10), "slower at the plateau than at the start");
        assert!(at(2 * k) < at(k + k / 5), "faster the farther beyond");
    }

    #[test]
    fn a_loss_below_the_last_maximum_lowers_the_plateau() {
        let mut curve = Curve::default();
        curve.reduce(100);
        curve.reduce(80);
        assert_eq!(curve.last_max, 80 * 1741 / 2048); // RFC 9438 section 4.7: W_max = cwnd (1 + beta) / 2.
    }

    #[test]
    fn it_grows_no_slower_than_reno() {
        // 10 packets and a plateau that is 4 s away: Reno is faster (RFC 9438 section 4.3).
        let mut curve = Curve { last_max: 40, ..Curve::default() };
        curve.update(10, 1, 0, 10_000);
        curve.update(10, 200, 10, 10_000);
        assert_eq!(curve.params.reno_scale(), 15);
        assert_eq!(curve.reno_cwnd, 10 + 200 / 18);
        assert_eq!(curve.acks_per_packet, FASTEST);
    }

    #[test]
    fn a_standing_window_is_looked_at_again_after_8_ticks() {
        // 28 to 32 ms: on a path of 10 ms each third round, where a clock of milliseconds would take the fourth.
        let mut curve = Curve::default();
        curve.update(10, 1, 0, 10_000);
        curve.update(10, 100, 7, 10_000);
        assert_eq!(curve.reno_cwnd, 10);
        curve.update(10, 1, 8, 10_000);
        assert_eq!(curve.reno_cwnd, 10 + 101 / 18);
    }

    #[test]
    fn idle_time_moves_the_epoch() {
        let mut curve = Curve::default();
        curve.update(10, 1, 1_000, 0);
        curve.shift_epoch(5_000, 2_000);
        assert_eq!(curve.epoch_start, Some(4_000));
        curve.shift_epoch(5_000, 1_000);
        assert_eq!(curve.epoch_start, Some(5_000));
    }
}
