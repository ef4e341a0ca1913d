//! Some columns of a Parquet file, batch by batch. The file may come from any writer, and may be damaged.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use bytes::Bytes;
use parquet::basic::{ConvertedType, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use crate::bounds;

/// Rows that are read at once.
const BATCH: usize = 64 * 1024;

/// Some rows, with the columns that were asked for, in that order.
pub struct Rows {
    columns: Vec<Source>,
    len: usize,
}

/// A column of numbers or flags.
pub struct Values<'a, T: Value> {
    values: &'a [T::Stored],
    levels: &'a [i16],
}

/// A column of text, by what stands for each different one.
pub struct Words<'a, T> {
    keys: Values<'a, u32>,
    words: Vec<Option<T>>,
}

/// Opens a file of a run by its name.
pub type Open<'a> = &'a dyn Fn(&str) -> io::Result<File>;

/// Known words.
pub struct Index<'a>(HashMap<&'a [u8], u16>);

impl<'a> Index<'a> {
    /// Returns an index in which words have the numbers of their order.
    pub fn of(words: impl IntoIterator<Item = &'a str>) -> Index<'a> {
        Index(words.into_iter().map(str::as_bytes).zip(0..).collect())
    }
}

/// Gives all rows of the table at `path`, in order, to `take`.
///
/// # Errors
/// The file cannot be read, or lacks a column. `take` fails.
pub fn read(path: &Path, columns: &[&str], take: impl FnMut(&Rows) -> Result<()>) -> Result<()> {
    rows(File::open(path), columns, take).with_context(|| format!("reading {}", path.display()))
}

/// Gives all rows of a run's table to `take`, as [`read`].
///
/// # Errors
/// As [`read`].
pub fn read_table(open: Open, table: &str, columns: &[&str], take: impl FnMut(&Rows) -> Result<()>) -> Result<()> {
    let name = format!("{table}.parquet");
    rows(open(&name), columns, take).with_context(|| format!("reading {name}"))
}

/// Returns true if a run has a table, readable or not.
pub fn has_table(open: Open, table: &str) -> bool {
    !open(&format!("{table}.parquet")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn rows(file: io::Result<File>, columns: &[&str], mut take: impl FnMut(&Rows) -> Result<()>) -> Result<()> {
    let file = checked(file?)?;
    let file = guarded(|| Ok(SerializedFileReader::new(file)?))?;
    let leaves = file.metadata().file_metadata().schema_descr().columns();
    let source = |name: &&str| {
        let place = leaves.iter().position(|leaf| name_of(leaf) == *name);
        let place = place.with_context(|| format!("it lacks the column {name}"))?;
        Ok(Source::of(leaves[place].clone(), place))
    };
    let mut rows = Rows { columns: columns.iter().map(source).collect::<Result<_>>()?, len: 0 };
    for number in 0..file.num_row_groups() {
        let group = file.get_row_group(number)?;
        guarded(|| rows.columns.iter_mut().try_for_each(|column| column.open(&*group)))?;
        let mut left = usize::try_from(group.metadata().num_rows())?;
        while left > 0 {
            rows.len = left.min(BATCH);
            guarded(|| rows.columns.iter_mut().try_for_each(|column| column.read(rows.len)))?;
            take(&rows)?;
            left -= rows.len;
        }
    }
    Ok(())
}

fn checked(file: File) -> Result<File> {
    bounds::check(&file)?;
    Ok(file)
}

/// Does what panics with some damaged files.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(anyhow!("it is damaged")))
}

/// Returns the names and types of a table's columns: types as [`rows::Described`] names them, but all text is `str`.
///
/// # Errors
/// The file cannot be read.
pub fn columns(path: &Path) -> Result<Vec<(String, String)>> {
    let file = SerializedFileReader::new(checked(File::open(path)?)?)?;
    let leaves = file.metadata().file_metadata().schema_descr().columns();
    Ok(leaves.iter().map(|leaf| (name_of(leaf).to_owned(), kind(leaf))).collect())
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn column(&self, at: usize, kind: &str) -> Result<&Source> {
        let column = &self.columns[at];
        ensure!(column.kind == kind, "the column {} is of type {}, not {kind}", name_of(&column.column), column.kind);
        Ok(column)
    }

    /// Returns a column of numbers or flags.
    ///
    /// # Errors
    /// The column is of another type.
    pub fn values<T: Value>(&self, at: usize) -> Result<Values<'_, T>> {
        let column = self.column(at, T::KIND)?;
        Ok(Values { values: T::stored(&column.values), levels: &column.levels })
    }

    /// Returns a column of text, as indices of words; none of text that is not among them.
    ///
    /// # Errors
    /// The column is of another type.
    pub fn words(&self, at: usize, index: &Index<'_>) -> Result<Words<'_, u16>> {
        self.texts_as(at, |word| Ok(index.0.get(word.data()).copied()))
    }

    /// Returns a column of text.
    ///
    /// # Errors
    /// The column is of another type, or has bytes that are no text.
    pub fn texts(&self, at: usize) -> Result<Words<'_, &str>> {
        self.texts_as(at, |word| Ok(Some(word.as_utf8()?)))
    }

    fn texts_as<'a, T>(
        &'a self,
        at: usize,
        of: impl FnMut(&'a ByteArray) -> Result<Option<T>>,
    ) -> Result<Words<'a, T>> {
        let column = self.column(at, "str")?;
        let words = column.words.iter().map(of).collect::<Result<_>>()?;
        Ok(Words { keys: Values { values: &column.values.i32, levels: &column.levels }, words })
    }
}

