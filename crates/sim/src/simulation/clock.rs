//! The clock of a user-mode kernel in virtual time, and the timer that wakes it.
//!
//! Computing takes no time there, but the clock counts in steps of 256 ns, and its timer is set for what is left by that
//! clock. Time has gone on by a part of a step since, so the timer fires by that part late; if the clock hasn't reached the
//! due time even then, it is set again, and waits for its least time. The part is the sum of all times for which the timer was
//! set, modulo a step. So it also depends on timers that have nothing to do with TCP: those of the run's own processes.
//!
//! `python -m benches.simulator.timers` shows all this in a kernel: how often each process wakes, and its looks at the clock.

use units::Time;

/// A step of the clock (`TIMER_MULTIPLIER`), and the least time of its timer (`TIMER_MIN_DELTA`), ns.
const STEP: i64 = 256;
const LEAST: i64 = 500;

/// The clock and its timer.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// What the clock says after all that was done so far, and the part of a step that had passed since that step.
    says: i64,
    beyond: i64,
    /// What it said when the timer fired last.
    fired: i64,
    processes: Vec<Process>,
}

/// A process that wakes at an interval.
#[derive(Debug)]
struct Process {
    /// The time at which it may wake, ns.
    due: i64,
    interval: i64,
    /// The timer is set for so much later: a process may wake with anything that fires before.
    slack: i64,
    /// How often it looks at the clock when it is awake. Each look takes a step (`timer_read`).
    looks: i64,
    /// Whether it wakes at multiples of its interval, or so long after it has fallen asleep.
    keeps_time: bool,
}

/// The processes of a run, as they are with one flow: the supervisor, which tells of its progress (`supervisor::live`), the
/// emulator, which publishes the links' counts (`emu::device`), and the senders, who publish the flows' (`traffic::event_loop`).
/// They sleep in poll(2), which takes a thousandth of the time as slack, 50 us at least (`select_estimate_accuracy`).
fn of_a_run() -> Vec<Process> {
    vec![
        Process { due: 72_051_200, interval: 100_000_000, slack: 100_000, looks: 5, keeps_time: false },
        Process { due: 30_052_480, interval: 50_000_000, slack: 50_000, looks: 2, keeps_time: false },
        Process { due: 50_000_256, interval: 50_000_000, slack: 50_000, looks: 6, keeps_time: true },
    ]
}

impl Clock {
    /// That of a kernel which runs the processes of a run.
    pub(super) fn of_a_run() -> Clock {
        Clock { processes: of_a_run(), ..Clock::default() }
    }

    /// What the clock says when something is carried out that is due at `due`, which is not before what was due last.
    pub(super) fn fire(&mut self, due: Time) -> Time {
        if due.0 > self.fired {
            while let Some(process) = self.processes.iter().map(|process| process.due + process.slack).min()
                && process < due.0
                && self.says < due.0
            {
                self.wait(process);
            }
            self.wait(due.0);
        }
        Time(self.fired)
    }

    /// The timer is set for `due`, if that is yet to come, and fires. Then the processes that may do what they have to.
    fn wait(&mut self, due: i64) {
        while self.says < due {
            let time = self.says + self.beyond + (due - self.says).max(LEAST);
            self.beyond = time % STEP;
            self.says = time - self.beyond;
        }
        self.fired = self.says;
        for process in &mut self.processes {
            if process.due <= self.says {
                self.says += process.looks * STEP;
                // Its last look but one is what it counts from.
                let from = if process.keeps_time { process.due } else { self.says - STEP };
                process.due = from + process.interval;
            }
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

    /// One that wakes each 10 ms, with 50 us of slack.
    fn with_a_process() -> Clock {
        let process = Process { due: 10_000_128, interval: 10_000_000, slack: 50_000, looks: 4, keeps_time: true };
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
        assert_eq!(clock.processes[0].due, 20_000_128);
    }
}
