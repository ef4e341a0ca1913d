//! Shards on disk: a folder each, named by its first and its last run.

use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};

use super::run::Outcome;
use super::{Batch, tables};

/// The runs that no shard has yet, in pieces of one shard each. Pieces end at multiples of the shard's size, so that they
/// are the same ones whatever was there before.
pub(super) fn missing(batch: &Batch<'_>) -> Result<Vec<Range<usize>>> {
    fs::create_dir_all(batch.directory).with_context(|| format!("making {}", batch.directory.display()))?;
    let mut has = vec![false; batch.runs.len()];
    for shard in present(batch.directory)? {
        let end = shard.end.min(has.len());
        has[shard.start.min(end)..end].fill(true);
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for index in (0..has.len()).filter(|&index| !has[index]) {
        match pieces.last_mut() {
            Some(last) if last.end == index && index % batch.shard_runs != 0 => last.end += 1,
            _ => pieces.push(index..index + 1),
        }
    }
    Ok(pieces)
}

/// The runs that are on disk. What a batch that was killed had begun to write is removed.
fn present(directory: &Path) -> Result<Vec<Range<usize>>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("reading {}", directory.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PARTIAL) {
            fs::remove_dir_all(entry.path()).with_context(|| format!("removing {}", entry.path().display()))?;
        } else if let Some((first, last)) = name.split_once('-')
            && let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>())
        {
            found.push(first..last + 1);
        }
    }
    Ok(found)
}

const PARTIAL: &str = ".partial-";

/// Write the shard of `runs`, so that it is there as a whole or not at all.
pub(super) fn write(batch: &Batch<'_>, runs: Range<usize>, outcomes: &[Outcome]) -> Result<()> {
    let name = format!("{:08}-{:08}", runs.start, runs.end - 1);
    let (partial, complete) = (batch.directory.join(format!("{PARTIAL}{name}")), batch.directory.join(&name));
    let write = || -> Result<()> {
        fs::create_dir(&partial)?;
        for (table, rows) in tables::all(&batch.runs[runs.clone()], runs.start, outcomes)? {
            tables::write(&partial.join(format!("{table}.parquet")), &rows)?;
        }
        File::open(&partial)?.sync_all()?;
        fs::rename(&partial, &complete)?;
        Ok(File::open(batch.directory)?.sync_all()?)
    };
    write().with_context(|| format!("writing the shard {}", complete.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Run;

    fn missing_beside(shards: &[&str], runs: usize) -> Vec<Range<usize>> {
        let directory = tempfile::tempdir().unwrap();
        for shard in shards {
            fs::create_dir(directory.path().join(shard)).unwrap();
        }
        let runs = vec![Run { cell: 0, plan: 0, repetition: 0, seed: 0, id: String::new() }; runs];
        let plans = [String::new()];
        let batch =
            Batch { plans: &plans, runs: &runs, directory: directory.path(), shard_runs: 4, threads: 1, screen: None };
        let found = missing(&batch).unwrap();
        assert!(!directory.path().join(".partial-00000004-00000007").exists());
        found
    }

    #[test]
    fn without_shards_all_is_missing() {
        assert_eq!(missing_beside(&[], 10), [0..4, 4..8, 8..10]);
    }

    #[test]
    fn what_is_there_is_not_missing() {
        let there = ["00000000-00000001", "00000004-00000007", ".partial-00000004-00000007", "notes"];
        assert_eq!(missing_beside(&there, 10), [2..4, 8..10]);
        assert_eq!(missing_beside(&["00000001-00000001", "00000008-00000011"], 9), [0..1, 2..4, 4..8]);
        assert_eq!(missing_beside(&["00000000-00000011"], 9), []);
    }
}
