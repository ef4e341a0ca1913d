//! Numbers that quinn and noq tell their congestion control and nobody else.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes in flight, and the least RTT.
#[derive(Debug, Default)]
pub struct Flight {
    bytes: AtomicU64,
    min_rtt_us: AtomicU64,
}

impl Flight {
    /// Adds a packet that was sent.
    pub fn sent(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Takes over the stack's count after an ACK.
    pub fn acknowledged(&self, in_flight: u64) {
        self.bytes.store(in_flight, Relaxed);
    }

    /// Takes off packets that were declared lost.
    pub fn lost(&self, bytes: u64) {
        let left = self.bytes.load(Relaxed).saturating_sub(bytes);
        self.bytes.store(left, Relaxed);
    }

    /// Notes an RTT that an ACK measured. The stack's own minimum begins with its guess of 333 ms (RFC 9002, section 6.2.2), which a
    /// longer path never exceeds.
    pub fn measured(&self, rtt: std::time::Duration) {
        let us = (rtt.as_micros() as u64).max(1);
        let least = self.min_rtt_us.load(Relaxed);
        if least == 0 || us < least {
            self.min_rtt_us.store(us, Relaxed);
        }
    }

    /// Bytes in flight.
    pub fn in_flight(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Least RTT in microseconds; `None` before the first ACK.
    pub fn min_rtt_us(&self) -> Option<u32> {
        Some(self.min_rtt_us.load(Relaxed) as u32).filter(|us| *us > 0)
    }
}