impl<T: Value> Values<'_, T> {
    /// Returns the value of a row, if there is one.
    pub fn get(&self, at: usize) -> Option<T> {
        (self.levels.is_empty() || self.levels[at] != 0).then(|| T::of(self.values[at]))
    }
}

impl<T: Copy> Words<'_, T> {
    /// Returns what stands for the text of a row, if something does.
    pub fn get(&self, at: usize) -> Option<T> {
        *self.words.get(self.keys.get(at)? as usize)?
    }
}

/// A type of numbers or flags.
pub trait Value: Sized {
    /// Name of the type.
    const KIND: &'static str;
    /// The type in files, whose bits it has.
    type Stored: Copy;
    #[doc(hidden)]
    fn stored(values: &Stored) -> &[Self::Stored];
    #[doc(hidden)]
    fn of(stored: Self::Stored) -> Self;
}

macro_rules! values {
    ($($kind:ident as $stored:ident),*) => {
        $(impl Value for $kind {
            const KIND: &'static str = stringify!($kind);
            type Stored = $stored;
            fn stored(values: &Stored) -> &[$stored] {
                &values.$stored
            }
            fn of(stored: $stored) -> $kind {
                stored as $kind
            }
        })*
    };
}

values!(u16 as i32, u32 as i32, u64 as i64, i64 as i64, f32 as f32, f64 as f64, bool as bool);

/// Values of a column in a batch: one of the vectors has them.
#[doc(hidden)]
#[derive(Default)]
pub struct Stored {
    i32: Vec<i32>,
    i64: Vec<i64>,
    f32: Vec<f32>,
    f64: Vec<f64>,
    bool: Vec<bool>,
}

/// A column that is being read.
struct Source {
    column: ColumnDescPtr,
    place: usize,
    kind: String,
    /// The pages of the open row group.
    pages: Option<ColumnReader>,
    /// Rows without a value have any.
    values: Stored,
    /// For each row, 0 if it has no value; empty if all have one.
    levels: Vec<i16>,
    /// Text in a batch whose pages have no indices.
    texts: Vec<ByteArray>,
    /// Different texts: the values are indices of these.
    words: Vec<ByteArray>,
}

impl Source {
    fn of(column: ColumnDescPtr, place: usize) -> Source {
        let kind = kind(&column);
        let (values, levels, texts, words) = Default::default();
        Source { column, place, kind, pages: None, values, levels, texts, words }
    }

    fn open(&mut self, group: &dyn RowGroupReader) -> Result<()> {
        if !is_flat(&self.column) {
            return Ok(());
        }
        let pages = group.get_column_page_reader(self.place)?;
        let encodings = group.metadata().column(self.place).page_encoding_stats_mask();
        let is_by_words = self.kind == "str" && encodings.is_some_and(|mask| mask.encodings().all(is_dictionary));
        self.pages = Some(if is_by_words {
            let (keys, words) = Keys::of(pages).with_context(|| format!("the column {}", name_of(&self.column)))?;
            self.words = words;
            let key = Type::primitive_type_builder(name_of(&self.column), Physical::INT32).build()?;
            let (levels, path) = (self.column.max_def_level(), self.column.path().clone());
            let column = ColumnDescriptor::new(Arc::new(key), levels, 0, path);
            ColumnReader::Int32ColumnReader(ColumnReaderImpl::new(Arc::new(column), Box::new(keys)))
        } else {
            get_column_reader(self.column.clone(), pages)
        });
        Ok(())
    }

    /// Reads so many rows.
    fn read(&mut self, rows: usize) -> Result<()> {
        let (to, levels) = (&mut self.values, &mut self.levels);
        let done = match self.pages.as_mut() {
            Some(ColumnReader::Int32ColumnReader(from)) => fill(from, rows, &mut to.i32, levels),
            Some(ColumnReader::Int64ColumnReader(from)) => fill(from, rows, &mut to.i64, levels),
            Some(ColumnReader::FloatColumnReader(from)) => fill(from, rows, &mut to.f32, levels),
            Some(ColumnReader::DoubleColumnReader(from)) => fill(from, rows, &mut to.f64, levels),
            Some(ColumnReader::BoolColumnReader(from)) => fill(from, rows, &mut to.bool, levels),
            Some(ColumnReader::ByteArrayColumnReader(from)) => {
                let done = fill(from, rows, &mut self.texts, levels);
                done.map(|()| number(&self.texts, levels, &mut self.words, &mut to.i32))
            }
            // Nobody can ask for a value of another type.
            _ => Ok(()),
        };
        done.with_context(|| format!("the column {}", name_of(&self.column)))
    }
}

