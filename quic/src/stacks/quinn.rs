//! quinn: its state machine, `quinn-proto`.

use std::any::Any;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};
use bytes::{Bytes, BytesMut};
use quic_lines::Sent;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, EndpointConfig,
    Event, QlogConfig, RttEstimator, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};

use super::flight::Flight;
use super::{NAME, RECEIVE_WINDOW, Stack, tls, version};
use crate::qlog::Qlog;
use crate::stack::{Ecn, Endpoint, State, Transmit};

pub const STACK: Stack = Stack {
    name: "quinn",
    version: version("0.11.19", option_env!("DUMBBELL_QUIC_QUINN")),
    algorithms: &["cubic", "reno", "bbr"],
    sender,
    receiver,
};

/// The most that is read at once.
const CHUNK: usize = 1 << 20;

fn sender(cc: &str, qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    let of: Arc<dyn ControllerFactory + Send + Sync> = match cc {
        "cubic" => Arc::new(CubicConfig::default()),
        "reno" => Arc::new(NewRenoConfig::default()),
        "bbr" => Arc::new(BbrConfig::default()),
        other => bail!("quinn has no congestion control {other}: it has {}", STACK.algorithms.join(", ")),
    };
    let flight = Arc::new(Flight::default());
    let mut transport = transport();
    transport.congestion_controller_factory(Arc::new(Watching { of, flight: flight.clone() }));
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls::client()?)?));
    let endpoint = quinn_proto::Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
    Ok(Box::new(Quinn::new(endpoint, Config::Client(config), Settings { transport, qlog }, flight)))
}

fn receiver(qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls::server()?)?));
    let common = Arc::new(EndpointConfig::default());
    let endpoint = quinn_proto::Endpoint::new(common, Some(Arc::new(config.clone())), true, None);
    let settings = Settings { transport: transport(), qlog };
    Ok(Box::new(Quinn::new(endpoint, Config::Server(config), settings, Arc::default())))
}

/// The stack's defaults, but for the receive window.
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    transport.receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    transport.send_window(u64::from(RECEIVE_WINDOW));
    transport
}

enum Config {
    Client(ClientConfig),
    Server(ServerConfig),
}

/// Settings of the connection.
struct Settings {
    transport: TransportConfig,
    qlog: Option<Qlog>,
}

impl Settings {
    /// The settings of a connection that begins now, which is time 0 of its qlog.
    fn beginning(mut self, now: Instant) -> Arc<TransportConfig> {
        if let Some(writer) = self.qlog {
            let mut config = QlogConfig::default();
            config.writer(writer).start_time(now);
            self.transport.qlog_stream(config.into_stream());
        }
        Arc::new(self.transport)
    }
}

struct Quinn {
    endpoint: quinn_proto::Endpoint,
    config: Config,
    /// For the connection.
    settings: Option<Settings>,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    /// Answers of the endpoint itself.
    answers: VecDeque<(quinn_proto::Transmit, Vec<u8>)>,
    state: State,
    is_acknowledged: bool,
    has_everything: bool,
    flight: Arc<Flight>,
}

impl Quinn {
    fn new(endpoint: quinn_proto::Endpoint, config: Config, settings: Settings, flight: Arc<Flight>) -> Quinn {
        Quinn {
            endpoint,
            config,
            settings: Some(settings),
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
        let is_sender = matches!(self.config, Config::Client(_));
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
                    if is_sender {
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
                Event::Stream(StreamEvent::Available { dir: Dir::Uni }) if is_sender => {
                    self.stream = self.stream.or_else(|| connection.streams().open(Dir::Uni));
                }
                Event::Stream(StreamEvent::Finished { .. }) => self.is_acknowledged = true,
                _ => {}
            }
        }
    }
}

impl Endpoint for Quinn {
    fn connect(&mut self, now: Instant, to: SocketAddr) -> Result<()> {
        let (Config::Client(config), Some(settings)) = (&self.config, self.settings.take()) else {
            bail!("only a sender connects, and once")
        };
        let mut config = config.clone();
        config.transport_config(settings.beginning(now));
        self.connection = Some(self.endpoint.connect(now, config, to, NAME)?);
        Ok(())
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: BytesMut) {
        let mut buffer = Vec::new();
        match self.endpoint.handle(now, from, None, EcnCodepoint::from_bits(ecn), datagram, &mut buffer) {
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
                let config = match (&self.config, self.settings.take()) {
                    (Config::Server(config), Some(settings)) => {
                        let mut config = config.clone();
                        config.transport_config(settings.beginning(now));
                        Some(Arc::new(config))
                    }
                    _ => None,
                };
                match self.endpoint.accept(incoming, now, &mut buffer, config) {
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
            None => self.connection.as_mut()?.1.poll_transmit(now, most, buffer)?,
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
        match connection.send_stream(stream).write_chunks(&mut [Bytes::from_static(data)]) {
            Ok(written) => Ok(written.bytes),
            Err(quinn_proto::WriteError::Blocked) => Ok(0),
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
        let Some((_, connection)) = &self.connection else { return Sent::default() };
        let stats = connection.stats();
        let metrics = connection.congestion_state().metrics();
        let min_rtt_us = self.flight.min_rtt_us();
        Sent {
            sent_bytes: stats.udp_tx.bytes,
            sent_packets: stats.udp_tx.datagrams,
            lost_packets: stats.path.lost_packets,
            datagram_bytes: stats.path.current_mtu.into(),
            cwnd_bytes: stats.path.cwnd,
            ssthresh_bytes: metrics.ssthresh.filter(|bytes| *bytes != u64::MAX),
            // Before the first ACK the stack gives its initial guess.
            srtt_us: min_rtt_us.map(|_| stats.path.rtt.as_micros() as u32),
            min_rtt_us,
            bytes_in_flight: Some(self.flight.in_flight()),
            pacing_rate_bps: metrics.pacing_rate,
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
struct Watched {
    own: Box<dyn Controller>,
    flight: Arc<Flight>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.flight.sent(bytes);
        self.own.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.flight.measured(now.saturating_duration_since(sent));
        self.own.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.flight.acknowledged(in_flight);
        self.own.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.flight.lost(lost_bytes);
        self.own.on_congestion_event(now, sent, is_persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.own.on_mtu_update(new_mtu);
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
