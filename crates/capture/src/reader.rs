//! One file, frame by frame.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use anyhow::{Result, bail};

use crate::pcap::{Next, Pcap};
use crate::pcapng::{self, Pcapng};
use crate::window::Window;
use crate::{Frame, Interface, Notes, pcap, source};

/// Reads one capture.
pub struct Reader {
    window: Window,
    format: Format,
    /// Bytes of the record that was given out last.
    taken: usize,
    is_over: bool,
    damages: u64,
    is_cut: bool,
    /// Number of this file's first interface among those of all files.
    first_interface: u32,
    /// Names of the interfaces whose frames count; empty: all.
    only: Vec<String>,
    /// Whether frames of an interface count, by its number in this file.
    counts: Vec<bool>,
}

/// A frame, and where its bytes are in the window.
struct Place {
    time_ns: Option<i64>,
    /// Number of its interface in this file.
    interface: usize,
    length: u32,
    outgoing: Option<bool>,
    start: usize,
    end: usize,
    /// Place of a comment on it; empty if there is none.
    comment: Range<usize>,
}

enum Format {
    Pcap(Pcap, Interface),
    Pcapng(Pcapng),
}

impl Reader {
    /// Open the capture at `path`; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be opened, or is neither pcap nor pcapng.
    pub fn open(path: &Path) -> Result<Reader> {
        Reader::of(Window::new(source::open(path)?), &path.display().to_string())
    }

    /// Read a capture from `bytes`, which may be compressed.
    ///
    /// # Errors
    /// It is neither pcap nor pcapng.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Reader> {
        Reader::of(Window::new(source::decompressed(std::io::Cursor::new(bytes))?), "the capture")
    }

    /// Read a capture from `source` while it is being written, each frame as soon as all of it has come.
    ///
    /// # Errors
    /// It is neither pcap nor pcapng.
    pub fn following(source: impl Read + Send + 'static) -> Result<Reader> {
        Reader::of(Window::new(Box::new(source)), "the capture")
    }

    fn of(mut window: Window, name: &str) -> Result<Reader> {
        let format = if window.has(12) && window.bytes()[..4] == pcapng::SECTION.to_be_bytes() {
            Format::Pcapng(Pcapng::new())
        } else if window.has(pcap::HEADER) {
            let (format, interface) = match window.bytes().first_chunk().and_then(Pcap::of) {
                Some(Ok(found)) => found,
                Some(Err((major, minor))) => {
                    bail!("{name} is pcap of version {major}.{minor}: dumbbell reads version 2, which tcpdump writes")
                }
                None => bail!("{name} is neither pcap nor pcapng: it begins with {}", shown(window.bytes())),
            };
            window.skip(pcap::HEADER);
            Format::Pcap(format, interface)
        } else if let Some(failure) = &window.failure {
            bail!("{name} cannot be read: {failure}");
        } else if window.bytes().is_empty() {
            bail!("{name} is empty");
        } else {
            bail!("{name} is neither pcap nor pcapng: it has {} bytes", window.bytes().len());
        };
        Ok(Reader {
            window,
            format,
            taken: 0,
            is_over: false,
            damages: 0,
            is_cut: false,
            first_interface: 0,
            only: Vec::new(),
            counts: Vec::new(),
        })
    }

    /// Read the frames of interfaces with these names only; of all, if there is none. Interfaces of pcap have no names.
    pub fn only(self, names: &[String]) -> Reader {
        Reader { only: names.to_vec(), ..self }
    }

    /// Whether frames of interface `at` of this file count.
    fn counts(&mut self, at: usize) -> bool {
        while self.counts.len() <= at {
            let name = self.interfaces().get(self.counts.len()).and_then(|interface| interface.name.as_ref());
            let counts = self.only.is_empty() || name.is_some_and(|name| self.only.contains(name));
            self.counts.push(counts);
        }
        self.counts[at]
    }

    /// The next frame, or `None` at the end.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.is_over {
            return None;
        }
        let found = loop {
            let found = self.advance()?;
            if self.counts(found.interface) {
                break found;
            }
        };
        let interface = &self.interfaces()[found.interface];
        Some(Frame {
            time_ns: found.time_ns,
            interface: self.first_interface + found.interface as u32,
            link: interface.link,
            fcs_bytes: interface.fcs_bytes,
            length: found.length,
            outgoing: found.outgoing,
            bytes: &self.window.bytes()[found.start..found.end],
            comment: &self.window.bytes()[found.comment],
        })
    }

    /// Go on to the next frame of any interface.
    fn advance(&mut self) -> Option<Place> {
        self.window.skip(std::mem::take(&mut self.taken));
        let found = match &mut self.format {
            Format::Pcap(format, _) => match format.next(&mut self.window, &mut self.damages) {
                Next::Item(record) => {
                    self.taken = record.end;
                    let (time_ns, length) = (Some(record.time_ns), record.length);
                    let (start, end) = (record.start, record.end);
                    return Some(Place { time_ns, interface: 0, length, outgoing: None, start, end, comment: 0..0 });
                }
                Next::End => Next::End,
                Next::CutOff => Next::CutOff,
            },
            Format::Pcapng(format) => match format.next(&mut self.window, &mut self.damages) {
                Next::Item(packet) => {
                    self.taken = packet.size;
                    return Some(Place {
                        time_ns: packet.time_ns,
                        interface: packet.interface,
                        length: packet.length,
                        outgoing: packet.outgoing,
                        start: packet.start,
                        end: packet.end,
                        comment: packet.comment,
                    });
                }
                Next::End => Next::<()>::End,
                Next::CutOff => Next::CutOff,
            },
        };
        self.is_over = true;
        self.is_cut = matches!(found, Next::CutOff) || self.window.failure.is_some();
        None
    }

    /// Interfaces of the file, so far as it was read.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.format {
            Format::Pcap(_, interface) => std::slice::from_ref(interface),
            Format::Pcapng(format) => &format.interfaces,
        }
    }

    /// Count the interfaces of this file from `first` on.
    pub(crate) fn number_from(&mut self, first: u32) {
        self.first_interface = first;
    }

    /// Add what there is to say of this file to `notes`.
    pub(crate) fn note(&self, notes: &mut Notes) {
        notes.files += 1;
        notes.bytes += self.window.read;
        notes.damages += self.damages;
        notes.cut_files += u32::from(self.is_cut);
        notes.capture_drops = notes.capture_drops.saturating_add(self.dropped());
    }

    /// Packets that were dropped before they were captured, as the file says so far.
    pub fn dropped(&self) -> u64 {
        let drops = |one: &Interface| {
            let said = one.dropped_by_interface.saturating_add(one.dropped_by_system);
            // The statistics at the end count what packets have said before.
            said.max(one.dropped_between)
        };
        self.interfaces().iter().map(drops).fold(0, u64::saturating_add)
    }
}

/// The first bytes, for an error.
fn shown(bytes: &[u8]) -> String {
    bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
