//! Bounds what a Parquet file of unknown origin claims, before a reader asks for memory or time by it.
//!
//! Metadata of Parquet files are structures of Apache Thrift's compact protocol:
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>,
//! <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, bail, ensure};

/// Rows that a table may have: so many, or else so many for each byte of its file. Ours have less than one.
const FREE_ROWS: i64 = 200_000;
const ROWS_PER_BYTE: i64 = 8;
/// Bytes that its pages may have once they are decompressed, likewise.
const FREE_BYTES: i64 = 64 << 20;
const BYTES_PER_BYTE: i64 = 200;
const LARGEST_FOOTER: u64 = 64 << 20;
/// Bytes in which a page's header has room; its statistics are bounded by writers.
const HEADER: u64 = 16 << 10;
const DEEPEST: usize = 32;

/// Checks that a file is a table, and not far larger than any that we write.
///
/// # Errors
/// It cannot be read, has no footer, or claims more than its size makes likely.
pub fn check(file: &File) -> Result<()> {
    let size = file.metadata()?.len();
    let mut end = [0; 8];
    file.read_exact_at(&mut end, size.saturating_sub(8)).ok().context("it has no Parquet footer")?;
    let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    let room = size.saturating_sub(12).min(LARGEST_FOOTER);
    ensure!(size >= 12 && &end[4..] == b"PAR1" && length <= room, "it has no Parquet footer");
    let mut footer = vec![0; usize::try_from(length)?];
    file.read_exact_at(&mut footer, size - 8 - length)?;
    let claims = claims(&footer, file).context("its Parquet footer is damaged")?;
    let size = i64::try_from(size)?;
    let (rows, content) = (claims.rows, claims.content);
    ensure!(
        rows <= FREE_ROWS.max(ROWS_PER_BYTE.saturating_mul(size)),
        "it claims {} rows in {} bytes",
        grouped(rows),
        grouped(size)
    );
    ensure!(
        content <= FREE_BYTES.max(BYTES_PER_BYTE.saturating_mul(size)),
        "it claims {} bytes in {}",
        grouped(content),
        grouped(size)
    );
    Ok(())
}

/// Claims of a footer and of headers of pages; a page's size is that by which readers ask for memory.
#[derive(Default)]
struct Claims {
    rows: i64,
    /// Bytes of all pages.
    content: i64,
}

/// A column's pages in the file, bytes.
#[derive(Default)]
struct Pages {
    length: i64,
    data: Option<i64>,
    dictionary: Option<i64>,
}

fn claims(footer: &[u8], file: &File) -> Result<Claims> {
    let mut claims = Claims::default();
    let mut groups = 0;
    let mut thrift = Thrift { data: footer, at: 0 };
    thrift.fields(0, &mut |thrift, field, kind| match field {
        3 => thrift.signed(kind).map(|rows| claims.rows = rows),
        4 => thrift.structs(kind, &mut |thrift| {
            groups += 1;
            group(thrift, file, &mut claims.content)
        }),
        _ => thrift.skip(kind, 1),
    })?;
    ensure!(claims.rows >= 0, "a negative number of rows");
    Ok(claims)
}

fn group(thrift: &mut Thrift<'_>, file: &File, content: &mut i64) -> Result<()> {
    thrift.fields(1, &mut |thrift, field, kind| match field {
        1 => thrift.structs(kind, &mut |thrift| {
            let mut pages = None;
            thrift.fields(2, &mut |thrift, field, kind| match field {
                3 => thrift.structure(kind, &mut |thrift| column(thrift).map(|found| pages = Some(found))),
                _ => thrift.skip(kind, 3),
            })?;
            let pages = pages.context("a column without metadata")?;
            *content = content.checked_add(sizes(file, &pages)?).context("too many bytes")?;
            Ok(())
        }),
        _ => thrift.skip(kind, 2),
    })
}

fn column(thrift: &mut Thrift<'_>) -> Result<Pages> {
    let mut pages = Pages::default();
    thrift.fields(3, &mut |thrift, field, kind| match field {
        7 => thrift.signed(kind).map(|length| pages.length = length),
        9 => thrift.signed(kind).map(|at| pages.data = Some(at)),
        11 => thrift.signed(kind).map(|at| pages.dictionary = Some(at)),
        _ => thrift.skip(kind, 4),
    })?;
    Ok(pages)
}

