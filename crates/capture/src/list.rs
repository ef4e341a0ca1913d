//! The latest packets of a capture that goes on, in bounded memory.

use std::collections::VecDeque;
use std::io;

use serde::Serialize;

use crate::describe::{Header, Line, describe, hexdump};
use crate::writer::{Packet, Writer};
use crate::{DecodeAs, Frame};

const ETHERNET: u16 = 1;

/// Keeps the latest packets of Ethernet; older ones are let go.
pub struct List {
    packets: VecDeque<Kept>,
    /// Number of the first packet that is kept.
    first: u64,
    /// Bytes of all that are kept.
    bytes: usize,
    most: usize,
    most_bytes: usize,
    interfaces: Vec<String>,
}

struct Kept {
    time_ns: i64,
    interface: u32,
    length: u32,
    outgoing: Option<bool>,
    bytes: Box<[u8]>,
    comment: Box<str>,
}

/// A packet of the list.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Number of the packet, from 0 on.
    pub number: u64,
    /// Nanoseconds since 1970.
    pub time_ns: i64,
    /// Name of the interface.
    pub interface: String,
    /// Length on the link, bytes.
    pub length: u32,
    /// Comment on the packet: what became of it on a link.
    pub comment: String,
    /// The packet in words.
    #[serde(flatten)]
    pub line: Line,
}

/// All of a packet.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    /// The packet in the list.
    #[serde(flatten)]
    pub row: Row,
    /// Its headers, the outermost first.
    pub headers: Vec<Header>,
    /// Its bytes, as a hexadecimal dump.
    pub dump: String,
}

impl List {
    /// Keep at most `most` packets with `most_bytes` together.
    pub fn new(most: usize, most_bytes: usize) -> List {
        List { packets: VecDeque::new(), first: 0, bytes: 0, most: most.max(1), most_bytes, interfaces: Vec::new() }
    }

    /// Name the interface of this number, unless it has a name.
    pub fn name(&mut self, interface: u32, name: &str) {
        let at = interface as usize;
        if self.interfaces.len() == at {
            self.interfaces.push(name.to_owned());
        }
    }

    /// Number of interfaces that have names.
    pub fn interfaces(&self) -> usize {
        self.interfaces.len()
    }

    /// Keep one more packet.
    pub fn push(&mut self, frame: &Frame<'_>) {
        let comment = String::from_utf8_lossy(frame.comment).into();
        let (time_ns, bytes) = (frame.time_ns.unwrap_or(0), frame.bytes.into());
        let Frame { interface, length, outgoing, .. } = *frame;
        let kept = Kept { time_ns, interface, length, outgoing, bytes, comment };
        self.bytes += kept.size();
        self.packets.push_back(kept);
        while self.packets.len() > self.most || (self.bytes > self.most_bytes && self.packets.len() > 1) {
            let gone = self.packets.pop_front().expect("there are some");
            self.bytes -= gone.size();
            self.first += 1;
        }
    }

    /// Number of the first packet that is kept, and of the packet that will come next.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.first + self.packets.len() as u64)
    }

    /// The first `most` packets from number `since` on which `filter` lets through, and the number at which to go on.
    pub fn rows(&self, since: u64, most: usize, filter: &Filter) -> (Vec<Row>, u64) {
        let (first, end) = self.range();
        let mut rows = Vec::new();
        let since = since.max(first);
        for number in since..end {
            if rows.len() >= most {
                return (rows, number);
            }
            let (row, _) = self.described(number, &self.packets[(number - first) as usize]);
            if filter.takes(&row) {
                rows.push(row);
            }
        }
        (rows, end.max(since))
    }

    /// A packet with all its fields; `None` if it is no longer kept.
    pub fn whole(&self, number: u64) -> Option<Whole> {
        let kept = self.packets.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let (row, headers) = self.described(number, kept);
        Some(Whole { row, headers, dump: hexdump(&kept.bytes) })
    }

    /// The packets that `filter` lets through as pcapng.
    ///
    /// # Errors
    /// Memory does not take them.
    pub fn pcapng(&self, filter: &Filter) -> io::Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), "dumbbell")?;
        for name in &self.interfaces {
            writer.interface(name, 0)?;
        }
        for (kept, number) in self.packets.iter().zip(self.first..) {
            if filter.takes(&self.described(number, kept).0) {
                let Kept { time_ns, interface, length, outgoing, .. } = *kept;
                let (bytes, comment) = (&*kept.bytes, &*kept.comment);
                writer.packet(&Packet { interface, time_ns, length, bytes, outgoing, comment })?;
            }
        }
        writer.finish()
    }

    fn described(&self, number: u64, kept: &Kept) -> (Row, Vec<Header>) {
        let Kept { time_ns, interface, length, outgoing, .. } = *kept;
        let (bytes, comment) = (&*kept.bytes, kept.comment.as_bytes());
        let time = Some(time_ns);
        let frame = Frame { time_ns: time, interface, link: ETHERNET, fcs_bytes: 0, length, outgoing, bytes, comment };
        let (line, headers) = describe(&frame, &DecodeAs::default());
        let interface = self.interfaces.get(interface as usize).cloned().unwrap_or_default();
        (Row { number, time_ns, interface, length, comment: kept.comment.to_string(), line }, headers)
    }
}

impl Kept {
    fn size(&self) -> usize {
        size_of::<Kept>() + self.bytes.len() + self.comment.len()
    }
}

/// Words of which all have to occur in a packet's line, as whole words; a word behind "!" must not.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    words: Vec<String>,
}

impl Filter {
    /// Reads the words, of which case does not count.
    pub fn of(text: &str) -> Filter {
        Filter { words: text.to_lowercase().split_whitespace().map(str::to_owned).collect() }
    }

    /// True if the packet is to be shown.
    pub fn takes(&self, row: &Row) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let Row { interface, comment, line, .. } = row;
        let Line { source, destination, protocol, info } = line;
        let text = format!("{interface} {source} {destination} {protocol} {info} {comment}").to_lowercase();
        self.words.iter().all(|word| match word.strip_prefix('!') {
            Some(unwanted) => unwanted.is_empty() || !has_word(&text, unwanted),
            None => has_word(&text, word),
        })
    }
}

/// True if `word` stands in `text` with no letter or digit beside it: 10.0.0.1 does not stand in 10.0.0.10.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
