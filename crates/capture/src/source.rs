//! Bytes of a capture: files or standard input, compressed or not.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context, Result, bail};

/// Bytes that change hands at once between a decompressor and the reader.
const CHUNK: usize = 1 << 20;
/// Chunks that may wait for the reader.
const WAITING: usize = 3;

/// The bytes of the capture at `path`; `-` is standard input. gzip, zstd and lz4 are recognised by their first bytes.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return decompressed(io::stdin()).context("reading standard input");
    }
    let what = || format!("opening {}", path.display());
    // A pipe that nobody writes to would make its reader wait for ever.
    let file =
        File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).with_context(what)?;
    let kind = file.metadata().with_context(what)?.file_type();
    if !kind.is_file() {
        let found = if kind.is_dir() { "a directory, not a capture" } else { "not a regular file" };
        bail!("{} is {found}", path.display());
    }
    decompressed(file).with_context(|| format!("reading {}", path.display()))
}

/// Returns the content of `source` after decompression, which takes a thread of its own.
pub(crate) fn decompressed(mut source: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>> {
    let mut first = Vec::with_capacity(4);
    source.by_ref().take(4).read_to_end(&mut first)?;
    let all = |first: Vec<u8>| io::Cursor::new(first).chain(source);
    Ok(match first[..] {
        [0x1f, 0x8b, ..] => threaded(move || Ok(flate2::read::MultiGzDecoder::new(all(first)))),
        [0x28, 0xb5, 0x2f, 0xfd] => threaded(move || zstd::stream::read::Decoder::new(all(first))),
        [0x04, 0x22, 0x4d, 0x18] => threaded(move || Ok(lz4_flex::frame::FrameDecoder::new(all(first)))),
        _ => Box::new(all(first)),
    })
}

/// Reads in a thread of its own what `open` opens.
fn threaded<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> Box<dyn Read + Send> {
    let (full, chunks) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut reader = match open() {
            Ok(reader) => reader,
            Err(error) => return drop(full.send(Err(error))),
        };
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let ended = match reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk) {
                Ok(read) => read == 0,
                Err(error) => {
                    // What came before the damage counts.
                    let _ = full.send(Ok(chunk));
                    let _ = full.send(Err(error));
                    return;
                }
            };
            // A reader that has what it wants takes no more.
            if ended || full.send(Ok(chunk)).is_err() {
                return;
            }
        }
    });
    Box::new(Chunks { chunks, chunk: Vec::new(), at: 0 })
}

struct Chunks {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            match self.chunks.recv() {
                Ok(chunk) => (self.chunk, self.at) = (chunk?, 0),
                Err(_) => return Ok(0),
            }
        }
        let count = into.len().min(self.chunk.len() - self.at);
        into[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_no_capture_and_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("c.pcap");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, said) in [(pipe.as_path(), "not a regular file"), (dir.path(), "a directory, not a capture")] {
            let error = open(path).err().unwrap().to_string();
            assert!(error.ends_with(said), "{error}");
        }
    }
}
