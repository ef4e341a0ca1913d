//! The file of a stack's qlog: records in JSON text sequences (RFC 7464), one a line, up to a size.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

use anyhow::Context;

/// The size of a file, in bytes, beyond which no record is written.
const MOST_BYTES: usize = 64 << 20;

/// A qlog that a stack writes. Dropping it writes what is buffered.
pub type Qlog = Box<dyn Write + Send + Sync>;

/// Creates a file that a stack can write its qlog to.
///
/// # Errors
/// The file cannot be created.
pub fn create(path: &Path) -> anyhow::Result<Qlog> {
    let file = File::create(path).with_context(|| format!("creating the qlog {}", path.display()))?;
    Ok(Box::new(Records::new(BufWriter::new(file), MOST_BYTES)))
}

/// Whole records up to a number of bytes; later ones are dropped.
struct Records<W> {
    to: W,
    /// Bytes that may still be written.
    left: usize,
    /// A record that is not complete yet.
    record: Vec<u8>,
}

impl<W: Write> Records<W> {
    fn new(to: W, most_bytes: usize) -> Records<W> {
        Records { to, left: most_bytes, record: Vec::new() }
    }

    fn end(&mut self) -> Result<()> {
        if self.record.len() > self.left {
            // A shorter record that would still fit is left out, too: the file has no gaps.
            self.left = 0;
        } else {
            self.left -= self.record.len();
            self.to.write_all(&self.record)?;
        }
        self.record.clear();
        Ok(())
    }
}

impl<W: Write> Write for Records<W> {
    /// Takes all bytes. Stacks write a record in many pieces.
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.record.extend_from_slice(line);
            if line.ends_with(b"\n") {
                self.end()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_whole_records_up_to_its_size() {
        let mut kept = Vec::new();
        let mut records = Records::new(&mut kept, 10);
        for piece in ["one", "\ntw", "o\nthree\n", "4\n"] {
            records.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(kept, b"one\ntwo\n");
    }
}
