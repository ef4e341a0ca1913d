//! Rows as they are in memory, of which the same program makes tables later.
//!
//! In a virtual machine whose instructions are its clock, to write Parquet was a fifth of all that a run computed. There rows
//! are left as they are ([`defer`]), and become tables outside ([`settle`]).

use std::fs::{File, remove_file};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::columns::TableFile;
use crate::kinds::Visit;
use crate::writer::{create, write};
use crate::{Encoding, Names, Row, acks, kinds, links, packets, samples};
use anyhow::{Context, Result, ensure};

/// Bytes of rows from which on they become a table at once: they lie in memory.
const MOST: usize = 24 << 20;

static DEFERRED: AtomicBool = AtomicBool::new(false);

/// From now on this process, and those that it forks, leave rows as they are.
pub fn defer() {
    DEFERRED.store(true, Relaxed);
}

pub(crate) fn is_deferred<R: Row>() -> bool {
    R::ENCODING.is_some() && DEFERRED.load(Relaxed)
}

/// Make tables of all rows that were left in a run's directory, by this very program.
///
/// # Errors
/// A file cannot be read or written.
pub fn settle(dir: &Path, names: &Names) -> Result<()> {
    struct Settle<'a>(&'a Path, &'a Names);
    impl Visit for Settle<'_> {
        type Error = anyhow::Error;

        fn visit<R: Row>(&mut self) -> Result<()> {
            match Flat::<R>::open(&self.0.join(R::TABLE).with_extension("parquet"))? {
                Some(flat) => flat.settle(self.1)?.finish_on_disk(),
                None => Ok(()),
            }
        }
    }
    let mut settle = Settle(dir, names);
    settle.visit::<samples::Sample>()?;
    settle.visit::<acks::Ack>()?;
    settle.visit::<packets::PacketRow>()?;
    settle.visit::<links::LinkRow>()?;
    kinds::each(&mut settle)?;
    for entry in dir.read_dir().with_context(|| format!("reading {}", dir.display()))? {
        let path = entry?.path();
        ensure!(path.extension().is_none_or(|end| end != "rows"), "nothing makes a table of {}", path.display());
    }
    Ok(())
}

/// The place of a table's rows until it is made.
pub fn rows_of(table: &Path) -> PathBuf {
    table.with_extension("rows")
}

/// A file of rows: a number that tells programs apart, and then blocks. Each begins with its length in bytes.
pub(crate) struct Flat<R: 'static> {
    table: PathBuf,
    file: File,
    encoding: &'static Encoding<R>,
    bytes: usize,
    block: Vec<u8>,
}

impl<R: Row> Flat<R> {
    /// Head of the file: programs whose rows differ in size are of different versions.
    const HEAD: [u8; 8] = (size_of::<R>() as u64).to_le_bytes();

    fn with(table: &Path, file: File) -> Result<Flat<R>> {
        let encoding =
            const { R::ENCODING.as_ref() }.with_context(|| format!("rows of {} cannot be left", R::TABLE))?;
        Ok(Flat { table: table.to_owned(), file, encoding, bytes: 0, block: Vec::new() })
    }

    /// Begin with the rows of a table.
    pub(crate) fn create(table: &Path) -> Result<Flat<R>> {
        let path = rows_of(table);
        let mut file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        file.write_all(&Self::HEAD)?;
        Flat::with(table, file)
    }

