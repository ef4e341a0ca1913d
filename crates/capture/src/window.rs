//! The part of a file that is looked at.

use std::io::{ErrorKind, Read};

/// Bytes read at once.
const STEP: usize = 1 << 20;

/// A window that slides over a source. It grows with what was read, never with what a length claims.
pub(crate) struct Window {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that were read from the source.
    pub(crate) read: u64,
    /// Why reading ended early.
    pub(crate) failure: Option<String>,
    is_over: bool,
}

impl Window {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Window {
        Window { source, buffer: vec![0; 2 * STEP], start: 0, end: 0, read: 0, failure: None, is_over: false }
    }

    /// At least `count` bytes are in the window, read if need be; false if the source has fewer left.
    pub(crate) fn has(&mut self, count: usize) -> bool {
        while self.end - self.start < count {
            if self.is_over {
                return false;
            }
            self.read_more();
        }
        true
    }

    fn read_more(&mut self) {
        if self.start > 0 && self.buffer.len() - self.end < STEP {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() - self.end < STEP {
            self.buffer.resize(self.end + STEP, 0);
        }
        match self.source.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.is_over = true,
            Ok(count) => {
                self.end += count;
                self.read += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.failure = Some(error.to_string());
                self.is_over = true;
            }
        }
    }

    /// Returns the bytes in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Slide on over `count` bytes that are in the window.
    pub(crate) fn skip(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
    }
}
