//! Files of other writers, and damaged ones.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use records::kinds::PingRow;
use records::reader::{self, Index};
use records::{Column, Names, Row, Writer};
use units::{Duration, Time};

const TEXTS: [Option<&str>; 5] = [Some("r1"), None, Some("a longer name"), Some(""), Some("r1")];

/// Text of row `at` of a table that other software wrote.
fn text(at: usize) -> Option<&'static str> {
    TEXTS[at * 7 % TEXTS.len()]
}

/// Writes a column of text and one of lists, in row groups of `rows` rows.
fn foreign(path: &Path, properties: WriterPropertiesBuilder, rows: &[usize]) {
    let schema = "message m { optional binary name (UTF8); required int64 time; optional group l (LIST) { repeated group list \
                  { required int64 item; } } required binary raw; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties.build())).unwrap();
    let mut at = 0;
    for &rows in rows {
        let mut group = file.next_row_group().unwrap();
        let texts: Vec<ByteArray> = (at..at + rows).filter_map(text).map(ByteArray::from).collect();
        let levels: Vec<i16> = (at..at + rows).map(|at| text(at).is_some().into()).collect();
        let times: Vec<i64> = (at as i64..(at + rows) as i64).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&times, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let none = vec![0; rows];
        column.typed::<Int64Type>().write_batch(&[], Some(&none), Some(&none)).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let raw = vec![ByteArray::from(&[0xff_u8][..]); rows];
        column.typed::<ByteArrayType>().write_batch(&raw, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        at += rows;
    }
    file.close().unwrap();
}

#[test]
fn text_is_read_whatever_its_encoding() {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let many = || WriterProperties::builder().set_data_page_row_count_limit(300).set_write_batch_size(100);
    let encodings = [
        WriterProperties::builder(),
        many(),
        // The dictionary is full at once: other pages are plain.
        many().set_dictionary_page_size_limit(1),
        plain(),
        plain().set_column_encoding("name".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
        plain().set_column_encoding("name".into(), Encoding::DELTA_BYTE_ARRAY),
    ];
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("other.parquet");
    for properties in encodings {
        // More than a batch; a row group without a row is one, too.
        foreign(&path, properties, &[3, 70_000, 0, 1000]);
        let index = Index::of(["", "r1"]);
        let mut next = 0;
        reader::read(&path, &["time", "name"], |rows| {
            let (times, texts, words) = (rows.values::<i64>(0)?, rows.texts(1)?, rows.words(1, &index)?);
            for at in 0..rows.len() {
                assert_eq!((times.get(at), texts.get(at)), (Some(next as i64), text(next)));
                assert_eq!(
                    words.get(at),
                    ["", "r1"].iter().position(|&word| Some(word) == text(next)).map(|at| at as u16)
                );
                next += 1;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(next, 71_003);
    }
}

#[test]
fn a_column_of_another_type_is_named() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("other.parquet");
    foreign(&path, WriterProperties::builder(), &[5]);
    let why = |column: &str, is_text: bool| {
        let read = reader::read(&path, &[column], |rows| match is_text {
            true => rows.texts(0).map(|_| ()),
            false => rows.values::<u64>(0).map(|_| ()),
        });
        read.unwrap_err().root_cause().to_string()
    };
    assert_eq!(why("time", false), "the column time is of type i64, not u64");
    assert_eq!(why("time", true), "the column time is of type i64, not str");
    assert_eq!(why("name", false), "the column name is of type str, not u64");
    assert_eq!(why("l", false), "the column l is of type nested, not u64");
    assert_eq!(why("raw", true), "the column raw is of type BYTE_ARRAY, not str");
    assert_eq!(why("size", true), "it lacks the column size");
}

#[test]
fn a_damaged_file_is_an_error_or_other_rows() {
    let dir = tempfile::TempDir::new().unwrap();
    let (whole, damaged) = (dir.path().join("whole.parquet"), dir.path().join("damaged.parquet"));
    let mut table = Writer::create(&whole, Names { flows: vec!["f1".into(), "f2".into()], links: Vec::new() }).unwrap();
    for number in 0..300 {
        let rtt = (number % 3 > 0).then_some(Duration(number));
        table.push(PingRow {
            flow: (number % 2) as u16,
            number: number as u64,
            sent: Time(number),
            rtt,
            is_lost: false,
        });
    }
    table.finish().unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let columns: Vec<&str> = PingRow::COLUMNS.iter().map(|column: &Column<PingRow>| column.name).collect();
    let read = |bytes: &[u8]| {
        // A file that is written again would go to the disk at once.
        let _ = std::fs::remove_file(&damaged);
        std::fs::write(&damaged, bytes).unwrap();
        let mut count = 0;
        let read = reader::read(&damaged, &columns, |rows| {
            let (texts, rtt) = (rows.texts(1)?, rows.values::<i64>(3)?);
            count += (0..rows.len()).filter(|&at| texts.get(at).is_some() && rtt.get(at).is_some()).count();
            Ok(())
        });
        read.map(|()| count)
    };
    assert_eq!(read(&bytes).unwrap(), 200);
    for at in 0..bytes.len() {
        assert!(read(&bytes[..at]).is_err());
        let mut other = bytes.clone();
        other[at] ^= 1 << (at % 8);
        let _ = read(&other);
    }
}
