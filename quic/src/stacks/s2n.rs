//! s2n-quic, with the rustls of this program. Its endpoint runs without its event loop, its sockets and tokio.

mod account;
mod driver;

use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::{Bytes, BytesMut};
use quic_lines::Sent;
use s2n_quic::client::{Connect, ConnectionAttempt};
use s2n_quic::connection::{Connection, Error};
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Provider as CongestionController};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream::{ReceiveStream, SendStream};
use s2n_quic::{Client, Server};

use self::account::{Account, Subscriber};
use self::driver::{Driver, Handover};
use super::{NAME, RECEIVE_WINDOW, Stack, tls, version};
use crate::qlog::Qlog;
use crate::stack::{Ecn, Endpoint, State, Transmit};

pub const STACK: Stack = Stack {
    name: "s2n",
    version: version("1.91.0", option_env!("DUMBBELL_QUIC_S2N")),
    algorithms: &["cubic", "bbr2"],
    sender,
    receiver,
};

fn sender(cc: &str, qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    refuse(qlog)?;
    match cc {
        "cubic" => client(Cubic::default()),
        "bbr2" => client(Bbr::default()),
        other => bail!("s2n has no congestion control {other}: it has {}", STACK.algorithms.join(", ")),
    }
}

fn client(cc: impl CongestionController) -> Result<Box<dyn Endpoint>> {
    let (handover, account) = (Handover::default(), Arc::default());
    let client = Client::builder()
        .with_tls(rustls::Client::from(tls::client()?))?
        .with_congestion_controller(cc)?
        .with_limits(limits()?)?
        .with_event(Subscriber(Arc::clone(&account)))?
        .with_io(handover.clone())?
        .start()?;
    Ok(Box::new(S2n::new(handover.driver()?, Role::Client(client, None), account)))
}

fn receiver(qlog: Option<Qlog>) -> Result<Box<dyn Endpoint>> {
    refuse(qlog)?;
    let (handover, account) = (Handover::default(), Arc::default());
    let server = Server::builder()
        .with_tls(rustls::Server::from(tls::server()?))?
        .with_limits(limits()?)?
        .with_event(Subscriber(Arc::clone(&account)))?
        .with_io(handover.clone())?
        .start()?;
    Ok(Box::new(S2n::new(handover.driver()?, Role::Server(server), account)))
}

fn refuse(qlog: Option<Qlog>) -> Result<()> {
    ensure!(qlog.is_none(), "s2n-quic writes no qlog: its events have a form of their own");
    Ok(())
}

/// The stack's defaults, but for the windows.
fn limits() -> Result<Limits> {
    Ok(Limits::new()
        .with_data_window(RECEIVE_WINDOW.into())?
        .with_unidirectional_data_window(RECEIVE_WINDOW.into())?
        .with_max_send_buffer_size(RECEIVE_WINDOW)?)
}

/// The stack's handle of this end. The endpoint ends when its handle does.
enum Role {
    Client(Client, Option<ConnectionAttempt>),
    Server(Server),
}

struct S2n {
    driver: Driver,
    role: Role,
    connection: Option<Connection>,
    sending: Option<SendStream>,
    receiving: Option<ReceiveStream>,
    state: State,
    has_ended: bool,
    is_acknowledged: bool,
    has_everything: bool,
    account: Arc<Account>,
    sent_bytes: u64,
    sent_packets: u64,
}

/// The context of polls. No task is to be woken: the program's loop polls after whatever happens.
fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

impl S2n {
    fn new(driver: Driver, role: Role, account: Arc<Account>) -> S2n {
        S2n {
            driver,
            role,
            connection: None,
            sending: None,
            receiving: None,
            state: State::Handshaking,
            has_ended: false,
            is_acknowledged: false,
            has_everything: false,
            account,
            sent_bytes: 0,
            sent_packets: 0,
        }
    }