/// Returns the sum of the sizes of a column's pages, as their headers give them.
fn sizes(file: &File, pages: &Pages) -> Result<i64> {
    let data = pages.data.context("a column without pages")?;
    // Some writers say 0 of a column without a page of data.
    let start = u64::try_from(pages.dictionary.map_or(data, |at| if data == 0 { at } else { at.min(data) }))?;
    let end = start.checked_add(u64::try_from(pages.length)?).context("a column behind the file")?;
    let (mut at, mut content) = (start, 0_i64);
    let mut header = Vec::new();
    while at < end {
        header.resize(usize::try_from(HEADER.min(end - at))?, 0);
        let read = file.read_at(&mut header, at)?;
        let mut thrift = Thrift { data: &header[..read], at: 0 };
        let (mut whole, mut compressed) = (-1, -1);
        thrift.fields(0, &mut |thrift, field, kind| match field {
            2 => thrift.signed(kind).map(|bytes| whole = bytes),
            3 => thrift.signed(kind).map(|bytes| compressed = bytes),
            _ => thrift.skip(kind, 1),
        })?;
        ensure!(whole >= 0 && compressed >= 0, "a page of negative size");
        content = content.checked_add(whole).context("too many bytes")?;
        let used = u64::try_from(thrift.at)?.checked_add(u64::try_from(compressed)?);
        at = used.and_then(|used| at.checked_add(used)).context("a page behind the file")?;
    }
    Ok(content)
}

/// Kinds of values.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Structures in bytes, read from `at` on. No work is more than the bytes that there are.
struct Thrift<'a> {
    data: &'a [u8],
    at: usize,
}

/// Takes the value of a field: its number, and the kind of its value.
type Take<'t, 'a> = &'t mut dyn FnMut(&mut Thrift<'a>, i64, u8) -> Result<()>;

impl<'a> Thrift<'a> {
    fn byte(&mut self) -> Result<u8> {
        let byte = *self.data.get(self.at).context("cut short")?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        bail!("a number of too many digits")
    }

    fn signed(&mut self, kind: u8) -> Result<i64> {
        ensure!((BYTE + 1..=I64).contains(&kind), "no whole number");
        let value = self.number()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn fields(&mut self, depth: usize, take: Take<'_, 'a>) -> Result<()> {
        ensure!(depth <= DEEPEST, "nested too deeply");
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.signed(I64)?,
                step => field.saturating_add(i64::from(step)),
            };
            take(self, field, head & 15)?;
        }
    }

    fn structure(&mut self, kind: u8, take: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        ensure!(kind == STRUCT, "no structure");
        take(self)
    }

    fn structs(&mut self, kind: u8, take: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        ensure!(kind == LIST, "no list");
        let (kind, length) = self.list()?;
        (0..length).try_for_each(|_| self.structure(kind, take))
    }

    /// Reads the head of a list: the kind of its values, and how many there are.
    fn list(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.number()?,
            length => u64::from(length),
        };
        // Each value has a byte at least, but readers differ on truth values: no list of Parquet's footers has them.
        ensure!(!matches!(head & 15, TRUE | FALSE), "a list of truth values");
        ensure!(length <= u64::try_from(self.data.len() - self.at)?, "more than there is");
        Ok((head & 15, length))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            kind if kind <= I64 => self.number().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.number()?;
                self.pass(length)
            }
            LIST | SET => {
                ensure!(depth <= DEEPEST, "nested too deeply");
                let (kind, length) = self.list()?;
                (0..length).try_for_each(|_| self.skip(kind, depth + 1))
            }
            STRUCT => self.fields(depth, &mut |thrift, _, kind| thrift.skip(kind, depth + 1)),
            kind => bail!("a value of kind {kind}"),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        ensure!(bytes <= u64::try_from(self.data.len() - self.at)?, "cut short");
        self.at += usize::try_from(bytes)?;
        Ok(())
    }
}

fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let parts = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(data: &[u8]) -> Result<()> {
        Thrift { data, at: 0 }.skip(STRUCT, 0)
    }

    #[test]
    fn a_value_of_each_kind_is_passed() {
        let all = [
            0x11, 0x12, 0x13, 7, 0x14, 8, 0x15, 0x80, 1, 0x16, 2, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 2, b'a', b'b',
            0x19, 0x25, 4, 6, 0x1c, 0x15, 0, 0, 0x05, 40, 3, 0,
        ];
        let mut thrift = Thrift { data: &all, at: 0 };
        thrift.skip(STRUCT, 0).unwrap();
        assert_eq!(thrift.at, all.len());
    }

    #[test]
    fn no_list_costs_more_than_its_bytes() {
        let lists: [&[u8]; 4] = [
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7],
            &[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 7, 0],
            &[0x18, 0xff, 0xff, 0xff, 0xff, 7],
            &[0x1b, 1, 0],
        ];
        assert!(lists.into_iter().all(|list| walk(list).is_err()));
        assert!(walk(&[0x19; 100]).is_err());
        assert!(walk(&[0x1c; 100]).is_err());
    }

    #[test]
    fn numbers_have_their_thousands_apart() {
        assert_eq!(
            ["0", "999", "1,000", "12,345,678"],
            [0, 999, 1000, 12_345_678].map(grouped).each_ref().map(|s| s.as_str())
        );
    }
}
