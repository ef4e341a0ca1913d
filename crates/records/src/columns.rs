//! Columns as Parquet has them: typed values of rows, and the file that they are written to.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use cc::State;
use cc::state::{Kind, StateColumn};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};
use rows::{Column, Described, Names, Values, bandwidth_bps, fixed};

use crate::arrow;

/// Rows of a row group, at most: those that come at once are not split.
const GROUP: usize = 1 << 20;

/// Rows whose words are written at once: their copies stay in the processor's cache.
const PIECE: usize = 1024;

/// Bytes that are written to a file at once.
const BUFFER: usize = 256 << 10;

/// The values of a column, without those that rows lack. Unsigned numbers have the bits of the signed.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Data {
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<ByteArray>),
    /// Indices of words.
    Words(Vec<u16>, Vec<ByteArray>),
}

/// A column of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// The values of the rows that have one.
    pub data: Data,
    /// For each row, 1 if it has a value, else 0. `None` of a column that is not nullable.
    pub levels: Option<Vec<i16>>,
}

/// Returns the column of some rows.
pub fn fill<'a, R: 'static>(column: &Column<R>, rows: impl ExactSizeIterator<Item = &'a R>, names: &Names) -> Filled {
    let gaps = column.is_nullable;
    match column.values {
        Values::I64(of) => gather(rows.map(of), gaps, Data::I64),
        Values::U16(of) => gather(rows.map(|row| of(row).map(i32::from)), gaps, Data::I32),
        Values::U32(of) => gather(rows.map(|row| of(row).map(|value| value as i32)), gaps, Data::I32),
        Values::U64(of) => gather(rows.map(|row| of(row).map(|value| value as i64)), gaps, Data::I64),
        Values::F32(of) => gather(rows.map(of), gaps, Data::F32),
        Values::F64(of) => gather(rows.map(of), gaps, Data::F64),
        Values::Bool(of) => gather(rows.map(of), gaps, Data::Bool),
        Values::Text(of) => gather(rows.map(of), gaps, texts),
        Values::Word(of, texts) => gather(rows.map(of), gaps, words(texts)),
        Values::Flow(of) => gather(rows.map(|row| Some(of(row))), gaps, named(&names.flows)),
        Values::Link(of) => gather(rows.map(|row| Some(of(row))), gaps, named(&names.links)),
        Values::Published(of, state) => published(rows.map(of), state),
    }
}

/// Returns a column of the state that algorithms have published: rows of others lack it.
fn published<'a>(rows: impl ExactSizeIterator<Item = (&'a State, u32)>, column: &StateColumn) -> Filled {
    let values = rows.map(|(state, mss)| Some((column.value(state)?, mss)));
    match column.kind {
        Kind::Number => gather(values.map(|v| Some(v?.0 as i32)), true, Data::I32),
        Kind::Fixed(one) => gather(values.map(|v| Some(fixed(v?.0, one))), true, Data::F32),
        Kind::Bandwidth(times, per) => {
            let bps = |(value, mss)| bandwidth_bps(value, mss, times, per) as i64;
            gather(values.map(|v| v.map(bps)), true, Data::I64)
        }
        Kind::Flag => gather(values.map(|v| Some(v?.0 != 0)), true, Data::Bool),
        Kind::Word(texts) => gather(values.map(|v| Some(v?.0 as u16)), true, words(texts)),
    }
}

/// Splits values from their absence, which only columns with `gaps` have.
fn gather<T>(rows: impl ExactSizeIterator<Item = Option<T>>, gaps: bool, data: impl FnOnce(Vec<T>) -> Data) -> Filled {
    // This is done per packet.
    if !gaps {
        return Filled { data: data(rows.map(|value| value.expect("a required column")).collect()), levels: None };
    }
    let (mut values, mut levels) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for value in rows {
        levels.push(i16::from(value.is_some()));
        if let Some(value) = value {
            values.push(value);
        }
    }
    Filled { data: data(values), levels: Some(levels) }
}

/// Makes values of indices of `texts`.
pub fn words<S: AsRef<str>>(texts: &'static [S]) -> impl FnOnce(Vec<u16>) -> Data {
    let words = texts.iter().map(|text| Bytes::from_static(text.as_ref().as_bytes()).into()).collect();
    |keys| Data::Words(keys, words)
}

