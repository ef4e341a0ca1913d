//! The application of a QUIC flow's sender: the orders by which its program writes and pauses.

use plan::{Bursts, OnOff};
use units::{Rate, Time};

use crate::{Order, Write};

/// The data that an application writes, and the pauses between.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Option<u64>,
    rate: Option<Rate>,
    bursts: Option<Bursts>,
    /// The turn of bursts that is known to the event loop.
    next_turn: Time,
    /// Bytes of all bursts of bytes that were ordered.
    ordered: u64,
}

impl Writer {
    /// An application with this size, rate of its data, and bursts.
    pub fn new(bytes: Option<u64>, rate: Option<Rate>, bursts: Option<Bursts>) -> Writer {
        Writer { bytes, rate, bursts, next_turn: Time::NEVER, ordered: 0 }
    }

    /// True if it ends after a number of bytes.
    pub fn has_size(&self) -> bool {
        self.bytes.is_some()
    }

    /// True if it must know when its bytes have arrived.
    pub fn needs_arrivals(&self) -> bool {
        self.bursts.is_some_and(|bursts| bursts.are_of_bytes())
    }

    /// The receiver's application has read this many bytes in all.
    pub fn arrived(&mut self, bytes: u64, now: Time) {
        if let Some(bursts) = &mut self.bursts {
            bursts.arrived(bytes, now);
        }
    }

    /// The time of the next turn of bursts and pauses.
    pub fn next_turn(&self) -> Time {
        self.bursts.as_ref().map_or(Time::NEVER, |bursts| bursts.next())
    }

    /// The time of the next turn, if it is not known yet.
    pub fn take_next_turn(&mut self) -> Option<Time> {
        let next = self.bursts.as_ref()?.next();
        (std::mem::replace(&mut self.next_turn, next) != next && next != Time::NEVER).then_some(next)
    }

    /// A burst ends or begins.
    pub fn turn(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.turn();
        }
    }

    /// Returns the orders to the sender and to the receiver, of a burst or pause that has just begun.
    pub fn orders(&mut self) -> (Order, Option<Order>) {
        let mut write = Write { rate_bps: self.rate.map(Rate::as_bps), ..Write::default() };
        let Some(bursts) = self.bursts else {
            return (Order::Write(Write { bytes: self.bytes, is_last: self.bytes.is_some(), ..write }), None);
        };
        if !bursts.is_on() {
            return (Order::Pause, None);
        }
        write.bytes = bursts.may_write(self.ordered);
        let Some(bytes) = write.bytes else {
            // When the application pauses, the stack has little left to send.
            write.most_unsent_bytes = Some(OnOff::AHEAD_BYTES.into());
            return (Order::Write(write), None);
        };
        self.ordered += bytes;
        (Order::Write(write), Some(Order::Await { bytes: self.ordered }))
    }
}

#[cfg(test)]
mod tests {
    use plan::On;
    use units::Duration;

    use super::*;

    fn writer(on: On) -> Writer {
        Writer::new(None, None, Some(Bursts::new(OnOff { on, off_ns: Duration(30) }, Time(5))))
    }

    #[test]
    fn a_burst_of_a_time_holds_little_unsent_and_ends_by_a_pause() {
        let mut writer = writer(On::Ns(Duration(10)));
        let write = Write { most_unsent_bytes: Some(OnOff::AHEAD_BYTES.into()), ..Write::default() };
        assert_eq!(writer.orders(), (Order::Write(write), None));
        assert_eq!((writer.take_next_turn(), writer.take_next_turn()), (Some(Time(15)), None));
        writer.turn();
        assert_eq!(writer.orders(), (Order::Pause, None));
    }

    #[test]
    fn a_burst_of_bytes_ends_by_their_arrival() {
        let mut writer = writer(On::Bytes(100));
        let write = Order::Write(Write { bytes: Some(100), ..Write::default() });
        assert_eq!(writer.orders(), (write, Some(Order::Await { bytes: 100 })));
        assert_eq!(writer.take_next_turn(), None, "it is not known when they arrive");
        writer.arrived(100, Time(20));
        assert_eq!(writer.take_next_turn(), Some(Time(50)));
        writer.turn();
        assert_eq!(writer.orders(), (write, Some(Order::Await { bytes: 200 })));
    }

    #[test]
    fn a_flow_with_a_size_ends_its_stream_behind_it() {
        let mut writer = Writer::new(Some(300), Rate::from_bps(8_000), None);
        let write = Write { bytes: Some(300), rate_bps: Some(8_000), is_last: true, ..Write::default() };
        assert_eq!(writer.orders(), (Order::Write(write), None));
    }
}
