//! A congestion control that is held from outside: a policy decides on the window, interval by interval.
//!
//! A decision is due at the first ACK at or after the end of an interval, and holds from the next ACK on. A BPF program can do
//! the same in a kernel, so a policy that is exported as one agrees with the policy that was trained.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cc::{CongestionControl, RateSample, Socket};

/// 1 in fixed point.
pub const ONE: u32 = 1024;
/// The least and the largest window that a policy may set, packets.
pub const WINDOWS: (u32, u32) = (2, 1 << 16);
/// Pacing rate in windows per smoothed RTT where the policy sets none: it bounds trains and is not enforced. Linux has the same in
/// slow start (`tcp_pacing_ss_ratio`).
const UNPACED: u64 = 2;

/// The time between two decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// us; 0: each ACK.
    Micros(u64),
    /// Smoothed RTTs, in 1/1024.
    SmoothedRtts(u32),
}

impl Interval {
    fn micros(self, sk: &Socket) -> u64 {
        match self {
            Interval::Micros(us) => us,
            Interval::SmoothedRtts(share) => (u64::from(sk.srtt_us >> 3) * u64::from(share)) / u64::from(ONE),
        }
    }
}

/// The values that a policy has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Window, 1/1024 packets.
    pub window: u32,
    /// Pacing rate in windows per smoothed RTT, 1/1024; `None`: not paced.
    pub pacing: Option<u32>,
}

impl Setting {
    /// The setting after an action: factors of the window, and of a window per smoothed RTT as pacing rate. An action of `a` is
    /// the factor 1 + a, or 1 / (1 - a) if it is negative (Jay et al., ICML 2019), for -1 to 1. NaN changes nothing.
    pub fn after(self, action: f64, pacing: Option<f64>) -> Setting {
        let (least, most) = WINDOWS;
        let window = scaled(self.window, action).clamp(least * ONE, most * ONE);
        Setting { window, pacing: pacing.map(|action| scaled(ONE, action)) }
    }
}

/// Exported programs compute the same.
fn scaled(value: u32, action: f64) -> u32 {
    let share = (action.clamp(-1.0, 1.0) * f64::from(ONE)).round() as i64;
    let (one, value) = (i64::from(ONE), i64::from(value));
    (if share >= 0 { value * (one + share) / one } else { value * one / (one - share) }) as u32
}

/// Counts of one interval, and the state at its last ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// A decision is due. If not, no ACK came for the timeout, and actions count for nothing.
    pub is_due: bool,
    /// s.
    pub duration_s: f64,
    /// Packets ACKed or SACKed.
    pub delivered: u32,
    /// Packets marked lost.
    pub lost: u32,
    /// Delivered packets reported as CE-marked.
    pub ce: u32,
    /// Mean, least and latest RTT, us; 0: no sample.
    pub rtt_mean_us: f64,
    /// See [`rtt_mean_us`](Observation::rtt_mean_us).
    pub rtt_min_us: u32,
    /// See [`rtt_mean_us`](Observation::rtt_mean_us).
    pub rtt_latest_us: u32,
    /// Minimum RTT of the connection, us; 0: no sample.
    pub min_rtt_us: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Window that is set, packets.
    pub window: f64,
    /// The latest sample of the delivery rate, packets per second; 0: none.
    pub delivery_rate: f64,
    /// True if the application limited that sample.
    pub is_app_limited: bool,
}

/// A decision for a replay: the count of ACKs before it, and what holds from then on.
pub type Decision = (u64, Setting);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    at_us: u64,
    delivered: u32,
    lost: u32,
    ce: u32,
}

impl Counts {
    fn of(sk: &Socket) -> Counts {
        Counts { at_us: sk.tcp_mstamp, delivered: sk.delivered, lost: sk.lost, ce: sk.delivered_ce }
    }
}

#[derive(Debug)]
struct Tally {
    has_begun: bool,
    is_due: bool,
    acks: u64,
    setting: Setting,
    pending: Option<Setting>,
    /// Decisions that are known in advance; then none comes due.
    script: Option<VecDeque<Decision>>,
    made: Vec<Decision>,
    start: Counts,
    latest: Counts,
    rtt_sum_us: u64,
    rtts: u32,
    rtt_min_us: u32,
    rtt_latest_us: u32,
    min_rtt_us: u32,
    in_flight: u32,
    delivery_rate: f64,
    is_app_limited: bool,
}

impl Tally {
    fn new(script: Option<VecDeque<Decision>>) -> Tally {
        Tally {
            has_begun: false,
            is_due: false,
            acks: 0,
            setting: Setting { window: 0, pacing: None },
            pending: None,
            script,
            made: Vec::new(),
            start: Counts::default(),
            latest: Counts::default(),
            rtt_sum_us: 0,
            rtts: 0,
            rtt_min_us: 0,
            rtt_latest_us: 0,
            min_rtt_us: 0,
            in_flight: 0,
            delivery_rate: 0.0,
            is_app_limited: false,
        }
    }
}

