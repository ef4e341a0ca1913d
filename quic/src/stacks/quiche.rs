//! quiche, with BoringSSL. Its users hold each datagram back until the time that it gives, as is done here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use bytes::BytesMut;
use quic_lines::Sent;
use quiche::{Config, Connection, ConnectionId, Header, RecvInfo};

use super::certificate::{CERTIFICATE, KEY};
use super::{ALPN, NAME, RECEIVE_WINDOW, Stack, version};
use crate::qlog::Qlog;
use crate::stack::{Ecn, Endpoint, State, Transmit};

pub const STACK: Stack = Stack {
    name: "quiche",
    version: version("0.30.0", option_env!("DUMBBELL_QUIC_QUICHE")),
    algorithms: &["cubic", "reno", "bbr2"],
    sender,
    receiver,
};

/// UDP payload of a full datagram at an MTU of 1,500 bytes, with IPv6: the most that quinn tries, too.
const LARGEST: usize = 1452;
/// The first unidirectional stream of a client (RFC 9000, section 2.1).
const STREAM: u64 = 2;

fn sender(cc: &str, qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    if !STACK.algorithms.contains(&cc) {
        bail!("quiche has no congestion control {cc}: it has {}", STACK.algorithms.join(", "));
    }
    let mut config = config(tls()?)?;
    config.set_cc_algorithm_name(cc)?;
    Ok(Box::new(Quiche::new(config, qlog, true)))
}

fn receiver(qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    let mut tls = tls()?;
    tls.set_certificate(X509::from_der(&CERTIFICATE)?.as_ref())?;
    tls.set_private_key(PKey::private_key_from_der(&KEY)?.as_ref())?;
    Ok(Box::new(Quiche::new(config(tls)?, qlog, false)))
}

/// Prepares BoringSSL. It mixes random numbers of the CPU with those of the kernel: in virtual time the kernel's are the same
/// each time, the CPU's are not.
///
/// # Safety
/// The program has one thread.
pub unsafe fn prepare() {
    const WITHOUT_RDRAND: &str = "~0x4000000000000000";
    // SAFETY: nobody else reads the environment. BoringSSL reads the variable when it is called first.
    unsafe { std::env::set_var("OPENSSL_ia32cap", WITHOUT_RDRAND) };
}

/// Lets BoringSSL try its source of random bytes, which takes some the first time: none of a simulation's, as other runs
/// of the process have another first time.
pub fn try_randomness() {
    let trial = || boring::rand::rand_bytes(&mut [0]);
    // A source that fails is an error of the first connection.
    let _ = std::thread::spawn(trial).join();
}

fn tls() -> Result<SslContextBuilder> {
    Ok(SslContextBuilder::new(SslMethod::tls())?)
}

/// The stack's defaults, but for the receive window and MTU discovery.
fn config(tls: SslContextBuilder) -> Result<Config> {
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    config.set_application_protos(&[ALPN])?;
    config.set_initial_max_streams_uni(1);
    config.set_initial_max_data(RECEIVE_WINDOW.into());
    config.set_initial_max_stream_data_uni(RECEIVE_WINDOW.into());
    config.set_max_connection_window(RECEIVE_WINDOW.into());
    config.set_max_stream_window(RECEIVE_WINDOW.into());
    config.set_max_send_udp_payload_size(LARGEST);
    config.discover_pmtu(true);
    Ok(config)
}

struct Quiche {
    config: Config,
    /// For the connection.
    qlog: Option<Qlog>,
    is_sender: bool,
    connection: Option<Connection>,
    state: State,
    has_ended: bool,
    has_everything: bool,
    /// A datagram that must not be sent before a time.
    held: Option<(Vec<u8>, SocketAddr, Instant)>,
    sent_bytes: u64,
    sent_packets: u64,
}

impl Quiche {
    fn new(config: Config, qlog: Option<Qlog>, is_sender: bool) -> Quiche {
        Quiche {
            config,
            qlog,
            is_sender,
            connection: None,
            state: State::Handshaking,
            has_ended: false,
            has_everything: false,
            held: None,
            sent_bytes: 0,
            sent_packets: 0,
        }
    }

    /// Takes a new connection.
    fn begin(&mut self, mut connection: Connection) {
        if let Some(qlog) = self.qlog.take() {
            connection.set_qlog(qlog, NAME.to_owned(), String::new());
        }
        self.connection = Some(connection);
    }

    /// Takes over the connection's state.
    fn turn(&mut self) {
        let Some(connection) = &self.connection else { return };
        if self.state == State::Handshaking && connection.is_established() {
            self.state = match connection.peer_cert() {
                Some(certificate) if self.is_sender && certificate != CERTIFICATE => {
                    State::Failed("it is not the certificate of a dumbbell-quic".to_owned())
                }
                _ => State::Open,
            };
        }
        let error = connection.peer_error().or(connection.local_error());
        if connection.is_timed_out() {
            self.state = State::Failed("timed out".to_owned());
        } else if let Some(error) = error.filter(|error| !error.is_app) {
            let reason = String::from_utf8_lossy(&error.reason);
            self.state = State::Failed(format!("error {:#x} of the connection: {reason}", error.error_code));
        } else if error.is_some() || connection.is_closed() {
            self.state = State::Closed;
        }
    }

    /// The connection of a first datagram.
    fn accept(&mut self, from: SocketAddr, datagram: &mut [u8]) -> Option<Connection> {
        let header = Header::from_slice(datagram, quiche::MAX_CONN_ID_LEN).ok()?;
        if header.ty != quiche::Type::Initial || !quiche::version_is_supported(header.version) {
            return None;
        }
        let id = connection_id().ok()?;
        quiche::accept(&ConnectionId::from_ref(&id), None, local(from), from, &mut self.config).ok()
    }
}

