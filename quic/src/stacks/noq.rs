//! noq, a fork of quinn: its state machine, `noq-proto`.

use std::any::Any;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::{Bytes, BytesMut};
use noq_proto::congestion::{Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, DatagramEvent, Dir, EcnCodepoint,
    EndpointConfig, Event, FourTuple, PathId, QlogConfig, QlogFactory, RttEstimator, ServerConfig, Side, StreamEvent,
    StreamId, TransportConfig, VarInt,
};
use quic_lines::Sent;

use super::flight::Flight;
use super::{NAME, RECEIVE_WINDOW, Stack, tls, version};
use crate::qlog::Qlog;
use crate::stack::{Ecn, Endpoint, State, Transmit};

pub const STACK: Stack = Stack {
    name: "noq",
    version: version("1.4.0", option_env!("DUMBBELL_QUIC_NOQ")),
    algorithms: &["cubic", "reno", "bbr3"],
    sender,
    receiver,
};

/// The most that is read at once.
const CHUNK: usize = 1 << 20;

fn sender(cc: &str, qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    let of: Arc<dyn ControllerFactory + Send + Sync> = match cc {
        "cubic" => Arc::new(CubicConfig::default()),
        "reno" => Arc::new(NewRenoConfig::default()),
        "bbr3" => Arc::new(Bbr3Config::default()),
        other => bail!("noq has no congestion control {other}: it has {}", STACK.algorithms.join(", ")),
    };
    let flight = Arc::new(Flight::default());
    let mut transport = transport(qlog);
    transport.congestion_controller_factory(Arc::new(Watching { of, flight: flight.clone() }));
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls::client()?)?));
    config.transport_config(Arc::new(transport));
    let endpoint = noq_proto::Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    Ok(Box::new(Noq::new(endpoint, Some(config), flight)))
}

fn receiver(qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls::server()?)?));
    config.transport_config(Arc::new(transport(qlog)));
    let endpoint = noq_proto::Endpoint::new(Arc::new(EndpointConfig::default()), Some(Arc::new(config)), true);
    Ok(Box::new(Noq::new(endpoint, None, Arc::default())))
}

/// The stack's defaults, but for the receive window.
fn transport(qlog: Option<Qlog>) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    transport.receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    transport.send_window(u64::from(RECEIVE_WINDOW));
    if qlog.is_some() {
        transport.qlog_factory(Arc::new(ForOne(Mutex::new(qlog))));
    }
    transport
}

/// The qlog of the first connection, whose beginning is its time 0.
struct ForOne(Mutex<Option<Qlog>>);

impl QlogFactory for ForOne {
    fn for_connection(&self, _: Side, _: SocketAddr, _: ConnectionId, _: Instant) -> Option<QlogConfig> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(QlogConfig::new)
    }
}

struct Noq {
    endpoint: noq_proto::Endpoint,
    config: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    /// Answers of the endpoint itself.
    answers: VecDeque<(noq_proto::Transmit, Vec<u8>)>,
    state: State,
    is_acknowledged: bool,
    has_everything: bool,
    flight: Arc<Flight>,
}

impl Noq {
    fn new(endpoint: noq_proto::Endpoint, config: Option<ClientConfig>, flight: Arc<Flight>) -> Noq {
        Noq {
            endpoint,
            config,
            connection: None,
            stream: None,
            answers: VecDeque::new(),
            state: State::Handshaking,
            is_acknowledged: false,
            has_everything: false,
            flight,
        }
    }

    /// Carries events between endpoint and connection, and takes those for the application.
    fn turn(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    self.state = State::Open;
                    if self.config.is_some() {
                        self.stream = connection.streams().open(Dir::Uni);
                    }
                }
                Event::ConnectionLost { reason } => {
                    self.state = match reason {
                        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed => State::Closed,
                        reason => State::Failed(reason.to_string()),
                    }
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    self.stream = connection.streams().accept(dir).or(self.stream);
                }
                Event::Stream(StreamEvent::Available { dir: Dir::Uni }) if self.config.is_some() => {
                    self.stream = self.stream.or_else(|| connection.streams().open(Dir::Uni));
                }
                Event::Stream(StreamEvent::Finished { .. }) => self.is_acknowledged = true,
                _ => {}
            }
        }
    }
}