/// A flow's congestion control, from the side that decides.
#[derive(Clone, Debug)]
pub struct Hold(Arc<Mutex<Tally>>);

impl Hold {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the connection is open.
    pub fn has_begun(&self) -> bool {
        self.tally().has_begun
    }

    /// True if a decision is due.
    pub fn is_due(&self) -> bool {
        self.tally().is_due
    }

    /// The time of the latest ACK, us.
    pub fn latest_us(&self) -> u64 {
        self.tally().latest.at_us
    }

    /// The counts since the latest decision. `now_us` ends an interval in which no decision is due.
    pub fn observation(&self, now_us: u64) -> Observation {
        let tally = self.tally();
        let Counts { at_us, delivered, lost, ce } = tally.latest;
        let until_us = if tally.is_due { at_us } else { now_us };
        Observation {
            is_due: tally.is_due,
            duration_s: if tally.has_begun { until_us.saturating_sub(tally.start.at_us) as f64 / 1e6 } else { 0.0 },
            delivered: delivered.wrapping_sub(tally.start.delivered),
            lost: lost.wrapping_sub(tally.start.lost),
            ce: ce.wrapping_sub(tally.start.ce),
            rtt_mean_us: if tally.rtts > 0 { tally.rtt_sum_us as f64 / f64::from(tally.rtts) } else { 0.0 },
            rtt_min_us: tally.rtt_min_us,
            rtt_latest_us: tally.rtt_latest_us,
            min_rtt_us: tally.min_rtt_us,
            in_flight: tally.in_flight,
            window: f64::from(tally.setting.window) / f64::from(ONE),
            delivery_rate: tally.delivery_rate,
            is_app_limited: tally.is_app_limited,
        }
    }

    /// Takes an action, as [`Setting::after`] reads it, if a decision is due; the next interval begins at the latest ACK.
    pub fn act(&self, action: f64, pacing: Option<f64>) {
        let mut tally = self.tally();
        if !tally.is_due {
            return;
        }
        let setting = tally.setting.after(action, pacing);
        tally.setting = setting;
        tally.pending = Some(setting);
        let acks = tally.acks;
        tally.made.push((acks, setting));
        tally.is_due = false;
        tally.start = tally.latest;
        (tally.rtt_sum_us, tally.rtts, tally.rtt_min_us, tally.rtt_latest_us) = (0, 0, 0, 0);
    }

    /// All decisions so far.
    pub fn decisions(&self) -> Vec<Decision> {
        self.tally().made.clone()
    }
}

/// Flows whose congestion controls are held, by id.
#[derive(Debug, Default)]
pub struct Held {
    flows: BTreeMap<String, (Interval, Hold)>,
    alarm: Arc<AtomicBool>,
}

impl Held {
    /// Holds the flow `id`; a decision is due after each interval.
    pub fn hold(&mut self, id: &str, interval: Interval) -> Hold {
        self.add(id, interval, None)
    }

    /// Replays decisions in the flow `id`.
    pub fn replay(&mut self, id: &str, decisions: Vec<Decision>) {
        self.add(id, Interval::Micros(0), Some(decisions.into()));
    }

    fn add(&mut self, id: &str, interval: Interval, script: Option<VecDeque<Decision>>) -> Hold {
        let hold = Hold(Arc::new(Mutex::new(Tally::new(script))));
        self.flows.insert(id.to_owned(), (interval, hold.clone()));
        hold
    }

    /// Set when a decision comes due; whoever waits for it clears it.
    pub fn alarm(&self) -> &Arc<AtomicBool> {
        &self.alarm
    }

    pub(crate) fn create(&self, id: &str) -> Option<Box<dyn CongestionControl>> {
        let (interval, hold) = self.flows.get(id)?;
        Some(Box::new(Control { interval: *interval, hold: hold.clone(), alarm: self.alarm.clone() }))
    }
}

/// The congestion control of a flow that is held.
#[derive(Debug)]
struct Control {
    interval: Interval,
    hold: Hold,
    alarm: Arc<AtomicBool>,
}

