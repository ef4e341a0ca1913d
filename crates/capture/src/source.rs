//! Bytes of a capture: files or standard input, compressed or not.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::{Context, Result, bail};

/// Bytes that change hands at once between a decompressor and the reader.
const CHUNK: usize = 1 << 20;
/// Chunks that may wait for the reader.
const WAITING: usize = 3;
/// Bytes that may come from any compressed ones: some seconds of work.
const ANYWAY: u64 = 1 << 30;
/// Bytes of a larger content that may come from one compressed byte. Captures with the same payload in all frames of
/// 1.5 KB stay below a tenth of it.
const MOST_FOLD: u64 = 1_000;

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
pub(crate) fn decompressed(source: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>> {
    let mut first = Vec::with_capacity(4);
    let taken = Arc::new(AtomicU64::new(0));
    let mut source = Counted { source, taken: taken.clone() };
    source.by_ref().take(4).read_to_end(&mut first)?;
    let all = |first: Vec<u8>| io::Cursor::new(first).chain(source);
    Ok(match first[..] {
        [0x1f, 0x8b, ..] => threaded(taken, move || Ok(flate2::read::MultiGzDecoder::new(all(first)))),
        [0x28, 0xb5, 0x2f, 0xfd] => threaded(taken, move || zstd::stream::read::Decoder::new(all(first))),
        [0x04, 0x22, 0x4d, 0x18] => threaded(taken, move || Ok(lz4_flex::frame::FrameDecoder::new(all(first)))),
        _ => Box::new(all(first)),
    })
}

/// A source that tells the bytes which were taken from it.
struct Counted<R> {
    source: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(into)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// # Errors
/// So much content comes from so few compressed bytes that a stranger made it to keep its reader busy.
fn bounded(given: u64, taken: u64) -> io::Result<()> {
    if given <= ANYWAY || given / MOST_FOLD <= taken {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "more than {MOST_FOLD} bytes come from each compressed one, after {} GiB: decompress it first if it is sound",
        ANYWAY >> 30
    )))
}

/// Reads in a thread of its own what `open` opens, of a source from which `taken` bytes were taken.
fn threaded<R: Read>(
    taken: Arc<AtomicU64>,
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> Box<dyn Read + Send> {
    let (full, chunks) = sync_channel(WAITING);
    std::thread::spawn(move || {
        let mut given = 0;
        let mut reader = match open() {
            Ok(reader) => reader,
            Err(error) => return drop(full.send(Err(error))),
        };
        loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).and_then(|read| {
                given += read as u64;
                bounded(given, taken.load(Ordering::Relaxed))?;
                Ok(read == 0)
            });
            let ended = match read {
                Ok(ended) => ended,
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
    fn little_that_becomes_much_is_refused_and_ordinary_content_is_not() {
        for (gib, compressed_bytes, is_sound) in [(1, 1, true), (2, 30 << 20, true), (2, 1 << 20, false)] {
            assert_eq!(bounded(gib << 30, compressed_bytes).is_ok(), is_sound);
        }
        // 2 GiB of zeros in 66 kB.
        let mut zeros = Vec::new();
        zstd::stream::copy_encode(io::repeat(0).take(2 << 30), &mut zeros, 1).unwrap();
        assert!(zeros.len() < 1 << 20);
        let error = io::copy(&mut decompressed(io::Cursor::new(zeros)).unwrap(), &mut io::sink()).unwrap_err();
        assert!(error.to_string().starts_with("more than 1000 bytes come from each compressed one"), "{error}");
    }

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
