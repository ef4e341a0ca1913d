//! The clock of a user-mode kernel in virtual time, and the timer that wakes it.
//!
//! Computing takes no time there, but the clock counts in steps of 256 ns, and its timer is set for what is left by that
//! clock. Time has gone on by a part of a step since, so the timer fires by that part late; if the clock hasn't reached the
//! due time even then, it is set again, and waits for its least time. The part is the sum of all times for which the timer was
//! set, modulo a step. So it also depends on timers that have nothing to do with TCP: those of the run's own processes.
//!
//! `python -m benches.simulator.timers` shows how these sleep in a kernel, and how often they look at the clock.

use std::time::Duration;

use messages::{PROGRESS, PUBLICATION};
use units::Time;

/// A step of the clock (`TIMER_MULTIPLIER`), and the least time of its timer (`TIMER_MIN_DELTA`), ns.
const STEP: i64 = 256;
const LEAST: i64 = 500;
/// poll(2) waits for whole milliseconds.
const MILLISECOND: i64 = 1_000_000;

/// How often senders look at the clock when they wake to write.
const WRITE_LOOKS: i64 = 7;

/// The clock and its timer.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// Time of the clock after all that was done so far.
    says: i64,
    /// The part of a step that has passed since.
    beyond: i64,
    /// Time of the clock when the timer fired last.
    fired: i64,
    /// Processes of the run; the senders are the last.
    processes: Vec<Process>,
}

/// A process that wakes at an interval.
#[derive(Debug)]
struct Process {
    /// The time at which it may wake, ns.
    due: i64,
    /// Time since which the process sleeps.
    asleep: i64,
    /// How often it looks at the clock when it is awake. Each look takes a step (`timer_read`).
    looks: i64,
    interval: i64,
    rhythm: Rhythm,
}

/// The time from which a process counts its next interval.
#[derive(Debug)]
enum Rhythm {
    /// From the time at which it was due.
    Due,
    /// From its falling asleep: its last look but one.
    Asleep,
    /// From a time that it keeps, this one at first. It sleeps for whole milliseconds, the last one begun included.
    Kept(i64),
}

impl Process {
    fn new(due: i64, interval: Duration, looks: i64, rhythm: Rhythm) -> Process {
        let interval = interval.as_nanos() as i64;
        Process { due, asleep: due - interval, looks, interval, rhythm }
    }

    /// The timer is set for a thousandth of the wait later (`select_estimate_accuracy`): a process may wake with anything that
    /// fires before.
    fn expires(&self) -> i64 {
        self.due + (self.due - self.asleep) / 1000
    }

    /// Puts the process to sleep: it has looked at the clock, which says `now`.
    fn sleep(&mut self, now: i64) {
        let look = now - STEP;
        self.due = match &mut self.rhythm {
            Rhythm::Due => self.due + self.interval,
            Rhythm::Asleep => look + self.interval,
            Rhythm::Kept(kept) => {
                *kept += self.interval;
                look + (*kept - look + MILLISECOND - 1) / MILLISECOND * MILLISECOND
            }
        };
        self.asleep = now;
    }
}

/// The processes of a run: the supervisor, which tells of its progress (`supervisor::live`), the emulator, which publishes the
/// links' counts (`emu::device`), and the senders, who publish the flows' (`traffic::event_loop`). The times are those of one
/// flow.
fn processes_of_a_run() -> Vec<Process> {
    vec![
        Process::new(72_051_200, PROGRESS, 5, Rhythm::Kept(72_005_000)),
        Process::new(30_052_480, PUBLICATION, 2, Rhythm::Asleep),
        Process::new(50_000_256, PUBLICATION, 6, Rhythm::Due),
    ]
}

impl Clock {
    /// Returns the clock of a kernel that runs the processes of a run.
    pub(super) fn of_a_run() -> Clock {
        Clock { processes: processes_of_a_run(), ..Clock::default() }
    }

    /// Returns the clock's time at an action that is due at `due`, which is not before the last one was due.
    pub(super) fn fire(&mut self, due: Time) -> Time {
        while self.fired < due.0 {
            let expires = self.processes.iter().map(Process::expires).min();
            self.wait(expires.map_or(due.0, |expires| expires.min(due.0)));
        }
        Time(self.fired)
    }