/// Makes values of texts, which are parts of one buffer: to allocate each takes a while.
fn texts(texts: Vec<&str>) -> Data {
    let (all, mut end) = (Bytes::from(texts.concat()), 0);
    let part = |text: &&str| {
        let start = end;
        end += text.len();
        all.slice(start..end).into()
    };
    Data::Text(texts.iter().map(part).collect())
}

/// Makes values of indices of names.
fn named(names: &[String]) -> impl FnOnce(Vec<u16>) -> Data {
    let words = names.iter().map(|name| name.as_str().into()).collect();
    |keys| Data::Words(keys, words)
}

/// Columns of rows of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    columns: Vec<(Described, Filled)>,
    rows: usize,
}

impl Batch {
    /// Fills columns of some rows.
    pub fn of<'a, R: 'static>(
        columns: impl IntoIterator<Item = &'static Column<R>>,
        rows: impl ExactSizeIterator<Item = &'a R> + Clone,
    ) -> Batch {
        let names = Names::default();
        let columns = columns.into_iter().map(|column| (column.described(), fill(column, rows.clone(), &names)));
        Batch { columns: columns.collect(), rows: rows.len() }
    }

    /// Appends columns of the same rows.
    pub fn beside(mut self, right: Batch) -> Batch {
        self.columns.extend(right.columns);
        self
    }

    /// Writes a table, and makes sure that it is on the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(self, path: &Path) -> Result<()> {
        let (described, filled): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let mut table = TableFile::create(path, &described, compressed()?)?;
        table.write(self.rows, filled)?;
        table.finish_on_disk()
    }
}

/// Returns the properties of every table.
pub(crate) fn compressed() -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?)))
}

/// A Parquet file that is being written. Rows become pages as they come: those of the open row group wait, encoded.
pub(crate) struct TableFile {
    pub(crate) file: SerializedFileWriter<BufWriter<File>>,
    group: Vec<Chunk>,
    /// Rows of the open row group.
    rows: usize,
}

impl TableFile {
    /// Creates the file at `path`.
    pub(crate) fn create(path: &Path, columns: &[Described], properties: WriterPropertiesBuilder) -> Result<TableFile> {
        let file = File::create(path).with_context(|| format!("creating the table {}", path.display()))?;
        let schema = KeyValue::new(arrow::KEY.to_owned(), arrow::schema(columns));
        let properties = properties.set_key_value_metadata(Some(vec![schema])).build();
        // Columns are copied to the file by 8 KiB: it takes more at once.
        let file = BufWriter::with_capacity(BUFFER, file);
        let file = SerializedFileWriter::new(file, schema_of(columns)?, Arc::new(properties))?;
        Ok(TableFile { file, group: Vec::new(), rows: 0 })
    }

    /// Appends rows, of which there are `rows`: all columns, in the order of their declaration.
    pub(crate) fn write(&mut self, rows: usize, columns: impl IntoIterator<Item = Filled>) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        if self.rows + rows > GROUP {
            self.end_group()?;
        }
        if self.group.is_empty() {
            let chunk = |column: &Arc<ColumnDescriptor>| Chunk::new(column, self.file.properties());
            self.group = self.file.schema_descr().columns().iter().map(chunk).collect();
        }
        self.rows += rows;
        for (chunk, column) in self.group.iter_mut().zip(columns) {
            chunk.write(&column)?;
        }
        Ok(())
    }

    /// Ends the row group, if it has rows.
    pub(crate) fn end_group(&mut self) -> Result<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for chunk in self.group.drain(..) {
            let close = chunk.writer.close()?;
            group.append_column(&chunk.pages.take()?, close)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Completes the file.
    pub(crate) fn finish(&mut self) -> Result<ParquetMetaData> {
        self.end_group()?;
        Ok(self.file.finish()?)
    }

    /// Completes the file, and makes sure that it is on the disk.
    pub(crate) fn finish_on_disk(&mut self) -> Result<()> {
        self.finish()?;
        Ok(self.file.inner().get_ref().sync_all()?)
    }
}

/// A column of the open row group.
struct Chunk {
    writer: ColumnWriter<'static>,
    pages: Pages,
    texts: Texts,
}