    /// The rows of a table, if some were left.
    fn open(table: &Path) -> Result<Option<Flat<R>>> {
        let path = rows_of(table);
        match File::open(&path) {
            Ok(file) => Flat::with(table, file).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("opening {}", path.display())),
        }
    }

    /// Append rows. True if there are so many that they have to become a table.
    pub(crate) fn write(&mut self, rows: &[R]) -> Result<bool> {
        self.block.clear();
        self.block.extend([0; 4]);
        rows.iter().for_each(|row| (self.encoding.put)(row, &mut self.block));
        let length = (self.block.len() - 4) as u32;
        self.block[..4].copy_from_slice(&length.to_le_bytes());
        self.file.write_all(&self.block)?;
        self.bytes += self.block.len();
        Ok(self.bytes > MOST)
    }

    /// Make a table of them: it is open for more rows.
    pub(crate) fn settle(self, names: &Names) -> Result<TableFile> {
        let path = rows_of(&self.table);
        let mut file = File::open(&path).with_context(|| format!("reading {}", path.display()))?;
        let mut read = || -> Result<TableFile> {
            let mut table = create::<R>(&self.table)?;
            let mut head = Self::HEAD;
            file.read_exact(&mut head)?;
            ensure!(head == Self::HEAD, "it is of another version of the program");
            let (mut length, mut block, mut rows) = ([0; 4], Vec::new(), Vec::new());
            // Block by block, as a writer hands rows over: the table is the same then.
            while file.read(&mut length[..1])? == 1 {
                file.read_exact(&mut length[1..])?;
                let length = u32::from_le_bytes(length);
                block.clear();
                (&mut file).take(length.into()).read_to_end(&mut block)?;
                ensure!(block.len() == length as usize, "its last rows are missing");
                rows.clear();
                let mut from = &block[..];
                while !from.is_empty() {
                    let row = (self.encoding.take)(&mut from).filter(|row| names.have_those_of(row));
                    rows.push(row.context("bytes of it are no rows")?);
                }
                write(&mut table, &rows, names)?;
            }
            Ok(table)
        };
        let table = read().with_context(|| format!("{} is damaged: repeat the run", path.display()))?;
        remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::kinds::PingRow;
    use crate::writer::CHUNK;

    fn row(number: u64) -> PingRow {
        let rtt = (!number.is_multiple_of(3)).then(|| units::Duration(number as i64 * 1000));
        PingRow { flow: 0, number, sent: Time(number as i64), rtt, is_lost: rtt.is_none() }
    }

    /// Rows that were left give the same table as rows that are written at once, also if there are too many to leave
    /// them.
    #[test]
    fn a_table_is_the_same_whenever_it_is_made() {
        // A row has 20 bytes at least.
        let most = MOST / 20;
        let names = Names { flows: vec!["f1".into(), "other".into()], links: Vec::new() };
        for count in [0, 3, 3 * CHUNK + 5, most + 2 * CHUNK] {
            let dir = tempfile::tempdir().unwrap();
            let at_once = dir.path().join("once.parquet");
            let mut table = create::<PingRow>(&at_once).unwrap();
            let later = dir.path().join("pings.parquet");
            let mut flat = Some(Flat::create(&later).unwrap());
            let mut full = None;
            let rows: Vec<PingRow> = (0..count as u64).map(row).collect();
            for chunk in rows.chunks(CHUNK) {
                write(&mut table, chunk, &names).unwrap();
                match &mut full {
                    Some(open) => write(open, chunk, &names).unwrap(),
                    None if flat.as_mut().unwrap().write(chunk).unwrap() => {
                        full = Some(flat.take().unwrap().settle(&names).unwrap());
                    }
                    None => {}
                }
            }
            table.finish().unwrap();
            assert_eq!(full.is_some(), count > most);
            full.map(|mut table| table.finish()).transpose().unwrap();
            settle(dir.path(), &names).unwrap();
            assert!(!rows_of(&later).exists());
            assert_eq!(std::fs::read(&at_once).unwrap(), std::fs::read(&later).unwrap(), "{count} rows");
        }
    }

    /// Whatever a file holds, rows are values of their types, or there is an error.
    #[test]
    fn a_file_that_somebody_else_wrote_is_damaged() {
        let names = Names { flows: vec!["f1".into(), "other".into()], links: Vec::new() };
        let dir = tempfile::tempdir().unwrap();
        let path = rows_of(&dir.path().join("pings.parquet"));
        Flat::create(&dir.path().join("pings.parquet")).unwrap().write(&[row(1), row(2)]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let settled = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            settle(dir.path(), &names).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(settled(&whole), Ok(()));
        let damaged = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            settled(&bytes).unwrap_err()
        };
        let (first, last) = (8 + 4, whole.len() - 1);
        let no_rows = format!("{} is damaged: repeat the run: bytes of it are no rows", path.display());
        assert_eq!(damaged(last, 2), no_rows, "neither true nor false");
        assert_eq!(damaged(first + 18, 7), no_rows, "neither a number nor none");
        assert_eq!(damaged(first, 2), no_rows, "a flow that the plan lacks");
        assert!(damaged(0, 1).ends_with("it is of another version of the program"));
        assert!(damaged(8 + 3, 255).ends_with("its last rows are missing"));
        for end in (0..whole.len()).filter(|&end| end != 8) {
            assert!(settled(&whole[..end]).is_err(), "{end} bytes");
        }
    }
}