    /// The senders have woken to write, and sleep again until they publish.
    pub(super) fn write(&mut self) {
        if let Some(senders) = self.processes.last_mut() {
            self.says += WRITE_LOOKS * STEP;
            senders.asleep = self.says;
        }
    }

    /// The timer is set for `due`, if that is yet to come, and fires. Processes that are due by then wake.
    fn wait(&mut self, due: i64) {
        while self.says < due {
            let time = self.says + self.beyond + (due - self.says).max(LEAST);
            self.beyond = time % STEP;
            self.says = time - self.beyond;
        }
        self.fired = self.says;
        for process in self.processes.iter_mut().filter(|process| process.due <= self.fired) {
            self.says += process.looks * STEP;
            process.sleep(self.says);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_at_steps_of_the_clock_and_at_most_two_steps_late() {
        // Full frames at 10 Mbit/s are 64 ns more than a multiple of a step apart. This is how late a kernel's are, too.
        let mut clock = Clock::default();
        let late: Vec<_> = (1..=1000).map(|n| 1_211_200 * n).map(|due| clock.fire(Time(due)).0 - due).collect();
        let mut lengths = late.clone();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths, [0, 64, 128, 192, 320, 384, 448]);
        let share = |ns| late.iter().filter(|&&late| late == ns).count();
        assert!(
            share(448) > share(384) && share(384) > share(320),
            "the later the step before, the likelier a step more"
        );
    }

    #[test]
    fn what_is_due_together_is_taken_together() {
        let mut clock = Clock::default();
        let at = clock.fire(Time(1_000_001));
        assert_eq!(clock.fire(Time(1_000_100)), at);
        assert_eq!(clock.fire(at), at);
        assert!(clock.fire(Time(at.0 + 1)).0 >= at.0 + STEP);
    }

    /// One that wakes each 50 ms, with 50 us of slack.
    fn with_a_process() -> Clock {
        let process = Process::new(10_000_128, PUBLICATION, 4, Rhythm::Due);
        Clock { processes: vec![process], ..Clock::default() }
    }

    #[test]
    fn a_process_that_wakes_shifts_the_timer_s_phase() {
        let (mut alone, mut shared) = (Clock::default(), with_a_process());
        let due = Time(77_734 * STEP);
        assert_eq!((alone.fire(due), shared.fire(due)), (due, due));
        // The timer is set twice: the clock says 10,050,048 when it fires first.
        assert_eq!((alone.beyond, shared.beyond), (0, (10_050_128 + LEAST) % STEP));
    }

    #[test]
    fn a_process_wakes_with_what_fires_in_its_slack_and_delays_what_comes_within_its_looks() {
        let mut clock = with_a_process();
        let with = clock.fire(Time(10_010_000));
        assert!((0..2 * STEP).contains(&(with.0 - 10_010_000)), "it goes first");
        assert_eq!(clock.fire(with), with);
        assert_eq!(clock.fire(Time(with.0 + 1)).0, with.0 + 4 * STEP);
        assert_eq!(clock.processes[0].due, 60_000_128);
    }

    #[test]
    fn what_a_process_s_late_timer_passes_goes_before_it_looks() {
        let mut clock = with_a_process();
        let due = 10_050_129;
        let at = clock.fire(Time(due)).0;
        assert!((0..3 * STEP).contains(&(at - due)), "one interrupt takes both: {}", at - due);
    }

    #[test]
    fn senders_that_have_written_sleep_for_less_and_so_with_less_slack() {
        let mut clock = with_a_process();
        let now = clock.fire(Time(9_000_000)).0;
        clock.write();
        let asleep = now + WRITE_LOOKS * STEP;
        assert_eq!(clock.fire(Time(now + 1)).0, asleep, "what comes within its looks is late");
        assert_eq!(clock.processes[0].expires(), 10_000_128 + (10_000_128 - asleep) / 1000);
    }

    #[test]
    fn the_supervisor_sleeps_for_whole_milliseconds_and_keeps_near_its_times() {
        let mut clock = Clock::of_a_run();
        let dues: Vec<_> = (1..=1000)
            .map(|n| {
                clock.fire(Time(n * 100_000_000 + 90_000_000));
                clock.processes[0].due - (n + 1) * 100_000_000
            })
            .collect();
        assert!(dues.iter().all(|due| (72_005_000..73_005_000).contains(due)));
    }
}
