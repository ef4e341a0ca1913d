//! Archives of a run's directory: the host's, to be unpacked in the virtual machine, and that of new files for the host.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tar::{Archive, Builder};

/// File in the run's directory with the names of the files that the host sent: these are not sent back.
const TAKEN: &str = ".taken";

/// Unpacks the host's archive into the directory.
pub(crate) fn unpack(bytes: &[u8], directory: &Path) -> Result<()> {
    let mut archive = Archive::new(bytes);
    archive.set_preserve_mtime(false);
    archive.unpack(directory).context("unpacking the run's directory")?;
    let names: Vec<PathBuf> = files(directory)?;
    fs::write(directory.join(TAKEN), serde_json::to_vec(&names)?).context("noting what came in")
}

/// Packs all files of the directory that the host did not send, and removes them.
pub(crate) fn pack(directory: &Path) -> Result<Vec<u8>> {
    let taken = fs::read(directory.join(TAKEN)).context("reading what came in")?;
    let mut taken: BTreeSet<PathBuf> = serde_json::from_slice(&taken)?;
    taken.insert(TAKEN.into());
    let mut archive = Builder::new(Vec::new());
    for name in files(directory)?.into_iter().filter(|name| !taken.contains(name)) {
        let file = directory.join(&name);
        archive.append_path_with_name(&file, &name).with_context(|| format!("packing {}", name.display()))?;
        // Memory holds all twice otherwise.
        fs::remove_file(&file).with_context(|| format!("removing {}", name.display()))?;
    }
    archive.into_inner().context("packing the records")
}

/// Names of all files below a directory, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(directory)?.to_owned()),
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_in_does_not_go_out() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("cc")).unwrap();
        for name in ["plan.json", "cc/mine.o"] {
            fs::write(outside.path().join(name), name).unwrap();
        }
        let mut sent = Builder::new(Vec::new());
        sent.append_dir_all(".", outside.path()).unwrap();
        unpack(&sent.into_inner().unwrap(), inside.path()).unwrap();
        assert_eq!(fs::read_to_string(inside.path().join("cc/mine.o")).unwrap(), "cc/mine.o");

        fs::create_dir(inside.path().join("logs")).unwrap();
        fs::write(inside.path().join("logs/a.log"), "said").unwrap();
        fs::write(inside.path().join("samples.parquet"), "rows").unwrap();
        let packed = pack(inside.path()).unwrap();
        let back = tempfile::tempdir().unwrap();
        Archive::new(&packed[..]).unpack(back.path()).unwrap();
        assert_eq!(files(back.path()).unwrap(), [PathBuf::from("logs/a.log"), "samples.parquet".into()]);
        assert_eq!(fs::read_to_string(back.path().join("logs/a.log")).unwrap(), "said");
    }
}
