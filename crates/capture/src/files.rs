//! Several files as one stream of segments.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::decode::{Decoded, decode_into};
use crate::fragments::Fragments;
use crate::{DecodeAs, Interface, Notes, Reader, Segment};

/// A capture in one or several files, in the order of their first frames, as a ring buffer leaves them.
pub struct Capture {
    waiting: VecDeque<PathBuf>,
    reader: Option<Reader>,
    /// Time of the last frame of the present file.
    last_ns: Option<i64>,
    /// The latest of the times at which files ended.
    ended_ns: Option<i64>,
    fragments: Fragments,
    interfaces: Vec<Interface>,
    notes: Notes,
    /// Names of the interfaces whose frames count; empty: all.
    only: Vec<String>,
    as_said: DecodeAs,
}

impl Capture {
    /// Open `paths`; `-` is standard input. Frames of the interfaces named by `only` count; of all, if it is empty.
    ///
    /// # Errors
    /// A file cannot be opened, or is neither pcap nor pcapng.
    pub fn open(paths: &[PathBuf], only: &[String]) -> Result<Capture> {
        if paths.is_empty() {
            bail!("no capture is named");
        }
        let mut waiting = Vec::new();
        if let [one] = paths {
            waiting.push((None, one.clone()));
        } else {
            for path in paths {
                if path == Path::new("-") {
                    bail!("standard input cannot be one of several captures");
                }
                let first = Reader::open(path)?.next_frame().and_then(|frame| frame.time_ns);
                waiting.push((first, path.clone()));
            }
            waiting.sort_by_key(|(first, _)| *first);
        }
        let waiting = waiting.into_iter().map(|(_, path)| path).collect();
        let mut capture = Capture { waiting, only: only.to_vec(), ..Capture::empty() };
        capture.open_next()?;
        Ok(capture)
    }

    /// Read one capture from `bytes`.
    ///
    /// # Errors
    /// It is neither pcap nor pcapng.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Capture> {
        Ok(Capture { reader: Some(Reader::from_bytes(bytes)?), ..Capture::empty() })
    }

    /// Read frames as somebody says who knows more of them than they tell.
    pub fn decoding(self, as_said: DecodeAs) -> Capture {
        Capture { as_said, ..self }
    }

    fn empty() -> Capture {
        Capture {
            waiting: VecDeque::new(),
            reader: None,
            last_ns: None,
            ended_ns: None,
            fragments: Fragments::default(),
            interfaces: Vec::new(),
            notes: Notes::default(),
            only: Vec::new(),
            as_said: DecodeAs::default(),
        }
    }

    fn open_next(&mut self) -> Result<bool> {
        let Some(path) = self.waiting.pop_front() else { return Ok(false) };
        let mut reader = Reader::open(&path)?.only(&self.only);
        reader.number_from(self.interfaces.len() as u32);
        self.reader = Some(reader);
        Ok(true)
    }

    /// The next TCP segment, or `None` at the end.
    ///
    /// # Errors
    /// The next file cannot be opened.
    pub fn next_segment(&mut self) -> Result<Option<Segment>> {
        let mut segment = Segment::default();
        Ok(self.next_into(&mut segment)?.then_some(segment))
    }

    /// Put the next TCP segment into `segment`. Returns false at the end.
    ///
    /// # Errors
    /// The next file cannot be opened.
    pub fn next_into(&mut self, segment: &mut Segment) -> Result<bool> {
        loop {
            let Some(reader) = &mut self.reader else { return Ok(false) };
            let Some(frame) = reader.next_frame() else {
                reader.note(&mut self.notes);
                self.interfaces.extend_from_slice(reader.interfaces());
                self.reader = None;
                self.ended_ns = self.ended_ns.max(self.last_ns.take());
                self.notes.open_datagrams = self.fragments.missing();
                self.open_next()?;
                continue;
            };
            self.notes.frames += 1;
            self.notes.cut_frames += u64::from((frame.bytes.len() as u64) < u64::from(frame.length));
            if let (Some(now), Some(last)) = (frame.time_ns, self.last_ns)
                && now < last
            {
                self.notes.backward_steps += 1;
                let step = last.saturating_sub(now);
                self.notes.largest_backward_step_ns = self.notes.largest_backward_step_ns.max(step);
            }
            if self.last_ns.is_none() && frame.time_ns.is_some() && frame.time_ns < self.ended_ns {
                self.notes.overlapping_files += 1;
            }
            self.last_ns = frame.time_ns.or(self.last_ns);
            let Some(now_ns) = frame.time_ns else {
                self.notes.timeless_frames += 1;
                continue;
            };
            let Some(other) = decode_into(&frame, &self.as_said, segment) else { return Ok(true) };
            match other {
                Decoded::Segment(_) => return Ok(true),
                Decoded::Fragment(fragment) => {
                    if let Some(whole) = self.fragments.take(&fragment, now_ns, frame.length) {
                        *segment = whole;
                        return Ok(true);
                    }
                }
                Decoded::Other(name) => self.notes.other(name, frame.length),
                Decoded::Cut => self.notes.headless_frames += 1,
                Decoded::Malformed => self.notes.malformed_frames += 1,
                Decoded::UnknownLink(link) => self.notes.unknown_link(link),
            }
        }
    }

    /// Returns notes on what was read so far; on a file's end only when that was reached.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The interfaces of all files that were read to their ends.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }
}
