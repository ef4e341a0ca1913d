//! Applications that write, pause, and write again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Time};

/// Bytes that an application without pauses writes to its TCP connection at once, if it has as many.
pub const BULK_WRITE_BYTES: u32 = 256 << 10;

/// The behaviour of an on/off flow, from its start to its stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// A burst.
    pub on: On,
    /// The pause after it.
    pub off_ns: Duration,
}

/// The length of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// A time. TCP: the application writes as much as the connection takes.
    Ns(Duration),
    /// A number of bytes. TCP: the pause begins when the receiver's application has read it.
    Bytes(u64),
}

impl OnOff {
    /// The most that the socket of an application that writes for a time holds beyond what was sent (`TCP_NOTSENT_LOWAT`, tcp(7)). It
    /// may write when the socket holds less than half of that, so when it pauses, at most this much is yet to be sent.
    pub const AHEAD_BYTES: u32 = 32 << 10;

    /// Bytes that an application with pauses writes at once.
    pub const WRITE_BYTES: u32 = OnOff::AHEAD_BYTES / 2;

    pub(crate) fn is_possible(&self) -> bool {
        let lasts = match self.on {
            On::Ns(on) => on > Duration::ZERO,
            On::Bytes(bytes) => bytes > 0,
        };
        lasts && self.off_ns > Duration::ZERO
    }
}

/// The place in its bursts and pauses of an application that writes to a TCP connection.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    pattern: OnOff,
    is_on: bool,
    /// The time at which the burst under way, or the last one, began.
    began: Time,
    /// The time at which it changes from one to the other; [`Time::NEVER`]: when its bytes have arrived.
    next: Time,
    /// The total of bursts of bytes, the one under way included.
    target: u64,
}

impl Bursts {
    /// The first burst begins at `start`. Times are computed from it: a late turn delays no other.
    pub fn new(pattern: OnOff, start: Time) -> Bursts {
        let mut bursts = Bursts { pattern, is_on: false, began: start, next: start, target: 0 };
        bursts.turn();
        bursts
    }

    /// The time at which [`turn`](Bursts::turn) is due.
    pub fn next(&self) -> Time {
        self.next
    }

    /// The application is in a burst.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// A burst ends or begins, as was due at [`next`](Bursts::next).
    pub fn turn(&mut self) {
        let OnOff { on, off_ns } = self.pattern;
        self.is_on = !self.is_on;
        match (on, self.is_on) {
            (On::Ns(on), true) => {
                self.began = self.next;
                self.next = self.began + on;
            }
            (On::Ns(on), false) => self.next = self.began + on + off_ns,
            (On::Bytes(bytes), true) => {
                self.target += bytes;
                self.next = Time::NEVER;
            }
            // `arrived` ends these.
            (On::Bytes(_), false) => {}
        }
    }

    /// The receiver's application has read `received` bytes in all by `now`.
    pub fn arrived(&mut self, received: u64, now: Time) {
        if self.is_on && matches!(self.pattern.on, On::Bytes(_)) && received >= self.target {
            self.is_on = false;
            self.next = now + self.pattern.off_ns;
        }
    }

    /// Bursts end when their bytes have arrived.
    pub fn are_of_bytes(&self) -> bool {
        matches!(self.pattern.on, On::Bytes(_))
    }

    /// The number of bytes that the application may write now, if it has written `written` bytes in all; `None`: as
    /// many as it likes.
    pub fn may_write(&self, written: u64) -> Option<u64> {
        match (self.pattern.on, self.is_on) {
            (On::Ns(_), true) => None,
            (On::Ns(_), false) => Some(0),
            (On::Bytes(_), _) => Some(self.target.saturating_sub(written)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time(5);

    #[test]
    fn bursts_of_a_time_keep_to_their_grid() {
        let pattern = OnOff { on: On::Ns(Duration(10)), off_ns: Duration(30) };
        let mut bursts = Bursts::new(pattern, START);
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push((bursts.is_on(), bursts.next().as_nanos(), bursts.may_write(7)));
            bursts.arrived(1 << 40, START);
            bursts.turn();
        }
        let (on, off) = (None, Some(0));
        assert_eq!(seen, [(true, 15, on), (false, 45, off), (true, 55, on), (false, 85, off), (true, 95, on)]);
    }

    #[test]
    fn a_burst_of_bytes_ends_when_they_have_arrived() {
        let mut bursts = Bursts::new(OnOff { on: On::Bytes(100), off_ns: Duration(30) }, START);
        assert_eq!((bursts.may_write(0), bursts.may_write(100), bursts.next()), (Some(100), Some(0), Time::NEVER));
        bursts.arrived(99, Time(20));
        assert!(bursts.is_on());
        bursts.arrived(100, Time(21));
        assert_eq!((bursts.is_on(), bursts.next(), bursts.may_write(100)), (false, Time(51), Some(0)));
        bursts.arrived(100, Time(30));
        assert_eq!(bursts.next(), Time(51), "nothing prolongs a pause");
        bursts.turn();
        assert_eq!((bursts.is_on(), bursts.may_write(100), bursts.next()), (true, Some(100), Time::NEVER));
    }
}
