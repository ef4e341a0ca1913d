//! The sums over the samples of a flow: 4 bytes per TCP connection and sampling interval, and 80 per bulk flow and
//! second.

use units::Time;

use crate::arithmetic::quantile;
use crate::convergence::Received;

/// The values of a row of `samples` that figures need.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSample {
    /// The time of the row.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Local port of the sending socket.
    pub socket: u16,
    /// Payload sent so far, retransmissions included.
    pub bytes_sent: u64,
    /// Payload acknowledged so far, of TCP alone.
    pub bytes_acked: Option<u64>,
    /// Payload that the receiver's application has read so far.
    pub received_bytes: Option<u64>,
    /// Smoothed RTT.
    pub srtt_us: Option<u32>,
    /// The least RTT.
    pub min_rtt_us: Option<u32>,
}

/// The facts from all samples of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// The least minimum of the RTT.
    pub rtt_min_us: Option<u32>,
    /// Median over time of the smoothed RTT.
    pub rtt_p50_us: Option<f64>,
    /// The 95th percentile.
    pub rtt_p95_us: Option<f64>,
    /// Payload that all its connections sent, retransmissions included; `None` without a sample.
    pub bytes_sent: Option<u64>,
}

/// A flow's connections carried its data if they delivered this share of the busiest connection's bytes.
const LEAST_SHARE: f64 = 0.01;

/// For each connection of a flow, true if it carried the flow's data, by the bytes that it delivered. A program's
/// control connection, such as iperf3's, delivers far less than the others, and its window and RTT are not the flow's.
pub fn carrying(delivered: &[u64]) -> Vec<bool> {
    let most = delivered.iter().max().copied().unwrap_or(0);
    delivered.iter().map(|&bytes| bytes as f64 >= LEAST_SHARE * most as f64).collect()
}

/// The samples of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowSamples {
    sockets: Vec<SocketSamples>,
    last: Option<Time>,
    window: Option<(Time, Time)>,
    received_before: u64,
    received_by_end: u64,
    /// The bytes of a bulk flow since the last change.
    steps: Option<Received>,
    /// The smoothed RTTs within the window, ns, of a bulk flow beside pings.
    loaded_ns: Option<Vec<i64>>,
}

#[derive(Clone, Debug, Default)]
struct SocketSamples {
    socket: u16,
    srtt_us: Vec<u32>,
    min_rtt_us: Option<u32>,
    acked: u64,
    sent: u64,
    /// Bytes sent by connections that had the same port before.
    sent_before: u64,
}

impl FlowSamples {
    /// `window`: in which received bytes are counted. `steady`: in which the convergence of a bulk flow is looked for.
    pub(crate) fn new(window: Option<(Time, Time)>, steady: Option<(Time, Time)>) -> FlowSamples {
        let steps = steady.map(|(start, end)| Received::between(start, end));
        FlowSamples { window, steps, ..FlowSamples::default() }
    }

    /// Pings run beside it: its RTTs within the window count, too.
    pub(crate) fn beside_pings(self) -> FlowSamples {
        FlowSamples { loaded_ns: Some(Vec::new()), ..self }
    }

    /// Smoothed RTTs within the window, ns; taken out.
    pub(crate) fn loaded_ns(&mut self) -> Vec<i64> {
        self.loaded_ns.take().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, sample: &FlowSample) {
        self.last = Some(sample.time);
        if let Some(received) = sample.received_bytes {
            self.receive(sample.time, received);
        }
        if let (Some(loaded), Some(srtt_us), Some((start, end))) = (&mut self.loaded_ns, sample.srtt_us, self.window)
            && (start..=end).contains(&sample.time)
        {
            loaded.push(i64::from(srtt_us) * 1000);
        }
        let socket = self.socket(sample.socket);
        socket.srtt_us.extend(sample.srtt_us);
        socket.min_rtt_us = socket.min_rtt_us.into_iter().chain(sample.min_rtt_us).min();
        socket.acked = socket.acked.max(sample.bytes_acked.unwrap_or(0));
        if sample.bytes_sent < socket.sent {
            socket.sent_before += socket.sent;
        }
        socket.sent = sample.bytes_sent;
    }

    fn receive(&mut self, time: Time, received: u64) {
        if let Some((start, end)) = self.window {
            if time <= start {
                self.received_before = self.received_before.max(received);
            }
            if time <= end {
                self.received_by_end = self.received_by_end.max(received);
            }
        }
        if let Some(steps) = &mut self.steps {
            steps.is(time, received);
        }
    }