impl Chunk {
    fn new(column: &Arc<ColumnDescriptor>, properties: &WriterPropertiesPtr) -> Chunk {
        let pages = Pages(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))));
        Chunk {
            writer: get_column_writer(column.clone(), properties.clone(), Box::new(pages.clone())),
            pages,
            texts: Texts::default(),
        }
    }

    fn write(&mut self, column: &Filled) -> Result<()> {
        let levels = column.levels.as_deref();
        match (&mut self.writer, &column.data) {
            (ColumnWriter::Int32ColumnWriter(to), Data::I32(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::Int64ColumnWriter(to), Data::I64(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::FloatColumnWriter(to), Data::F32(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::DoubleColumnWriter(to), Data::F64(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::BoolColumnWriter(to), Data::Bool(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::ByteArrayColumnWriter(to), Data::Text(values)) => to.write_batch(values, levels, None),
            (ColumnWriter::ByteArrayColumnWriter(to), Data::Words(keys, words)) => {
                let (mut keys, rows) = (&keys[..], levels.map_or(keys.len(), <[i16]>::len));
                for first in (0..rows).step_by(PIECE) {
                    let levels = levels.map(|levels| &levels[first..rows.min(first + PIECE)]);
                    let has_key = |level: &&i16| **level != 0;
                    let count = levels.map_or(PIECE, |levels| levels.iter().filter(has_key).count());
                    let (piece, rest) = keys.split_at(count.min(keys.len()));
                    to.write_batch(self.texts.of(piece, words)?, levels, None)?;
                    keys = rest;
                }
                Ok(rows)
            }
            _ => bail!("a column's values are of another type than the column"),
        }?;
        Ok(())
    }
}

/// The texts of the last rows, of which those of the next are made: many are the same, and copying one takes a while.
#[derive(Default)]
struct Texts {
    words: Vec<ByteArray>,
    keys: Vec<u16>,
    texts: Vec<ByteArray>,
}

impl Texts {
    /// Returns the words behind keys.
    fn of(&mut self, keys: &[u16], words: &[ByteArray]) -> Result<&[ByteArray]> {
        if self.words != words {
            *self = Texts { words: words.to_vec(), ..Texts::default() };
        }
        let word = |key: u16| words.get(usize::from(key)).cloned().context("a row has an index without a word");
        for ((text, before), &key) in self.texts.iter_mut().zip(&mut self.keys).zip(keys) {
            if *before != key {
                *text = word(key)?;
                *before = key;
            }
        }
        for &key in keys.get(self.keys.len()..).unwrap_or_default() {
            self.texts.push(word(key)?);
            self.keys.push(key);
        }
        Ok(&self.texts[..keys.len()])
    }
}

/// The pages of a column, which wait for their row group to end.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Pages {
    fn open(&self) -> MutexGuard<'_, TrackedWrite<Vec<u8>>> {
        self.0.lock().expect("one thread writes a column")
    }

    fn take(&self) -> Result<Bytes> {
        let pages = std::mem::replace(&mut *self.open(), TrackedWrite::new(Vec::new()));
        Ok(pages.into_inner()?.into())
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> parquet::errors::Result<PageWriteSpec> {
        SerializedPageWriter::new(&mut self.open()).write_page(page)
    }

    fn close(&mut self) -> parquet::errors::Result<()> {
        Ok(())
    }
}

/// Returns the schema of a file with these columns.
fn schema_of(columns: &[Described]) -> Result<TypePtr> {
    let unsigned = |bit_width| Some(LogicalType::integer(bit_width, false));
    let of = |column: &Described| {
        let (physical, logical) = match column.kind {
            "i64" => (Physical::INT64, None),
            "u16" => (Physical::INT32, unsigned(16)),
            "u32" => (Physical::INT32, unsigned(32)),
            "u64" => (Physical::INT64, unsigned(64)),
            "f32" => (Physical::FLOAT, None),
            "f64" => (Physical::DOUBLE, None),
            "bool" => (Physical::BOOLEAN, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let column = Type::primitive_type_builder(column.name, physical).with_repetition(repetition);
        Ok(Arc::new(column.with_logical_type(logical).build()?))
    };
    let fields = columns.iter().map(of).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("arrow_schema").with_fields(fields).build()?))
}
