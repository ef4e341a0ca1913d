//! Some columns of a Parquet file, batch by batch.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, UInt16Type};
use arrow_array::{Array, BooleanArray, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use rustc_hash::FxHashMap;

use crate::panics::caught;

/// Rows that are read at once.
const BATCH: usize = 64 * 1024;

/// Some rows, with the columns that were asked for, in that order.
pub(crate) struct Rows<'a> {
    names: &'a [&'a str],
    batch: RecordBatch,
}

/// A column of numbers.
pub(crate) struct Numbers<'a, T: ArrowPrimitiveType>(&'a PrimitiveArray<T>);

/// Known words.
pub(crate) struct Index<'a>(FxHashMap<&'a str, u16>);

impl<'a> Index<'a> {
    pub fn of(words: impl IntoIterator<Item = &'a str>) -> Index<'a> {
        Index(words.into_iter().zip(0..).collect())
    }
}

/// A column of text, as indices of known words.
pub(crate) struct Words<'a> {
    keys: &'a PrimitiveArray<UInt16Type>,
    /// The index of each key.
    indices: Vec<Option<u16>>,
}

/// Give all rows of the table at `path`, in order, to `take`.
///
/// # Errors
/// The file cannot be read, or lacks a column. `take` fails.
pub(crate) fn read(path: &Path, columns: &[&str], mut take: impl FnMut(&Rows) -> Result<()>) -> Result<()> {
    let read = || -> Result<()> {
        let file = File::open(path)?;
        // The file may come from any writer: text is read as words and numbers, not letter by letter.
        let options = ArrowReaderOptions::new();
        let found = ArrowReaderMetadata::load(&file, options.clone().with_skip_arrow_metadata(true))?;
        let fields: Vec<Field> = found.schema().fields().iter().map(|field| by_words(field)).collect();
        let metadata = ArrowReaderMetadata::load(&file, options.with_schema(Arc::new(Schema::new(fields))))?;
        for column in columns {
            metadata.schema().index_of(column).map_err(|_| anyhow::anyhow!("it lacks the column {column}"))?;
        }
        let mask = ProjectionMask::columns(metadata.parquet_schema(), columns.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        for batch in reader.with_projection(mask).with_batch_size(BATCH).build()? {
            take(&Rows { names: columns, batch: batch? })?;
        }
        Ok(())
    };
    caught(read).with_context(|| format!("reading {}", path.display()))
}

fn by_words(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Utf8 => DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8)),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, field.is_nullable())
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    fn column(&self, at: usize) -> &dyn Array {
        self.batch.column_by_name(self.names[at]).expect("it was asked for")
    }

    fn is_no<T>(&self, at: usize, what: &str) -> Result<T> {
        anyhow::bail!("the column {} is of type {}, not {what}", self.names[at], self.column(at).data_type())
    }

    /// A column of numbers.
    pub fn numbers<T: ArrowPrimitiveType>(&self, at: usize) -> Result<Numbers<'_, T>> {
        match self.column(at).as_primitive_opt::<T>() {
            Some(numbers) => Ok(Numbers(numbers)),
            None => self.is_no(at, &T::DATA_TYPE.to_string()),
        }
    }

    /// A column of flags.
    pub fn flags(&self, at: usize) -> Result<&BooleanArray> {
        match self.column(at).as_boolean_opt() {
            Some(flags) => Ok(flags),
            None => self.is_no(at, "flags"),
        }
    }

    /// A column of text, as indices of words; none of text that is not among them.
    pub fn words(&self, at: usize, index: &Index<'_>) -> Result<Words<'_>> {
        let Some(column) = self.column(at).as_dictionary_opt::<UInt16Type>() else { return self.is_no(at, "text") };
        let known = column.values().as_string::<i32>();
        Ok(Words { keys: column.keys(), indices: known.iter().map(|word| index.0.get(word?).copied()).collect() })
    }
}

impl<T: ArrowPrimitiveType> Numbers<'_, T> {
    pub fn get(&self, at: usize) -> Option<T::Native> {
        self.0.is_valid(at).then(|| self.0.value(at))
    }
}

impl Words<'_> {
    pub fn get(&self, at: usize) -> Option<u16> {
        self.keys.is_valid(at).then(|| self.indices[usize::from(self.keys.value(at))]).flatten()
    }
}
