//! Zeek's words for the state and history of a connection.

use capture::{Flags, Segment};

/// Observations of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub(crate) syn: bool,
    pub(crate) syn_ack: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) data: bool,
    pub(crate) ack: bool,
}

impl Side {
    /// True if it sent anything but a SYN.
    fn went_on(self) -> bool {
        self.fin || self.rst || self.data || self.ack
    }
}

/// State and history of a connection.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub(crate) client: Side,
    pub(crate) server: Side,
    history: String,
}

/// The longest history.
const LONGEST: usize = 64;

impl Story {
    /// The story of a connection; `flipped`: its first segment came from the server.
    pub(crate) fn new(flipped: bool) -> Story {
        Story { history: if flipped { "^".to_owned() } else { String::new() }, ..Story::default() }
    }

    /// Take a segment of the client or of the server.
    pub(crate) fn take(&mut self, segment: &Segment, is_client: bool) {
        let flags = segment.flags;
        let before = if is_client { self.client } else { self.server };
        let mut side = before;
        let mut letters = [0_u8; 4];
        let mut count = 0;
        let mut add = |letter: u8| {
            letters[count] = letter;
            count += 1;
        };
        if flags.has(Flags::SYN) {
            if flags.has(Flags::ACK) {
                side.syn_ack = true;
                if !before.syn_ack {
                    add(b'h');
                }
            } else {
                side.syn = true;
                if !before.syn {
                    add(b's');
                }
            }
        } else if flags.has(Flags::RST) {
            side.rst = true;
            if !before.rst {
                add(b'r');
            }
        } else if segment.payload > 0 {
            side.data = true;
            if !before.data {
                add(b'd');
            }
        } else if flags.has(Flags::ACK) && !flags.has(Flags::FIN) {
            side.ack = true;
            if !before.ack {
                add(b'a');
            }
        }
        if flags.has(Flags::FIN) {
            side.fin = true;
            if !before.fin {
                add(b'f');
            }
        }
        *(if is_client { &mut self.client } else { &mut self.server }) = side;
        for &letter in &letters[..count] {
            self.letter(letter, is_client);
        }
    }

    /// Add a letter, upper case from the client.
    pub(crate) fn letter(&mut self, letter: u8, is_client: bool) {
        if self.history.len() < LONGEST {
            self.history.push(char::from(if is_client { letter.to_ascii_uppercase() } else { letter }));
        }
    }

    /// Add a letter if it is not there yet.
    pub(crate) fn once(&mut self, letter: u8, is_client: bool) {
        let shown = char::from(if is_client { letter.to_ascii_uppercase() } else { letter });
        if !self.history.contains(shown) {
            self.letter(letter, is_client);
        }
    }

    pub(crate) fn history(&self) -> &str {
        &self.history
    }

    /// Zeek's `conn_state`.
    pub(crate) fn state(&self) -> &'static str {
        let (client, server) = (self.client, self.server);
        let answered = server.syn_ack;
        // A client that goes on after the server's answer sent a SYN, though nobody captured it.
        let asked = client.syn || (answered && client.went_on());
        if asked && !answered {
            return match (client.fin, client.rst, server.rst) {
                (_, _, true) => "REJ",
                (_, true, _) => "RSTOS0",
                (true, ..) => "SH",
                _ => "S0",
            };
        }
        if !asked {
            return match (answered, server.rst, server.fin) {
                (true, true, _) => "RSTRH",
                (true, _, true) => "SHR",
                _ => "OTH",
            };
        }
        match (client.rst, server.rst, client.fin, server.fin) {
            (_, _, true, true) => "SF",
            (true, ..) => "RSTO",
            (_, true, ..) => "RSTR",
            (_, _, true, false) => "S2",
            (_, _, false, true) => "S3",
            _ => "S1",
        }
    }
}
