//! The lines of JSON between a run and the two programs of a QUIC flow, `dumbbell-quic` or one like it.
//!
//! A program reads orders from its standard input and writes lines to its standard output. Times are nanoseconds since
//! the run's time 0 unless they are called monotonic.

mod writer;

use serde::{Deserialize, Serialize};

pub use writer::Writer;

/// An order to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// The flow begins: the sender connects, both ends sample from now on.
    Start {
        /// The run's time 0 on `CLOCK_MONOTONIC`.
        zero_monotonic_ns: i64,
    },
    /// The sender's application writes from now on, or from the end of the handshake. Takes the place of an earlier order
    /// to write.
    Write(Write),
    /// The sender's application writes no more until it is told to.
    Pause,
    /// The receiver writes [`Line::Arrived`] once its application has read this many bytes in all.
    Await {
        /// Application data since the start of the flow.
        bytes: u64,
    },
    /// The flow is over: a last sample, then the end of the program.
    Stop,
}

/// Data that a sender's application writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Application data to write; `None`: without end.
    pub bytes: Option<u64>,
    /// Rate of the application data; `None`: as much as the stack takes.
    pub rate_bps: Option<u64>,
    /// The most data that the stack holds beyond what is in flight; `None`: as much as the stack takes.
    pub most_unsent_bytes: Option<u64>,
    /// The stream ends behind this data. Needs `bytes`.
    pub is_last: bool,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The socket is open. The program waits for the order to start.
    Ready(Ready),
    /// The handshake is complete at this end.
    Connected {
        /// Time.
        time_ns: i64,
    },
    /// The sender at one time.
    Sent(Sent),
    /// The receiver at one time.
    Received(Received),
    /// The receiver's application has read what an order awaits.
    Arrived {
        /// Time.
        time_ns: i64,
        /// Application data read since the start of the flow.
        bytes: u64,
    },
    /// The connection ended before its time, and with it the program.
    Failed {
        /// Reason, as the stack gives it.
        why: String,
    },
}

/// The stack that a program has set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Name of the stack.
    pub stack: String,
    /// Version of the stack's package.
    pub version: String,
    /// Congestion control that it uses; `None` at a receiver.
    pub cc: Option<String>,
}

/// Sender's account of its connection. Counts are cumulative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Time.
    pub time_ns: i64,
    /// Local port.
    pub port: u16,
    /// Application data that the stack has taken.
    pub written_bytes: u64,
    /// UDP payload sent: data, repeated data, and QUIC's overhead.
    pub sent_bytes: u64,
    /// UDP datagrams sent.
    pub sent_packets: u64,
    /// Packets declared lost (RFC 9002, section 6).
    pub lost_packets: u64,
    /// UDP payload of a full datagram.
    pub datagram_bytes: u32,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow start threshold; `None` while it is infinite, or if the stack does not tell.
    pub ssthresh_bytes: Option<u64>,
    /// Smoothed RTT (RFC 9002, section 5.3); `None` before the first RTT sample.
    pub srtt_us: Option<u32>,
    /// Variation of the RTT (same section); `None` if the stack does not tell.
    pub rttvar_us: Option<u32>,
    /// Least RTT (RFC 9002, section 5.2); `None` before the first RTT sample.
    pub min_rtt_us: Option<u32>,
    /// Bytes in flight (RFC 9002, section 2); `None` if the stack does not tell.
    pub bytes_in_flight: Option<u64>,
    /// Pacing rate; `None` if the stack does not tell.
    pub pacing_rate_bps: Option<u64>,
    /// Stack's estimate of the bottleneck's bandwidth; `None` if its algorithm has none.
    pub bandwidth_bps: Option<u64>,
    /// True if the peer has acknowledged all data, of a flow with a number of bytes.
    pub complete: bool,
    /// Context switches while this program wanted to run on: something else had its CPU.
    pub preempted: u64,
}

/// Receiver's account of its connection. Counts are cumulative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// Time.
    pub time_ns: i64,
    /// Application data that the application has read.
    pub bytes: u64,
    /// Time of the first byte.
    pub first_ns: Option<i64>,
    /// Time of the last byte.
    pub last_ns: Option<i64>,
    /// True if the stream has ended and all of it was read.
    pub complete: bool,
    /// Datagrams that the kernel dropped because the socket's buffer was full.
    pub socket_drops: u64,
    /// Context switches while this program wanted to run on: something else had its CPU.
    pub preempted: u64,
}

/// A stack of a program, as `dumbbell-quic stacks` lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Name.
    pub name: String,
    /// Version of its package.
    pub version: String,
    /// Names of its congestion controls.
    pub algorithms: Vec<String>,
}

/// Writes a value as a line, with its end.
///
/// # Panics
/// Never: these values have no keys but strings.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data") + "\n"
}

/// Reads a line.
///
/// # Errors
/// It is none of these.
pub fn parse<'de, T: Deserialize<'de>>(line: &'de str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let lines = [
            Line::Ready(Ready { stack: "quinn".into(), version: "1".into(), cc: None }),
            Line::Sent(Sent { time_ns: -1, srtt_us: Some(3), ..Sent::default() }),
            Line::Received(Received { bytes: u64::MAX, complete: true, ..Received::default() }),
            Line::Failed { why: "timed out".into() },
        ];
        for one in lines {
            assert_eq!(parse::<Line>(line(&one).trim_end()), Ok(one));
        }
        let start = Order::Start { zero_monotonic_ns: 7 };
        assert_eq!(line(&start), "{\"order\":\"start\",\"zero_monotonic_ns\":7}\n");
        let write = Order::Write(Write { bytes: Some(7), is_last: true, ..Write::default() });
        for order in [start, write, Order::Pause, Order::Await { bytes: 7 }, Order::Stop] {
            assert_eq!(parse::<Order>(&line(&order)), Ok(order));
        }
        assert!(parse::<Order>("{\"order\":\"wait\"}").is_err());
    }
}