impl CongestionControl for Control {
    fn name(&self) -> &'static str {
        "held from outside"
    }

    fn init(&mut self, sk: &mut Socket) {
        let mut tally = self.hold.tally();
        tally.has_begun = true;
        tally.setting = Setting { window: sk.snd_cwnd * ONE, pacing: None };
        tally.start = Counts::of(sk);
        tally.latest = tally.start;
    }

    /// The policy alone reduces the window.
    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        sk.snd_ssthresh
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        sk.snd_cwnd
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        let tally = &mut *self.hold.tally();
        if let Some(script) = &mut tally.script {
            while script.front().is_some_and(|(acks, _)| *acks <= tally.acks) {
                tally.setting = script.pop_front().expect("there is one").1;
            }
        } else if let Some(pending) = tally.pending.take() {
            tally.setting = pending;
        }
        tally.acks += 1;
        tally.latest = Counts::of(sk);
        if rs.rtt_us > 0 {
            let rtt_us = u32::try_from(rs.rtt_us).unwrap_or(u32::MAX);
            tally.rtt_sum_us += u64::from(rtt_us);
            tally.rtts += 1;
            tally.rtt_min_us = if tally.rtts == 1 { rtt_us } else { tally.rtt_min_us.min(rtt_us) };
            tally.rtt_latest_us = rtt_us;
        }
        if rs.delivered > 0 && rs.interval_us > 0 {
            tally.delivery_rate = f64::from(rs.delivered) * 1e6 / rs.interval_us as f64;
            tally.is_app_limited = rs.is_app_limited;
        }
        tally.min_rtt_us = if sk.min_rtt_us == u32::MAX { 0 } else { sk.min_rtt_us };
        tally.in_flight = sk.packets_in_flight();
        sk.snd_cwnd = (tally.setting.window / ONE).clamp(WINDOWS.0, sk.snd_cwnd_clamp);
        sk.sk_pacing_needed |= tally.setting.pacing.is_some();
        let share = tally.setting.pacing.map_or(UNPACED * u64::from(ONE), u64::from);
        if sk.srtt_us > 0 {
            let bytes = u64::from(sk.snd_cwnd) * u64::from(sk.mss_cache) * share / u64::from(ONE);
            sk.sk_pacing_rate = (bytes * 8_000_000 / u64::from(sk.srtt_us)).min(sk.sk_max_pacing_rate);
        }
        let passed_us = tally.latest.at_us - tally.start.at_us;
        if tally.script.is_none() && !tally.is_due && passed_us >= self.interval.micros(sk) {
            tally.is_due = true;
            self.alarm.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(control: &mut dyn CongestionControl, sk: &mut Socket, at_us: u64) {
        sk.tcp_mstamp = at_us;
        sk.delivered += 1;
        control.cong_control(sk, &RateSample { rtt_us: 40_000, acked_sacked: 1, ..RateSample::default() });
    }

    #[test]
    fn a_decision_is_due_at_the_first_ack_after_an_interval_and_holds_from_the_next_on() {
        let mut held = Held::default();
        let hold = held.hold("f1", Interval::Micros(10_000));
        let mut control = held.create("f1").unwrap();
        let mut sk = Socket::new(1448, 1);
        control.init(&mut sk);
        ack(&mut *control, &mut sk, 9_999);
        assert!(!hold.is_due() && !held.alarm().load(Ordering::Relaxed));
        hold.act(1.0, None);
        ack(&mut *control, &mut sk, 10_002);
        assert!(hold.is_due() && held.alarm().load(Ordering::Relaxed));
        let seen = hold.observation(99_000);
        assert_eq!((seen.delivered, seen.duration_s, seen.rtt_mean_us, seen.window), (2, 0.010_002, 40_000.0, 10.0));
        hold.act(0.5, None);
        assert_eq!((sk.snd_cwnd, hold.is_due()), (10, false));
        ack(&mut *control, &mut sk, 20_001);
        assert_eq!((sk.snd_cwnd, hold.is_due()), (15, false), "its interval began at 10,002 us");
        ack(&mut *control, &mut sk, 20_002);
        assert!(hold.is_due());
        // The first action was none: nothing was due.
        assert_eq!(hold.decisions(), [(2, Setting { window: 15 * ONE, pacing: None })]);
    }

    #[test]
    fn actions_are_factors_within_bounds() {
        let at = Setting { window: 10 * ONE, pacing: None };
        for (action, packets) in [(0.0, 10.0), (1.0, 20.0), (-1.0, 5.0), (0.25, 12.5), (7.0, 20.0), (f64::NAN, 10.0)] {
            assert_eq!(f64::from(at.after(action, None).window) / 1024.0, packets, "{action}");
        }
        assert_eq!(at.after(0.0, Some(1.0)).pacing, Some(2 * ONE));
        let (least, most) = WINDOWS;
        assert_eq!(Setting { window: least * ONE, pacing: None }.after(-1.0, None).window, least * ONE);
        assert_eq!(Setting { window: most * ONE, pacing: None }.after(1.0, None).window, most * ONE);
    }
}
