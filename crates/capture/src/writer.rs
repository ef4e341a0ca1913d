//! Writes pcapng with times in nanoseconds.

use std::io::{self, Write};

const ETHERNET: u16 = 1;

/// A pcapng file that is written: little endian, one section.
pub struct Writer<W> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

/// A packet to write.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Number of its interface, as [`Writer::interface`] gave it.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: i64,
    /// Length on the link.
    pub length: u32,
    /// Captured bytes of the frame.
    pub bytes: &'a [u8],
    /// True if the frame leaves the machine.
    pub outgoing: Option<bool>,
    /// A comment; empty for none.
    pub comment: &'a str,
}

impl<W: Write> Writer<W> {
    /// Begin a file. `application` names who writes it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(out: W, application: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, interfaces: 0, block: Vec::new() };
        let mut body = Vec::new();
        body.extend(0x1a2b_3c4d_u32.to_le_bytes());
        body.extend([1, 0, 0, 0]);
        body.extend((-1_i64).to_le_bytes());
        option(&mut body, 4, application.as_bytes());
        option(&mut body, 0, &[]);
        writer.put(crate::pcapng::SECTION, &body)?;
        Ok(writer)
    }

    /// Describe an interface with Ethernet frames. Returns its number.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn interface(&mut self, name: &str, snaplen: u32) -> io::Result<u32> {
        let mut body = Vec::new();
        body.extend(ETHERNET.to_le_bytes());
        body.extend([0, 0]);
        body.extend(snaplen.to_le_bytes());
        option(&mut body, 2, name.as_bytes());
        option(&mut body, 9, &[9]);
        option(&mut body, 0, &[]);
        self.put(1, &body)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Write a packet.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let mut body = std::mem::take(&mut self.block);
        body.clear();
        let ticks = packet.time_ns as u64;
        for word in [packet.interface, (ticks >> 32) as u32, ticks as u32, packet.bytes.len() as u32, packet.length] {
            body.extend(word.to_le_bytes());
        }
        body.extend(packet.bytes);
        pad(&mut body);
        let flags: u32 = packet.outgoing.map_or(0, |is_outgoing| if is_outgoing { 2 } else { 1 });
        if flags != 0 {
            option(&mut body, 2, &flags.to_le_bytes());
        }
        if !packet.comment.is_empty() {
            option(&mut body, 1, packet.comment.as_bytes());
        }
        if flags != 0 || !packet.comment.is_empty() {
            option(&mut body, 0, &[]);
        }
        let written = self.put(6, &body);
        self.block = body;
        written
    }

    /// Write the counters of an interface at `time_ns`: packets that came to it, and those it dropped.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn statistics(&mut self, interface: u32, time_ns: i64, received: u64, dropped: u64) -> io::Result<()> {
        let mut body = Vec::new();
        let ticks = time_ns as u64;
        for word in [interface, (ticks >> 32) as u32, ticks as u32] {
            body.extend(word.to_le_bytes());
        }
        option(&mut body, 4, &received.to_le_bytes());
        option(&mut body, 5, &dropped.to_le_bytes());
        option(&mut body, 0, &[]);
        self.put(5, &body)
    }

    /// Returns the writer below.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// End the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let size = (12 + body.len() as u32).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&size)?;
        self.out.write_all(body)?;
        self.out.write_all(&size)
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX) - 3)];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}