impl Endpoint for Noq {
    fn connect(&mut self, now: Instant, to: SocketAddr) -> Result<()> {
        let config = self.config.clone().context("a receiver does not connect")?;
        self.connection = Some(self.endpoint.connect(now, config, to, NAME)?);
        Ok(())
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: BytesMut) {
        let mut buffer = Vec::new();
        match self.endpoint.handle(
            now,
            FourTuple::from_remote(from),
            EcnCodepoint::from_bits(ecn),
            datagram,
            &mut buffer,
        ) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((_, connection)) = self.connection.as_mut().filter(|(own, _)| *own == handle) {
                    connection.handle_event(event);
                }
            }
            // A second connection is nobody's.
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_some() => {
                self.endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut buffer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(error) => {
                        self.state = State::Failed(error.cause.to_string());
                        self.answers.extend(error.response.map(|transmit| (transmit, buffer)));
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => self.answers.push_back((transmit, buffer)),
            None => {}
        }
        self.turn();
    }

    fn transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = match self.answers.pop_front() {
            Some((transmit, answer)) => {
                buffer.extend_from_slice(&answer[..transmit.size]);
                transmit
            }
            None => self.connection.as_mut()?.1.poll_transmit(now, NonZeroUsize::new(most)?, buffer)?,
        };
        let ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
        Some(Transmit { to: transmit.destination, segment_bytes: transmit.segment_size, ecn })
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.turn();
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn write(&mut self, data: &'static [u8], most_unsent: Option<u64>) -> Result<usize> {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return Ok(0) };
        if let Some(most) = most_unsent {
            // The stack's limit is of data that is not acknowledged.
            connection.set_send_window(self.flight.in_flight() + most);
        }
        match connection.send_stream(stream).write_chunks(&mut &mut [Bytes::from_static(data)][..]) {
            Ok(bytes) => Ok(bytes),
            Err(noq_proto::WriteError::Blocked) => Ok(0),
            Err(error) => bail!("writing to the stream: {error}"),
        }
    }

    fn finish(&mut self) -> Result<()> {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return Ok(()) };
        Ok(connection.send_stream(stream).finish()?)
    }

    fn is_acknowledged(&self) -> bool {
        self.is_acknowledged
    }

    fn read(&mut self) -> u64 {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return 0 };
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else { return 0 };
        let mut bytes = 0;
        loop {
            match chunks.next(CHUNK) {
                Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
                Ok(None) => {
                    self.has_everything = true;
                    break;
                }
                Err(_) => break,
            }
        }
        // Whether the peer is to be told of more room: `transmit` looks.
        let _ = chunks.finalize();
        bytes
    }

    fn has_everything(&self) -> bool {
        self.has_everything
    }

    fn close(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        self.turn();
    }

    fn account(&mut self) -> Sent {
        let Some((_, connection)) = &mut self.connection else { return Sent::default() };
        // The flow's path is the first; it never moves to another.
        let Some(stats) = connection.path_stats(PathId::ZERO) else { return Sent::default() };
        let metrics = connection.congestion_state(PathId::ZERO).map(|cc| cc.metrics()).unwrap_or_default();
        let min_rtt_us = self.flight.min_rtt_us();
        Sent {
            sent_bytes: stats.udp_tx.bytes,
            sent_packets: stats.udp_tx.datagrams,
            lost_packets: stats.lost_packets,
            datagram_bytes: stats.current_mtu.into(),
            cwnd_bytes: stats.cwnd,
            ssthresh_bytes: metrics.ssthresh.filter(|bytes| *bytes != u64::MAX),
            // Before the first ACK the stack gives its initial guess.
            srtt_us: min_rtt_us.map(|_| stats.rtt.as_micros() as u32),
            min_rtt_us,
            bytes_in_flight: Some(self.flight.in_flight()),
            // The stack counts bytes in the one and bits in the other.
            pacing_rate_bps: metrics.pacing_rate.map(|bytes| 8 * bytes),
            bandwidth_bps: metrics.bandwidth_estimate,
            ..Sent::default()
        }
    }
}

/// Makes controllers of the stack that are watched.
struct Watching {
    of: Arc<dyn ControllerFactory + Send + Sync>,
    flight: Arc<Flight>,
}

impl ControllerFactory for Watching {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Watched { own: self.of.clone().build(now, current_mtu), flight: self.flight.clone() })
    }
}

/// A controller of the stack. Each call goes to it unchanged.
#[derive(Debug)]
struct Watched {
    own: Box<dyn Controller>,
    flight: Arc<Flight>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.flight.sent(bytes);
        self.own.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.own.on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.own.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.flight.measured(now.saturating_duration_since(sent));
        self.own.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.flight.acknowledged(in_flight);
        self.own.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        self.flight.lost(lost_bytes);
        self.own.on_congestion_event(now, sent, is_persistent, is_ecn, lost_bytes, largest_lost_pn);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.own.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.own.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.own.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, ack_eliciting_threshold: u64, requested_max_ack_delay: Duration) {
        self.own.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.own.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.own.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Watched { own: self.own.clone_box(), flight: self.flight.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.own.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.own.into_any()
    }
}
