//! Linux's timer wheel: most of its timers count ticks, and fire at one.

use units::{Duration, Time};

use crate::tcp::Settings;

/// A tick.
pub(super) const TICK: Duration = Duration::from_micros(cc::TICK_US as i64);

/// Buckets of a level of the wheel (`LVL_SIZE`), and how much coarser each level is than the one before, as a power of two
/// (`LVL_CLK_SHIFT`).
const BUCKETS: i64 = 64;
const COARSER: u32 = 3;
const LEVELS: u32 = 9;

/// The time at which a timer fires that is set at `now` to wait for `after`.
///
/// The wait is rounded up to whole ticks, counted from the last tick. A timer must not fire early, so it fires at the end of its
/// bucket: a tick later, or 8 ticks where it waits for 63 ticks or more, and so on (`kernel/time/timer.c`). So 40 ms take
/// 40 to 44 ms, and 260 ms up to 292 ms.
pub(crate) fn fires(now: Time, after: Duration, settings: &Settings) -> Time {
    if !settings.ticks {
        return now + after;
    }
    let ticks = whole(after);
    // Most wait for fewer ticks than the first level has.
    let level = match ticks < BUCKETS - 1 {
        true => 0,
        false => (2..LEVELS).take_while(|level| ticks >= (BUCKETS - 1) << (COARSER * (level - 1))).count() as u32 + 1,
    };
    let shift = COARSER * level;
    let bucket = ((now.0 / TICK.0 + ticks) >> shift) + 1;
    Time((bucket << shift) * TICK.0)
}

/// `us` rounded up to ticks, us: what the kernel keeps in ticks.
pub(super) fn round_up_us(us: u64) -> u64 {
    let tick = (TICK.0 / 1000) as u64;
    us.next_multiple_of(tick)
}

fn whole(after: Duration) -> i64 {
    (after.0 + TICK.0 - 1) / TICK.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits_ms(now_ms: i64, after_ms: i64) -> i64 {
        (fires(Time(now_ms * 1_000_000), Duration::from_millis(after_ms), &Settings::default()).0 - now_ms * 1_000_000)
            / 1_000_000
    }

    #[test]
    fn it_is_never_early_and_at_most_a_tick_late_while_the_wait_is_short() {
        for now in 0..1000 {
            for after in [1, 2, 10, 40, 200, 248] {
                let late = waits_ms(now, after) - after;
                assert!((0..8).contains(&late), "{after} ms at {now} ms: {late} ms late");
            }
        }
        assert_eq!((waits_ms(0, 40), waits_ms(3, 40)), (44, 41));
    }

    #[test]
    fn long_waits_end_in_coarser_buckets() {
        // 65 ticks: the bucket of 8 ticks that begins at 64 ends at 72.
        assert_eq!(waits_ms(0, 260), 288);
        // 252 ms are 63 ticks, the first of the second level; 2016 ms are 504, the first of the third, in steps of 64.
        assert_eq!((waits_ms(0, 248), waits_ms(0, 252), waits_ms(0, 2012), waits_ms(0, 2016)), (252, 256, 2016, 2048));
        for after in [252, 300, 1000, 2012] {
            let late: Vec<_> = (0..2000).map(|now| waits_ms(now, after) - after).collect();
            let (least, most) = (late.iter().min().unwrap(), late.iter().max().unwrap());
            assert!(*least >= 0 && *most <= 36, "{after} ms: {least} to {most} ms late");
            assert!(late.iter().any(|&late| late >= 28));
        }
    }

    #[test]
    fn what_is_kept_in_ticks_is_rounded_up() {
        assert_eq!([1, 4000, 253_001].map(round_up_us), [4000, 4000, 256_000]);
    }
}
