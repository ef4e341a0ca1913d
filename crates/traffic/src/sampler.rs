use std::path::Path;

use anyhow::Result;
use plan::Plan;
use records::samples::Sample;
use records::{Names, Writer, WriterStats};
use units::{Duration, Time};

use crate::kernel_sampler::{KernelSampler, SOCKETS, Taken};
use crate::report::Sampling;
use realtime::{Clock, Spans};

/// Writes `samples.parquet` and says how well it kept to its grid.
pub struct Sampler {
    table: Writer<Sample>,
    pub grid: Grid,
    /// The last sample of each flow.
    latest: Vec<Option<Sample>>,
    /// CPU time that it took.
    pub cpu_ns: i64,
    taken: u64,
    last: Option<Time>,
    intervals: Spans,
    inside: Option<Inside>,
}

/// Samples that the kernel takes.
struct Inside {
    sampler: KernelSampler,
    clock: Clock,
    /// True if the sampler takes all: its ticks are the sampler's.
    alone: bool,
    taken: Vec<Taken>,
    failed: Option<anyhow::Error>,
}

impl Sampler {
    pub fn create(plan: &Plan, dir: &Path) -> Result<Sampler> {
        Sampler::of(Names::of(plan), plan.record.sample_interval_ns, dir)
    }

    /// A sampler of flows of these names.
    pub fn of(names: Names, interval: Duration, dir: &Path) -> Result<Sampler> {
        Ok(Sampler {
            latest: vec![None; names.flows.len()],
            table: Writer::create(&dir.join("samples.parquet"), names)?,
            grid: Grid::new(interval),
            cpu_ns: 0,
            taken: 0,
            last: None,
            intervals: Spans::default(),
            inside: None,
        })
    }

    /// Time begins. Let the kernel sample TCP flows, if it can; `alone`: there are no others.
    pub fn start(&mut self, plan: &Plan, clock: Clock, alone: bool) -> Result<()> {
        if plan.flows.len() <= SOCKETS
            && let Some(sampler) = KernelSampler::open()?
        {
            sampler.start(clock, plan.record.sample_interval_ns, Time::ZERO + plan.duration_ns)?;
            self.inside = Some(Inside { sampler, clock, alone, taken: Vec::new(), failed: None });
        }
        Ok(())
    }

    /// The kernel's sampler, if there is one.
    pub fn kernel(&mut self) -> Option<&mut KernelSampler> {
        self.inside.as_mut().map(|inside| &mut inside.sampler)
    }

    /// Nobody else needs to sample.
    pub fn is_inside(&self) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.alone)
    }

    /// Take over what the kernel has sampled so far.
    pub fn collect(&mut self) {
        let Some(inside) = &mut self.inside else { return };
        if let Err(error) = inside.sampler.read(inside.clock, &mut inside.taken) {
            inside.failed.get_or_insert(error);
        }
        let (alone, mut all) = (inside.alone, std::mem::take(&mut inside.taken));
        for Taken { time, sample } in all.drain(..) {
            if alone && self.last != Some(time) {
                self.tick(time);
            }
            if let Some(sample) = sample {
                self.latest[usize::from(sample.flow)] = Some(sample);
                self.table.push(sample);
            }
        }
        if let Some(inside) = &mut self.inside {
            inside.taken = all;
        }
    }

    /// Samples are being taken at `now`.
    pub fn tick(&mut self, now: Time) {
        self.taken += 1;
        if let Some(last) = self.last.replace(now) {
            self.intervals.add(now - last);
        }
        self.grid.pass(now);
    }

    /// A sample that was taken now.
    pub fn push(&mut self, sample: Sample) {
        self.collect();
        self.latest[usize::from(sample.flow)] = Some(sample);
        self.table.push(sample);
    }

    /// The flow's latest sample; of a program with several connections, one of them.
    pub fn latest(&self, flow: usize) -> Option<&Sample> {
        self.latest[flow].as_ref()
    }

    /// Write everything down.
    pub fn finish(mut self, end: Time) -> Result<(Sampling, WriterStats)> {
        self.collect();
        if let Some(error) = self.inside.and_then(|inside| inside.failed) {
            return Err(error);
        }
        let sampling = Sampling {
            expected: self.grid.points_before(end),
            taken: self.taken,
            cpu_s: self.cpu_ns as f64 / 1e9,
            interval_us: self.intervals.quantiles(),
        };
        Ok((sampling, self.table.finish()?))
    }
}

/// Multiples of an interval, from the origin on. A late tick doesn't shift the ones after it.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    interval: i64,
    index: i64,
}

impl Grid {
    /// An interval below a microsecond is taken as one.
    pub fn new(interval: Duration) -> Grid {
        Grid { interval: interval.as_nanos().max(1_000), index: 0 }
    }

    /// The next point.
    pub fn next(&self) -> Time {
        Time(self.index * self.interval)
    }

    /// The point due is done at `now`; points that are over by then are skipped.
    pub fn pass(&mut self, now: Time) {
        self.index = (now.as_nanos().div_euclid(self.interval)).max(self.index) + 1;
    }

    fn points_before(&self, end: Time) -> u64 {
        (end.as_nanos().max(0) as u64).div_ceil(self.interval as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_never_shifts_the_grid() {
        let mut grid = Grid::new(Duration::from_millis(10));
        assert_eq!(grid.next(), Time(0));
        grid.pass(Time(9_999_999));
        assert_eq!(grid.next(), Time(10_000_000));
        grid.pass(Time(34_000_000));
        assert_eq!(grid.next(), Time(40_000_000), "20 and 30 ms are over");
        assert_eq!(grid.points_before(Time(40_000_000)), 4, "0, 10, 20 and 30 ms");
        assert_eq!(grid.points_before(Time(40_000_001)), 5);
    }
}