    fn socket(&mut self, socket: u16) -> &mut SocketSamples {
        let at = self.sockets.iter().position(|known| known.socket == socket).unwrap_or_else(|| {
            self.sockets.push(SocketSamples { socket, ..SocketSamples::default() });
            self.sockets.len() - 1
        });
        &mut self.sockets[at]
    }

    /// The time of the latest.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    /// The least RTT of any connection.
    pub fn min_rtt_us(&self) -> Option<u32> {
        self.sockets.iter().filter_map(|socket| socket.min_rtt_us).min()
    }

    /// The receiver's bytes within the window: the counter's last value by its end minus that by its start.
    pub(crate) fn received_in_window(&self) -> u64 {
        self.received_by_end - self.received_before
    }

    /// The bytes that it had received at each step since the last change; taken out.
    pub(crate) fn steps(&mut self) -> Option<Vec<u64>> {
        Some(self.steps.take()?.bytes())
    }

    /// RTTs are of the connections that carried the flow's data. Call this once.
    pub(crate) fn total(&mut self) -> Sampled {
        let sent = self.sockets.iter().map(|socket| socket.sent_before + socket.sent).sum();
        let bytes_sent = self.last.map(|_| sent);
        let acked: Vec<u64> = self.sockets.iter().map(|socket| socket.acked).collect();
        let mut carried = carrying(&acked).into_iter();
        self.sockets.retain(|_| carried.next() == Some(true));
        let mut srtt_us: Vec<u32> = match &mut self.sockets[..] {
            [one] => std::mem::take(&mut one.srtt_us),
            several => several.iter().flat_map(|socket| &socket.srtt_us).copied().collect(),
        };
        srtt_us.sort_unstable();
        let at = |share| quantile(&srtt_us, share, f64::from);
        Sampled { rtt_min_us: self.min_rtt_us(), rtt_p50_us: at(0.50), rtt_p95_us: at(0.95), bytes_sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The facts from samples that say nothing.
    const NONE: Sampled = Sampled { rtt_min_us: None, rtt_p50_us: None, rtt_p95_us: None, bytes_sent: Some(0) };

    fn rtt(samples: impl IntoIterator<Item = FlowSample>) -> Sampled {
        let mut flow = FlowSamples::default();
        samples.into_iter().for_each(|sample| flow.add(&sample));
        flow.total()
    }

    #[test]
    fn samples_without_an_rtt_do_not_count() {
        let told = [(None, None), (Some(20_000), Some(20_000)), (Some(40_000), Some(19_500))];
        let found = rtt(told.map(|(srtt_us, min_rtt_us)| FlowSample { srtt_us, min_rtt_us, ..FlowSample::default() }));
        let expected =
            Sampled { rtt_min_us: Some(19_500), rtt_p50_us: Some(30_000.0), rtt_p95_us: Some(39_000.0), ..NONE };
        assert_eq!((found, rtt([FlowSample::default()]), rtt([])), (expected, NONE, Sampled::default()));
    }

    #[test]
    fn an_idle_control_connection_does_not_count() {
        let sockets = [(1, 190, 20_000), (2, 2_000_000, 40_000), (3, 20_000, 42_000)];
        let samples = (0..2001).flat_map(|time| {
            sockets.map(|(socket, acked, us)| FlowSample {
                socket,
                bytes_acked: Some(1000 * time).map(|bytes: u64| bytes.min(acked)),
                srtt_us: Some(us),
                min_rtt_us: Some(us),
                ..FlowSample::default()
            })
        });
        let expected =
            Sampled { rtt_min_us: Some(40_000), rtt_p50_us: Some(41_000.0), rtt_p95_us: Some(42_000.0), ..NONE };
        assert_eq!(rtt(samples), expected);
    }

    #[test]
    fn what_all_connections_sent_adds_up_when_a_port_is_used_again() {
        let sent = [(1, 100), (2, 7), (1, 500), (1, 30), (1, 40), (2, 9)];
        let samples = sent.map(|(socket, bytes_sent)| FlowSample { socket, bytes_sent, ..FlowSample::default() });
        assert_eq!(rtt(samples).bytes_sent, Some(500 + 40 + 9));
    }

    #[test]
    fn bytes_are_counted_from_zero_before_the_first_sample() {
        let mut flow = FlowSamples::new(Some((Time(5), Time(20))), None);
        for (time, received) in [(5, 10), (6, 11), (20, 30), (21, 40)] {
            flow.add(&FlowSample { time: Time(time), received_bytes: Some(received), ..FlowSample::default() });
        }
        assert_eq!(flow.received_in_window(), 20);
        assert_eq!(FlowSamples::new(Some((Time(0), Time(1))), None).received_in_window(), 0);
    }
}
