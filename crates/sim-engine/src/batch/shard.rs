//! Shards on disk: a folder each, named by its first and its last run.

use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};

use super::run::Outcome;
use super::{Batch, tables};

/// The runs with these numbers that no shard in `directory` has yet, in pieces of one shard each. Pieces end
/// at multiples of the shard's size, which makes them the same whatever was there before. The partial files of a batch
/// that was killed are removed.
pub fn missing(directory: &Path, numbers: Range<usize>, shard_runs: usize) -> Result<Vec<Range<usize>>> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let mut has = vec![false; numbers.len()];
    for shard in present(directory)? {
        let index = |number: usize| number.clamp(numbers.start, numbers.end) - numbers.start;
        has[index(shard.start)..index(shard.end)].fill(true);
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for number in numbers.clone().filter(|number| !has[number - numbers.start]) {
        match pieces.last_mut() {
            Some(last) if last.end == number && !number.is_multiple_of(shard_runs) => last.end += 1,
            _ => pieces.push(number..number + 1),
        }
    }
    Ok(pieces)
}

/// The runs that are on disk.
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

/// Write the shard of `runs`, indices into the batch's runs; it is there as a whole or not at all.
pub(super) fn write(batch: &Batch<'_>, runs: Range<usize>, outcomes: &[Outcome]) -> Result<()> {
    let first = batch.first + runs.start;
    let name = format!("{first:08}-{:08}", batch.first + runs.end - 1);
    let (partial, complete) = (batch.directory.join(format!("{PARTIAL}{name}")), batch.directory.join(&name));
    let write = || -> Result<()> {
        fs::create_dir(&partial)?;
        for (table, rows) in tables::all(&batch.runs[runs.clone()], first, outcomes) {
            rows.write(&partial.join(format!("{table}.parquet")))?;
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

    fn missing_beside(shards: &[&str], numbers: Range<usize>) -> Vec<Range<usize>> {
        let directory = tempfile::tempdir().unwrap();
        for shard in shards {
            fs::create_dir(directory.path().join(shard)).unwrap();
        }
        let found = missing(directory.path(), numbers, 4).unwrap();
        assert!(!directory.path().join(".partial-00000004-00000007").exists());
        found
    }

    #[test]
    fn without_shards_all_is_missing() {
        assert_eq!(missing_beside(&[], 0..10), [0..4, 4..8, 8..10]);
    }

    #[test]
    fn what_is_there_is_not_missing() {
        let there = ["00000000-00000001", "00000004-00000007", ".partial-00000004-00000007", "notes"];
        assert_eq!(missing_beside(&there, 0..10), [2..4, 8..10]);
        assert_eq!(missing_beside(&["00000001-00000001", "00000008-00000011"], 0..9), [0..1, 2..4, 4..8]);
        assert_eq!(missing_beside(&["00000000-00000011"], 0..9), []);
    }

    #[test]
    fn of_some_numbers_only_these() {
        assert_eq!(missing_beside(&["00000000-00000006", "00000012-00000015"], 5..14), [7..8, 8..12]);
        assert_eq!(missing_beside(&["00000000-00000003"], 6..10), [6..8, 8..10]);
    }
}
