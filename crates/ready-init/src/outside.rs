//! The same program on the host, when the machine has ended: it unpacks the records, and makes tables of the rows that the
//! machine left as they were.

use std::env::args_os;
use std::path::{Component, Path, PathBuf};
use std::process::exit;

use anyhow::{Context, Result, bail, ensure};
use plan::Plan;
use records::Names;
use tar::Archive;

use crate::shared::{Shared, State};

/// Bytes of all records. The machine has half as much memory for them.
const MOST: u64 = 1 << 30;

/// `ready_init SHARED DIR`: the file of the shared memory, and the run's directory.
pub(crate) fn main() {
    let words: Vec<PathBuf> = args_os().skip(1).map(PathBuf::from).collect();
    let done = match &words[..] {
        [shared, directory] => settle(shared, directory),
        _ => usage(),
    };
    if let Err(error) = done {
        eprintln!("{error:#}");
        exit(1);
    }
}

fn usage() -> Result<()> {
    bail!("this is the first process of a virtual machine; outside: ready_init SHARED DIR")
}

/// Nothing is left of a machine that did not come to its end.
fn settle(shared: &Path, directory: &Path) -> Result<()> {
    let shared = Shared::of(shared)?;
    if !shared.is_done() {
        return Ok(());
    }
    unpack(&shared.output()?, directory).context("unpacking the records")?;
    let plan = Plan::read(&directory.join("plan.json"))?;
    records::flat::settle(directory, &Names::of(&plan))?;
    shared.enter(State::Settled);
    Ok(())
}

/// Unpacks what a machine left, whose kernel may be a stranger's: new files and folders below the directory.
///
/// A link would lead readers of the run elsewhere, and another plan or scenario would pass for the one that ran. A file
/// with holes takes few bytes of the archive.
fn unpack(archive: &[u8], directory: &Path) -> Result<()> {
    let mut room = MOST;
    for entry in Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let kind = entry.header().entry_type();
        let is_plain = kind.is_dir() || kind.is_file() || kind.is_gnu_sparse();
        ensure!(is_plain, "{} is neither a file nor a folder", path.display());
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        ensure!(is_below, "{} lies elsewhere", path.display());
        let is_taken = directory.join(&path).symlink_metadata().is_ok_and(|there| !there.is_dir() && there.len() > 0);
        ensure!(!is_taken, "{} is there already", path.display());
        room = room.checked_sub(entry.size()).with_context(|| format!("they have more than {MOST} bytes"))?;
        ensure!(entry.unpack_in(directory)?, "{} lies elsewhere", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tar::{Builder, EntryType, Header};

    use super::*;

    /// An archive with one entry, whose name and size nobody has checked.
    fn archive(name: &str, kind: EntryType, size: u64, content: &[u8]) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        if kind == EntryType::GNUSparse {
            let gnu = header.as_gnu_mut().unwrap();
            gnu.set_real_size(size);
            gnu.sparse[0].set_offset(size - content.len() as u64);
            gnu.sparse[0].set_length(content.len() as u64);
        }
        if kind == EntryType::Symlink {
            header.set_link_name("/etc").unwrap();
        }
        header.set_cksum();
        let mut made = Builder::new(Vec::new());
        made.append(&header, content).unwrap();
        made.into_inner().unwrap()
    }

    #[test]
    fn a_strangers_records_are_new_files_below_the_directory() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("run");
        fs::create_dir_all(directory.join("logs")).unwrap();
        fs::write(directory.join("plan.json"), "ours").unwrap();
        fs::write(directory.join("logs/events.jsonl"), "").unwrap();
        symlink(base.path(), directory.join("away")).unwrap();
        let refused = [
            (archive("logs/x", EntryType::Symlink, 0, b""), "neither a file nor a folder"),
            (archive("null", EntryType::Char, 0, b""), "neither a file nor a folder"),
            (archive("plan.json", EntryType::Regular, 0, b"theirs"), "is there already"),
            (archive("../x", EntryType::Regular, 0, b"theirs"), "lies elsewhere"),
            (archive("/tmp/x", EntryType::Regular, 0, b"theirs"), "lies elsewhere"),
            (archive("away/x", EntryType::Regular, 0, b"theirs"), "outside"),
            (archive("zeros", EntryType::GNUSparse, 1 << 50, b"x"), "more than"),
        ];
        for (bytes, why) in refused {
            let error = format!("{:#}", unpack(&bytes, &directory).unwrap_err());
            assert!(error.contains(why), "{error} does not say: {why}");
        }
        assert_eq!(fs::read_to_string(directory.join("plan.json")).unwrap(), "ours");
        assert!(!base.path().join("x").exists() && !directory.join("logs/x").exists());
        assert!(!directory.join("zeros").exists());
        for name in ["logs/events.jsonl", "samples.parquet"] {
            unpack(&archive(name, EntryType::Regular, 0, b"rows"), &directory).unwrap();
            assert_eq!(fs::read_to_string(directory.join(name)).unwrap(), "rows");
        }
        unpack(&archive("holes", EntryType::GNUSparse, 1000, b"x"), &directory).unwrap();
        assert_eq!(fs::metadata(directory.join("holes")).unwrap().len(), 1000);
    }
}
