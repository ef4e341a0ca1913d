//! A digest of what a table holds, however it is written.

use sha2::{Digest as _, Sha256};

use crate::{Cell, Names, Row};

/// The digest of a table's rows, taken one after the other.
///
/// The table's digest is the SHA-256 of each column's name, a byte 0 and the column's own, in the columns' order. A column's is the SHA-256
/// of nine bytes for each row: 1 and eight bytes of the value, or nine zeros without one. Integers and flags are
/// little-endian; numbers are the bits of 64-bit floating point; of a text, the first eight bytes of its SHA-256 stand.
/// `python/dumbbell/records/digests.py` reads the same from Parquet files.
#[derive(Clone, Debug)]
pub struct Digest<R: Row> {
    columns: Vec<Sha256>,
    names: Names,
    row: std::marker::PhantomData<fn(R)>,
}

impl<R: Row> Digest<R> {
    /// The digest of no rows. `names`: the words behind their numbers.
    pub fn new(names: Names) -> Digest<R> {
        Digest { columns: vec![Sha256::new(); R::COLUMNS.len()], names, row: std::marker::PhantomData }
    }

    /// Take one more row.
    pub fn push(&mut self, row: &R) {
        for (column, hash) in R::COLUMNS.iter().zip(&mut self.columns) {
            hash.update(bytes(column.cell(row, &self.names)));
        }
    }

    /// The digest of all rows so far: 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        let mut all = Sha256::new();
        for (column, hash) in R::COLUMNS.iter().zip(&self.columns) {
            all.update(column.name);
            all.update([0]);
            all.update(hash.clone().finalize());
        }
        all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn bytes(cell: Cell<'_>) -> [u8; 9] {
    let value = match cell {
        Cell::Null => return [0; 9],
        Cell::Signed(value) => value.to_le_bytes(),
        Cell::Unsigned(value) => value.to_le_bytes(),
        Cell::Float(value) => value.to_bits().to_le_bytes(),
        Cell::Flag(value) => u64::from(value).to_le_bytes(),
        Cell::Text(text) => Sha256::digest(text)[..8].try_into().expect("a digest has 32 bytes"),
    };
    let mut all = [1; 9];
    all[1..].copy_from_slice(&value);
    all
}