/// Reads so many rows: those without a value have any.
fn fill<T: DataType>(
    from: &mut ColumnReaderImpl<T>,
    rows: usize,
    values: &mut Vec<T::T>,
    levels: &mut Vec<i16>,
) -> Result<()> {
    values.clear();
    levels.clear();
    let (read, mut left, _) = from.read_records(rows, Some(levels), None, values)?;
    ensure!(read == rows, "it ends before its last row");
    if left == rows {
        levels.clear();
    }
    values.resize_with(rows, T::T::default);
    for at in (0..rows).rev() {
        if left > at {
            break;
        }
        if levels[at] != 0 {
            left -= 1;
            values.swap(at, left);
        }
    }
    Ok(())
}

/// Numbers different texts, which are words from now on.
fn number(texts: &[ByteArray], levels: &[i16], words: &mut Vec<ByteArray>, keys: &mut Vec<i32>) {
    let mut numbers = HashMap::new();
    words.clear();
    keys.clear();
    keys.extend(texts.iter().enumerate().map(|(at, text)| match levels.get(at) {
        Some(0) => 0,
        _ => *numbers.entry(text.data()).or_insert_with(|| {
            words.push(text.clone());
            words.len() as i32 - 1
        }),
    }));
}

/// Returns the type of a column, as [`rows::Described`] names it; all text is `str`.
fn kind(column: &ColumnDescriptor) -> String {
    if !is_flat(column) {
        return "nested".to_owned();
    }
    let kind = match (column.physical_type(), column.converted_type(), column.logical_type_ref()) {
        (Physical::INT64, ConvertedType::NONE, None) | (Physical::INT64, ConvertedType::INT_64, _) => "i64",
        (Physical::INT64, ConvertedType::UINT_64, _) => "u64",
        (Physical::INT32, ConvertedType::UINT_32, _) => "u32",
        (Physical::INT32, ConvertedType::UINT_16, _) => "u16",
        (Physical::FLOAT, ConvertedType::NONE, None) => "f32",
        (Physical::DOUBLE, ConvertedType::NONE, None) => "f64",
        (Physical::BOOLEAN, ConvertedType::NONE, None) => "bool",
        (Physical::BYTE_ARRAY, ConvertedType::UTF8, _) => "str",
        (physical, ConvertedType::NONE, _) => return physical.to_string(),
        (_, converted, _) => return converted.to_string(),
    };
    kind.to_owned()
}

/// Returns the name of a column, of which a nested one has several parts.
fn name_of(column: &ColumnDescriptor) -> &str {
    column.path().parts().first().map_or("", String::as_str)
}

fn is_flat(column: &ColumnDescriptor) -> bool {
    column.path().parts().len() == 1 && column.max_rep_level() == 0
}

fn is_dictionary(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

/// The pages of a column of text, read as numbers: indices of its dictionary.
struct Keys {
    /// A dictionary of the indices themselves.
    dictionary: Option<Page>,
    pages: Box<dyn PageReader>,
}

impl Keys {
    /// Returns the numbers and the words behind them.
    fn of(mut pages: Box<dyn PageReader>) -> Result<(Keys, Vec<ByteArray>)> {
        let mut words = Vec::new();
        let mut rest = match pages.get_next_page()? {
            Some(Page::DictionaryPage { buf, .. }) => buf,
            Some(_) => bail!("it has no dictionary"),
            None => Bytes::new(),
        };
        while !rest.is_empty() {
            let (length, _) = rest.split_first_chunk().context("its dictionary ends within a word")?;
            let length = u32::from_le_bytes(*length) as usize;
            ensure!(rest.len() >= 4 + length, "its dictionary ends within a word");
            words.push(rest.slice(4..4 + length).into());
            rest = rest.slice(4 + length..);
        }
        let count = i32::try_from(words.len())?;
        let numbers: Vec<u8> = (0..count).flat_map(i32::to_le_bytes).collect();
        let (num_values, encoding) = (count as u32, Encoding::PLAIN);
        let dictionary = Page::DictionaryPage { buf: numbers.into(), num_values, encoding, is_sorted: false };
        Ok((Keys { dictionary: Some(dictionary), pages }, words))
    }
}

impl PageReader for Keys {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        let Some(page) = self.dictionary.take().map_or_else(|| self.pages.get_next_page(), |page| Ok(Some(page)))?
        else {
            return Ok(None);
        };
        if page.is_data_page() && !is_dictionary(page.encoding()) {
            return Err(ParquetError::General(format!("a page is encoded by {}, unlike its column", page.encoding())));
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.pages.skip_next_page()
    }
}

impl Iterator for Keys {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
