//! Rows as they are in memory, of which the same program makes tables later.
//!
//! In a virtual machine whose instructions are its clock, to write Parquet was a fifth of all that a run computed. There rows
//! are left as they are ([`defer`]), and become tables outside ([`settle`]).

use std::fs::{File, remove_file};
use std::io::{ErrorKind, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::columns::TableFile;
use crate::writer::{CHUNK, create, write};
use crate::{Names, Row, acks, links, packets, pings, samples};
use anyhow::{Context, Result, ensure};

/// Bytes of rows from which on they become a table at once: they lie in memory.
const MOST: usize = 24 << 20;

static DEFERRED: AtomicBool = AtomicBool::new(false);

/// From now on this process, and those that it forks, leave rows as they are.
pub fn defer() {
    DEFERRED.store(true, Relaxed);
}

pub(crate) fn is_deferred<R: Row>() -> bool {
    R::IS_FLAT && DEFERRED.load(Relaxed)
}

/// Make tables of all rows that were left in a run's directory, by this very program.
///
/// # Errors
/// A file cannot be read or written.
pub fn settle(dir: &Path, names: &Names) -> Result<()> {
    fn one<R: Row>(dir: &Path, names: &Names) -> Result<()> {
        match Flat::<R>::open(&dir.join(R::TABLE).with_extension("parquet"))? {
            Some(flat) => flat.settle(names)?.finish_on_disk(),
            None => Ok(()),
        }
    }
    one::<samples::Sample>(dir, names)?;
    one::<acks::Ack>(dir, names)?;
    one::<packets::PacketRow>(dir, names)?;
    one::<links::LinkRow>(dir, names)?;
    one::<pings::PingRow>(dir, names)?;
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

/// A file of rows. It begins with the size of one, and then has one after the other.
pub(crate) struct Flat<R> {
    table: PathBuf,
    file: File,
    bytes: usize,
    rows: PhantomData<R>,
}

impl<R: Row> Flat<R> {
    /// Begin with the rows of a table.
    pub(crate) fn create(table: &Path) -> Result<Flat<R>> {
        let path = rows_of(table);
        let mut file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        file.write_all(&size_of::<R>().to_le_bytes())?;
        Ok(Flat { table: table.to_owned(), file, bytes: 0, rows: PhantomData })
    }

    /// The rows of a table, if some were left.
    fn open(table: &Path) -> Result<Option<Flat<R>>> {
        let path = rows_of(table);
        match File::open(&path) {
            Ok(file) => Ok(Some(Flat { table: table.to_owned(), file, bytes: 0, rows: PhantomData })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("opening {}", path.display())),
        }
    }

    /// Append rows. True if there are so many that they have to become a table.
    pub(crate) fn write(&mut self, rows: &[R]) -> Result<bool> {
        // SAFETY: the bytes of the rows; those between their fields mean nothing, and are only copied.
        self.file.write_all(unsafe { slice::from_raw_parts(rows.as_ptr().cast::<u8>(), size_of_val(rows)) })?;
        self.bytes += size_of_val(rows);
        Ok(self.bytes > MOST)
    }

    /// Make a table of them: it is open for more rows.
    pub(crate) fn settle(self, names: &Names) -> Result<TableFile> {
        let path = rows_of(&self.table);
        let what = || format!("reading {}", path.display());
        let mut file = File::open(&path).with_context(what)?;
        let mut size = [0; size_of::<usize>()];
        file.read_exact(&mut size).with_context(what)?;
        let bytes = file.metadata()?.len() as usize - size.len();
        ensure!(
            usize::from_le_bytes(size) == size_of::<R>() && bytes.is_multiple_of(size_of::<R>()),
            "{} is damaged, or of another version of the program: repeat the run",
            path.display()
        );
        let mut table = create::<R>(&self.table)?;
        let mut left = bytes / size_of::<R>();
        let mut rows: Vec<R> = Vec::with_capacity(left.min(CHUNK));
        while left > 0 {
            // As many at a time as a writer hands over: the table is the same then.
            let count = left.min(CHUNK);
            let bytes = count * size_of::<R>();
            // SAFETY: there is room for so many rows, and no row of these types has anything to drop. They are rows once they
            // are read: this program wrote them, and they have no pointer.
            unsafe {
                rows.as_mut_ptr().write_bytes(0, count);
                file.read_exact(slice::from_raw_parts_mut(rows.as_mut_ptr().cast::<u8>(), bytes)).with_context(what)?;
                rows.set_len(count);
            }
            write(&mut table, &rows, names)?;
            rows.clear();
            left -= count;
        }
        remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::pings::PingRow;

    fn row(number: u64) -> PingRow {
        let rtt = (!number.is_multiple_of(3)).then(|| units::Duration(number as i64 * 1000));
        PingRow { flow: 0, number, sent: Time(number as i64), rtt, is_lost: rtt.is_none() }
    }

    /// Of rows that were left the same table is made as at once, also of those of which there are too many to leave them.
    #[test]
    fn a_table_is_the_same_whenever_it_is_made() {
        let most = MOST / size_of::<PingRow>();
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
}