fn connection_id() -> Result<[u8; quiche::MAX_CONN_ID_LEN]> {
    let mut id = [0; quiche::MAX_CONN_ID_LEN];
    boring::rand::rand_bytes(&mut id)?;
    Ok(id)
}

/// The stack tells paths apart by both addresses. An end has one socket, so its own stays the same.
fn local(peer: SocketAddr) -> SocketAddr {
    match peer.ip() {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

impl Endpoint for Quiche {
    fn connect(&mut self, _: Instant, to: SocketAddr) -> Result<()> {
        let id = ConnectionId::from_vec(connection_id()?.to_vec());
        let connection = quiche::connect(Some(NAME), &id, local(to), to, &mut self.config)?;
        self.begin(connection);
        Ok(())
    }

    fn receive(&mut self, _: Instant, from: SocketAddr, _: Ecn, mut datagram: BytesMut) {
        if self.connection.is_none()
            && let Some(connection) = self.accept(from, &mut datagram)
        {
            self.begin(connection);
        }
        let Some(connection) = &mut self.connection else { return };
        // A datagram that the stack cannot use is none; an error of the connection becomes its state.
        let _ = connection.recv(&mut datagram, RecvInfo { from, to: local(from) });
        self.turn();
    }

    fn transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let connection = self.connection.as_mut()?;
        let mut transmit: Option<Transmit> = None;
        let (mut first, mut count) = (0, 0);
        while count < most {
            let start = buffer.len();
            let (to, at) = match self.held.take() {
                Some((datagram, to, at)) => {
                    buffer.extend_from_slice(&datagram);
                    (to, at)
                }
                None => {
                    buffer.resize(start + LARGEST, 0);
                    match connection.send(&mut buffer[start..]) {
                        Ok((bytes, info)) => {
                            buffer.truncate(start + bytes);
                            (info.to, info.at)
                        }
                        Err(_) => {
                            buffer.truncate(start);
                            break;
                        }
                    }
                }
            };
            let bytes = buffer.len() - start;
            // All datagrams of a batch but the last have one length.
            let is_early = at > now && at > Instant::now();
            if is_early || (count > 0 && bytes > first) {
                self.held = Some((buffer.split_off(start), to, at));
                break;
            }
            count += 1;
            if count == 1 {
                first = bytes;
                transmit = Some(Transmit { to, segment_bytes: None, ecn: 0 });
            }
            if bytes < first {
                break;
            }
        }
        self.sent_bytes += buffer.len() as u64;
        self.sent_packets += count as u64;
        transmit.map(|one| Transmit { segment_bytes: (count > 1).then_some(first), ..one })
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        let held = self.held.as_ref().map(|(_, _, at)| *at);
        held.into_iter().chain(self.connection.as_ref()?.timeout_instant()).min()
    }

    fn on_timeout(&mut self, _: Instant) {
        if let Some(connection) = &mut self.connection {
            connection.on_timeout();
        }
        self.turn();
    }

    fn state(&self) -> &State {
        &self.state
    }

    /// The stack takes what its window has room for, and does not tell how much of that is unsent: there is no limit.
    fn write(&mut self, data: &'static [u8], _: Option<u64>) -> Result<usize> {
        let connection = self.connection.as_mut().context("there is no connection")?;
        match connection.stream_send(STREAM, data, false) {
            Ok(bytes) => Ok(bytes),
            Err(quiche::Error::Done) => Ok(0),
            Err(error) => bail!("writing to the stream: {error}"),
        }
    }

    fn finish(&mut self) -> Result<()> {
        let connection = self.connection.as_mut().context("there is no connection")?;
        connection.stream_send(STREAM, &[], true)?;
        self.has_ended = true;
        Ok(())
    }

    fn is_acknowledged(&self) -> bool {
        // The stack forgets a stream of which everything is acknowledged, and says of such that they have finished.
        self.has_ended && self.connection.as_ref().is_some_and(|connection| connection.stream_finished(STREAM))
    }

    fn read(&mut self) -> u64 {
        let Some(connection) = &mut self.connection else { return 0 };
        let mut bytes = 0;
        while let Ok((read, is_end)) = connection.stream_discard(STREAM, usize::MAX) {
            bytes += read as u64;
            self.has_everything |= is_end;
            if read == 0 {
                break;
            }
        }
        bytes
    }

    fn has_everything(&self) -> bool {
        self.has_everything
    }

    fn close(&mut self, _: Instant) {
        if let Some(connection) = &mut self.connection {
            // It may be closed already, which is what is wanted.
            let _ = connection.close(true, 0, b"");
        }
        self.turn();
    }

    fn account(&mut self) -> Sent {
        let Some((connection, path)) = self.connection.as_ref().and_then(|one| Some((one, one.path_stats().next()?)))
        else {
            return Sent::default();
        };
        let stats = connection.stats();
        let known = path.min_rtt.map(|least| (path.rtt, path.rttvar, least));
        Sent {
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            lost_packets: path.lost as u64,
            datagram_bytes: path.pmtu as u32,
            cwnd_bytes: path.cwnd as u64,
            srtt_us: known.map(|(rtt, ..)| rtt.as_micros() as u32),
            rttvar_us: known.map(|(_, variation, _)| variation.as_micros() as u32),
            min_rtt_us: known.map(|(.., least)| least.as_micros() as u32),
            // The stack does not tell. This count has packets that only acknowledge, too, of which a sender has few.
            bytes_in_flight: Some(stats.sent_bytes.saturating_sub(stats.acked_bytes + stats.lost_bytes)),
            bandwidth_bps: path.max_bandwidth.map(|bytes| bytes * 8),
            ..Sent::default()
        }
    }
}
