//! The time that flows take to come to their fair shares.
//!
//! The definition is that of M. Dong, Q. Li, D. Zarchy, P. B. Godfrey, M. Schapira: *PCC: Re-architecting Congestion Control
//! for Consistent High Performance*, NSDI 2015, section 4.2.2: the least time from which on the throughput of each second
//! is within 25 % of the fair share for 5 s. Here a second may begin at each [`STEP`], and the fair share is the amount
//! that all flows together get in the end, divided by their number: the half of the time that comes last.
//! `docs/reference/metrics.md` gives the reasons.

use units::{Duration, Time};

/// Time between two looks at the bytes; convergence times are multiples of it. Less frequent samples leave
/// the convergence time unknown.
pub const STEP: Duration = Duration::from_millis(100);
/// Throughput is that of so many steps.
pub const WINDOW: usize = 10;
/// Steps for which the share must stay within bounds.
pub const HOLD: usize = 50;
/// The allowed distance of throughput from the fair share, as a share of it.
pub const TOLERANCE: f64 = 0.25;
/// Fewer steps leave the convergence time unknown.
pub const LEAST: usize = 2 * HOLD;

/// The bytes that a flow had received at each step between two times.
#[derive(Clone, Debug)]
pub struct Received {
    by_step: Vec<u64>,
    next: Time,
    end: Time,
    now: u64,
}

impl Received {
    /// A flow that has received nothing so far.
    pub fn between(start: Time, end: Time) -> Received {
        Received { by_step: Vec::new(), next: start, end, now: 0 }
    }

    /// Records that the flow has received `bytes` in all at `time`, which is not before the last one.
    pub fn is(&mut self, time: Time, bytes: u64) {
        while self.next < time && self.next <= self.end {
            self.step();
        }
        self.now = bytes;
    }

    /// The bytes at each step.
    pub fn bytes(mut self) -> Vec<u64> {
        while self.next <= self.end {
            self.step();
        }
        self.by_step
    }

    fn step(&mut self) {
        self.by_step.push(self.now);
        self.next += STEP;
    }
}

/// The time after which each flow has come to its fair share, if it has; `None` if it is unknown: with less than
/// [`LEAST`] steps, or if nothing arrived. `received`: the bytes of each flow at each step.
pub fn times(received: &[Vec<u64>]) -> Option<Vec<Option<Duration>>> {
    let steps = received.iter().map(Vec::len).min()?.checked_sub(1)?;
    if steps < LEAST {
        return None;
    }
    let half = steps / 2;
    let in_the_end: u64 = received.iter().map(|bytes| bytes[steps] - bytes[steps - half]).sum();
    let fair = in_the_end as f64 / received.len() as f64 * WINDOW as f64 / half as f64;
    (in_the_end > 0).then(|| received.iter().map(|bytes| time(&bytes[..=steps], fair)).collect())
}

/// `fair`: bytes in a window.
fn time(bytes: &[u64], fair: f64) -> Option<Duration> {
    let windows = bytes.iter().zip(&bytes[WINDOW..]).map(|(before, after)| (after - before) as f64);
    let mut since = 0;
    for (index, got) in windows.enumerate() {
        if (got - fair).abs() > TOLERANCE * fair {
            since = index + 1;
        } else if index - since == HOLD - WINDOW {
            return Some(Duration(STEP.as_nanos() * since as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes at each step of a flow that gets so many in each step of each piece: (steps, bytes).
    fn curve(pieces: &[(usize, u64)]) -> Vec<u64> {
        let gained = pieces.iter().flat_map(|&(steps, bytes)| std::iter::repeat_n(bytes, steps));
        let sums = gained.scan(0, |sum, bytes| {
            *sum += bytes;
            Some(*sum)
        });
        std::iter::once(0).chain(sums).collect()
    }

    fn after(curves: &[Vec<u64>]) -> Option<Vec<Option<i64>>> {
        Some(times(curves)?.into_iter().map(|time| Some(time?.as_nanos() / 100_000_000)).collect())
    }

    #[test]
    fn from_the_first_window_that_is_fair() {
        // One has all for 4 s, then both have the same. Three tenths of the window that begins at 3.7 s are unfair: 30
        // % off. The window at 3.8 s is 20 % off.
        let curves = [curve(&[(40, 2000), (160, 1000)]), curve(&[(40, 0), (160, 1000)])];
        assert_eq!(after(&curves), Some(vec![Some(38), Some(38)]));
    }

    #[test]
    fn who_leaves_its_share_again_has_not_come_to_it() {
        // Fair for 4.4 s, unfair for 2 s, and fair again: the first was too short.
        let swing = |most| curve(&[(44, 1000), (20, most), (136, 1000)]);
        assert_eq!(after(&[swing(1600), swing(400)]), Some(vec![Some(60), Some(60)]));
        // 5 s were enough, whatever comes later.
        let swing = |most| curve(&[(50, 1000), (20, most), (130, 1000)]);
        assert_eq!(after(&[swing(1600), swing(400)]), Some(vec![Some(0), Some(0)]));
    }

    #[test]
    fn the_share_is_of_what_flows_get_in_the_end() {
        // A flow alone: slow at first.
        assert_eq!(after(&[curve(&[(30, 100), (170, 1000)])]), Some(vec![Some(28)]));
        // Two of three flows have the same and one has half of that: its bound is a quarter below the mean.
        let thirds = [curve(&[(200, 1000)]), curve(&[(200, 1000)]), curve(&[(200, 500)])];
        assert_eq!(after(&thirds), Some(vec![Some(0), Some(0), None]));
    }

    #[test]
    fn never_and_nothing() {
        let unfair = [curve(&[(200, 1300)]), curve(&[(200, 700)])];
        assert_eq!(after(&unfair), Some(vec![None, None]));
        assert_eq!(after(&[curve(&[(99, 1000)])]), None, "too short");
        assert_eq!(after(&[curve(&[(100, 1000)])]), Some(vec![Some(0)]));
        assert_eq!(after(&[curve(&[(200, 0)]), curve(&[(200, 0)])]), None, "nothing arrived");
        assert_eq!(after(&[]), None);
    }

    #[test]
    fn a_step_has_what_had_arrived_by_then() {
        let ms = |ms: i64| Time::ZERO + Duration::from_millis(ms);
        let mut received = Received::between(ms(1050), ms(1499));
        for (time, bytes) in
            [(1000, 7), (1049, 8), (1050, 10), (1060, 11), (1149, 12), (1151, 13), (1350, 20), (1900, 30)]
        {
            received.is(ms(time), bytes);
        }
        // The steps are at 1050, 1150, 1250, 1350 and 1450.
        assert_eq!(received.bytes(), [10, 12, 13, 20, 20]);
        assert_eq!(Received::between(ms(0), ms(200)).bytes(), [0, 0, 0]);
    }
}
