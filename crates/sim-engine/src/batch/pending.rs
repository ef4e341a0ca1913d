use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::Result;

use super::run::Outcome;
use super::{Batch, shard};

/// Shards that wait for their last run.
#[derive(Debug)]
pub(super) struct PendingShards<'a> {
    batch: &'a Batch<'a>,
    shards: Vec<Range<usize>>,
    is_written: Vec<bool>,
    /// The outcomes of those runs that are not written yet.
    open: BTreeMap<usize, Vec<Option<Outcome>>>,
    /// Shards before this are written, and so many runs are in them.
    first: usize,
    floor: usize,
}

impl<'a> PendingShards<'a> {
    /// Pending shards for the runs of `shards`.
    pub(super) fn new(batch: &'a Batch<'a>, shards: Vec<Range<usize>>) -> PendingShards<'a> {
        let is_written = vec![false; shards.len()];
        PendingShards { batch, shards, is_written, open: BTreeMap::new(), first: 0, floor: 0 }
    }

    /// Take what became of the run `index`, and write its shard if that was the last one. Returns how many runs, counted
    /// from the first, are written without a gap.
    pub(super) fn put(&mut self, index: usize, outcome: Outcome) -> Result<usize> {
        let number = self.shards.partition_point(|shard| shard.end <= index);
        let runs = self.shards[number].clone();
        let shard = self.open.entry(number).or_insert_with(|| runs.clone().map(|_| None).collect());
        shard[index - runs.start] = Some(outcome);
        if shard.iter().all(Option::is_some) {
            let outcomes: Vec<Outcome> = self.open.remove(&number).into_iter().flatten().flatten().collect();
            shard::write(self.batch, runs, &outcomes)?;
            self.is_written[number] = true;
            while self.is_written.get(self.first) == Some(&true) {
                self.floor += self.shards[self.first].len();
                self.first += 1;
            }
        }
        Ok(self.floor)
    }

    /// Write what there is of shards that will not be completed.
    pub(super) fn finish(self) -> Result<()> {
        for (number, outcomes) in self.open {
            let mut stretch: Vec<Outcome> = Vec::new();
            for (run, outcome) in (self.shards[number].start..).zip(outcomes.into_iter().chain([None])) {
                match outcome {
                    Some(outcome) => stretch.push(outcome),
                    None if stretch.is_empty() => {}
                    None => {
                        shard::write(self.batch, run - stretch.len()..run, &stretch)?;
                        stretch.clear();
                    }
                }
            }
        }
        Ok(())
    }
}