    /// Takes over the connection's state.
    fn turn(&mut self) {
        if self.connection.is_none() {
            self.connection = self.connect_or_accept();
            if self.connection.is_some() {
                self.state = State::Open;
            }
        }
        if let Some(connection) = &mut self.connection {
            match &self.role {
                Role::Client(..) if self.sending.is_none() => {
                    if let Poll::Ready(Ok(stream)) = connection.handle().poll_open_send_stream(&mut context()) {
                        self.sending = Some(stream);
                    }
                }
                Role::Server(_) if self.receiving.is_none() => {
                    if let Poll::Ready(Ok(stream)) = connection.poll_accept_receive_stream(&mut context()) {
                        self.receiving = stream;
                    }
                }
                _ => {}
            }
        }
        if let Some(stream) = self.sending.as_mut().filter(|_| self.has_ended) {
            self.is_acknowledged |= matches!(stream.poll_flush(&mut context()), Poll::Ready(Ok(())));
        }
        if let Some(error) = self.account.closed() {
            self.state = ended(error);
        }
    }

    fn connect_or_accept(&mut self) -> Option<Connection> {
        match &mut self.role {
            Role::Client(_, attempt) => match std::pin::Pin::new(attempt.as_mut()?).poll(&mut context()) {
                Poll::Ready(connected) => {
                    *attempt = None;
                    connected.map_err(|error| self.state = ended(error)).ok()
                }
                Poll::Pending => None,
            },
            Role::Server(server) => match server.poll_accept(&mut context()) {
                Poll::Ready(accepted) => accepted,
                Poll::Pending => None,
            },
        }
    }
}

/// The state of a connection that has ended.
fn ended(error: Error) -> State {
    match error {
        Error::Closed { .. } | Error::Application { .. } => State::Closed,
        error => State::Failed(error.to_string()),
    }
}

impl Endpoint for S2n {
    fn connect(&mut self, now: Instant, to: SocketAddr) -> Result<()> {
        let Role::Client(client, attempt) = &mut self.role else { bail!("a receiver does not connect") };
        *attempt = Some(client.connect(Connect::new(to).with_server_name(NAME)));
        self.turn();
        self.driver.wake(now);
        Ok(())
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: BytesMut) {
        self.driver.receive(now, from, ecn, datagram);
        self.turn();
    }

    fn transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let (transmit, datagrams) = self.driver.transmit(now, most, buffer)?;
        self.sent_bytes += buffer.len() as u64;
        self.sent_packets += datagrams as u64;
        Some(transmit)
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.driver.timeout()
    }

    fn on_timeout(&mut self, now: Instant) {
        // The endpoint looks at its timers whenever it may send: `transmit` follows.
        self.driver.wake(now);
        self.turn();
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn write(&mut self, data: &'static [u8], most_unsent: Option<u64>) -> Result<usize> {
        let in_flight = self.account.in_flight_bytes();
        let Some(stream) = &mut self.sending else { return Ok(0) };
        match stream.poll_send_ready(&mut context()) {
            Poll::Ready(room) => {
                let room = room.context("writing to the stream")?;
                let unsent = (RECEIVE_WINDOW as u64).saturating_sub(room as u64 + in_flight);
                let most = most_unsent.map_or(u64::MAX, |most| most.saturating_sub(unsent));
                let data = &data[..room.min(data.len()).min(most as usize)];
                if data.is_empty() {
                    return Ok(0);
                }
                stream.send_data(Bytes::from_static(data)).context("writing to the stream")?;
                Ok(data.len())
            }
            Poll::Pending => Ok(0),
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.sending.as_mut().context("there is no stream")?.finish()?;
        self.has_ended = true;
        Ok(())
    }

    fn is_acknowledged(&self) -> bool {
        self.is_acknowledged
    }

    fn read(&mut self) -> u64 {
        let Some(stream) = &mut self.receiving else { return 0 };
        let mut bytes = 0;
        while !self.has_everything {
            match stream.poll_receive(&mut context()) {
                Poll::Ready(Ok(Some(chunk))) => bytes += chunk.len() as u64,
                Poll::Ready(Ok(None)) => self.has_everything = true,
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        bytes
    }

    fn has_everything(&self) -> bool {
        self.has_everything
    }

    fn close(&mut self, now: Instant) {
        if let Some(connection) = &self.connection {
            connection.close(0u8.into());
        }
        self.driver.wake(now);
        self.turn();
    }

    fn account(&mut self) -> Sent {
        let is_known = self.state != State::Handshaking;
        Sent {
            sent_bytes: self.sent_bytes,
            sent_packets: self.sent_packets,
            // Before the handshake is complete the stack gives its initial guess of the RTT.
            ..self.account.sent(is_known)
        }
    }
}
