use anyhow::Result;
use link::{Ecn, Stream};
use plan::{Ideal, Requests};
use rows::kinds::{KindRow, RequestRow};
use units::Time;

use super::{Arrived, Ends, Outbox};
use crate::algorithm::Algorithms;
use crate::segment::Segment;
use crate::tcp::{AckReport, Duplex, Receiver, Sender, Settings};
use crate::traffic::FlowReport;

/// Requests and answers over a connection.
#[derive(Debug)]
pub(crate) struct Rpc {
    index: u16,
    connection: Duplex,
    requests: Requests,
    is_endless: bool,
    is_open: bool,
}

impl Rpc {
    pub(crate) fn new(
        index: u16,
        flow: &plan::Flow,
        hosts: (Settings, Settings),
        algorithms: &Algorithms<'_>,
        seed: u64,
        ideal: Option<Ideal>,
    ) -> Result<Rpc> {
        let plan::Workload::Rpc { cc, ecn, requests, .. } = &flow.workload else { unreachable!("a flow of RPCs") };
        let end = |settings: Settings, name: &str| {
            let algorithm = algorithms.create(cc, &flow.id)?;
            let observer = algorithm.needs_ecn().then(|| algorithms.create(cc, &flow.id)).transpose()?;
            let seed = Stream::new(seed, &format!("flow/{}/{name}", flow.id)).at(0);
            Ok::<_, anyhow::Error>((Sender::new(settings, algorithm, seed, *ecn), Receiver::new(settings, observer)))
        };
        Ok(Rpc {
            index,
            connection: Duplex::new(end(hosts.0, "cc")?, end(hosts.1, "server-cc")?),
            requests: Requests::new(flow, seed, ideal),
            is_endless: requests.is_none(),
            is_open: false,
        })
    }
}

impl Ends for Rpc {
    fn next(&self) -> Time {
        self.connection.client.next_timer().min(self.requests.next())
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.connection.client.connect(now, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.connection.client.on_timer(now, out);
        let bytes = self.requests.issue(now);
        if bytes > 0 {
            self.connection.client.write(bytes, now, out);
        }
    }

    fn stop(&mut self) -> bool {
        self.connection.abort();
        self.is_open && self.is_endless
    }

    fn is_over(&self) -> bool {
        self.requests.are_complete()
    }

    fn outlives_its_stop(&self) -> bool {
        false
    }

    fn at_sender(&mut self, segment: &Segment, ecn: Ecn, now: Time, outbox: &mut Outbox) -> Option<AckReport> {
        let report = self.connection.at_client(segment, ecn, now, &mut outbox.segments);
        if !self.is_open && self.connection.client.sender().is_established() {
            self.is_open = true;
            self.requests.open(now);
        }
        let received = self.connection.client.receiver().received_bytes();
        while let Some(request) = self.requests.complete(received, now) {
            outbox.rows.push(RequestRow::of(self.index, request, Some(now - request.issued)).into());
        }
        report
    }

    fn finish(&self, _: Time, rows: &mut Vec<KindRow>) {
        let row = |request| KindRow::from(RequestRow::of(self.index, request, None));
        rows.extend(self.requests.open_requests().map(row));
    }

    fn at_receiver(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Arrived {
        self.connection.at_server(segment, ecn, now, out);
        let bytes = self.requests.arrived(self.connection.server.receiver().received_bytes());
        if bytes > 0 {
            self.connection.server.write(bytes, now, out);
        }
        Arrived::default()
    }

    fn next_of_receiver(&self) -> Time {
        self.connection.server.next_timer()
    }

    fn on_receiver_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.connection.server.on_timer(now, out);
    }

    fn has_read(&self, now: Time) -> bool {
        self.connection.server.receiver().awaited_read() <= now
    }

    fn forget_syn(&mut self) {
        self.connection.server.forget_syn();
    }

    /// The client's.
    fn sender(&self) -> Option<&Sender> {
        Some(self.connection.client.sender())
    }

    /// Requests at the server and answers at the client.
    fn received_bytes(&self) -> u64 {
        let received = |end: &crate::tcp::End| end.receiver().received_bytes();
        received(&self.connection.client) + received(&self.connection.server)
    }

    fn sent_bytes(&self) -> u64 {
        let sent = |end: &crate::tcp::End| end.sender().counters().bytes_sent;
        sent(&self.connection.client) + sent(&self.connection.server)
    }

    fn report(&self, _: Time, report: FlowReport) -> FlowReport {
        let (client, server) = (self.connection.client.sender().counters(), self.connection.server.sender().counters());
        let repeated = client.bytes_retransmitted + server.bytes_retransmitted;
        FlowReport {
            completed: report.completed || self.requests.are_complete(),
            is_connected: self.is_open,
            sent_bytes: client.bytes_sent + server.bytes_sent - repeated,
            retransmitted_segments: client.segments_retransmitted + server.segments_retransmitted,
            busy_us: client.busy_us + server.busy_us,
            rwnd_limited_us: client.rwnd_limited_us + server.rwnd_limited_us,
            sndbuf_limited_us: client.sndbuf_limited_us + server.sndbuf_limited_us,
            ..report
        }
    }
}
