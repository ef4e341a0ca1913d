use std::collections::VecDeque;

use plan::Buffer;

use crate::packet::Passage;

/// What waits in a queue, the packet in service not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Frames plus overhead.
    pub bytes: u64,
    /// How many.
    pub packets: u32,
}

/// A drop-tail FIFO.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Buffer,
    waiting: VecDeque<(Passage, u32)>,
    backlog: Backlog,
}

impl Fifo {
    pub(crate) fn new(limit: Buffer) -> Fifo {
        Fifo { limit, waiting: VecDeque::new(), backlog: Backlog::default() }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Append a packet of `bytes` (overhead included), or give it back if there is no room.
    pub(crate) fn enqueue(&mut self, passage: Passage, bytes: u32) -> Result<(), Passage> {
        let fits = match self.limit {
            Buffer::Bytes(limit) => self.backlog.bytes + u64::from(bytes) <= limit,
            Buffer::Packets(limit) => u64::from(self.backlog.packets) < limit,
            Buffer::Unlimited => true,
        };
        if !fits {
            return Err(passage);
        }
        self.backlog.bytes += u64::from(bytes);
        self.backlog.packets += 1;
        self.waiting.push_back((passage, bytes));
        Ok(())
    }

    /// Remove the first packet and its size.
    pub(crate) fn dequeue(&mut self) -> Option<(Passage, u32)> {
        let (passage, bytes) = self.waiting.pop_front()?;
        self.backlog.bytes -= u64::from(bytes);
        self.backlog.packets -= 1;
        Some((passage, bytes))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Passage> {
        self.waiting.iter().map(|(passage, _)| passage)
    }
}
