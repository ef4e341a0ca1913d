//! The documents of many runs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{FileStat, Mode, fstat, stat};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes of a document that is read here. Those of a run with 100 flows have a tenth of that.
const USUAL: u64 = 1 << 20;

const MANIFEST: &str = "manifest.json";
const SUMMARY: &str = "summary.json";
const SCENARIO: &str = "scenario.toml";

/// A run's manifest, its summary, bytes of its files, its stamp, and its scenario.
type Documents<T> = (Option<T>, Option<T>, u64, (Change, Change, Change), Option<T>);
/// Time (ns), inode and size of a file; zeros if it is missing.
type Change = (i64, i64, i64);

/// Reads `manifest.json`, `summary.json` and `scenario.toml` of the runs that are called `names` in a folder, given by its
/// descriptor: of each, the first two, the bytes of all files of the run, its stamp from before it was read, and the scenario.
/// A stamp is time (ns), inode and size of the directory, the manifest and the summary, zeros for one that is missing. No link
/// is followed. A document that is missing, large, or no regular file is None: who wants it, or the reason, opens it by itself.
/// Other threads of Python run meanwhile.
///
/// Raises OSError if the descriptor is no folder's.
#[pyfunction]
pub(crate) fn read_runs<'py>(
    py: Python<'py>,
    folder: i32,
    names: Vec<OsString>,
) -> PyResult<Vec<Documents<Bound<'py, PyBytes>>>> {
    let read = || -> io::Result<Vec<Documents<Vec<u8>>>> {
        let folder = open(&held(folder), OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        Ok(names.iter().map(|name| documents(&folder, Path::new(name)).unwrap_or_default()).collect())
    };
    let found = py.detach(read)?;
    let bytes = |content: Option<Vec<u8>>| content.map(|content| PyBytes::new(py, &content));
    Ok(found
        .into_iter()
        .map(|(manifest, summary, size, stamp, scenario)| {
            (bytes(manifest), bytes(summary), size, stamp, bytes(scenario))
        })
        .collect())
}

fn documents(folder: &OwnedFd, name: &Path) -> io::Result<Documents<Vec<u8>>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let run = openat(folder, name, flags, Mode::empty())?;
    let folder = held(run.as_raw_fd());
    let stamp = (change(fstat(&run)), change(stat(&folder.join(MANIFEST))), change(stat(&folder.join(SUMMARY))));
    let [manifest, summary, scenario] = [MANIFEST, SUMMARY, SCENARIO].map(|name| document(&run, name).ok());
    Ok((manifest, summary, size(&folder), stamp, scenario))
}

fn change(status: nix::Result<FileStat>) -> Change {
    status.map_or((0, 0, 0), |status| {
        (
            status.st_mtime.wrapping_mul(1_000_000_000).wrapping_add(status.st_mtime_nsec),
            status.st_ino as i64,
            status.st_size,
        )
    })
}

fn document(run: impl AsFd, name: &str) -> io::Result<Vec<u8>> {
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = File::from(openat(run, name, flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() || found.len() > USUAL {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::with_capacity(found.len() as usize + 1);
    file.take(USUAL).read_to_end(&mut content)?;
    Ok(content)
}

/// Bytes of all files in a folder, but for those behind links. It may be removed meanwhile.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |found| found.len()),
            _ => 0,
        })
        .fold(0, u64::saturating_add)
}

fn held(descriptor: i32) -> PathBuf {
    format!("/proc/self/fd/{descriptor}").into()
}
