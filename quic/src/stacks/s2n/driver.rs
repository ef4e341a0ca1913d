//! The stack's endpoint, driven by the program's loop: datagrams and time are handed in.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Instant;

use anyhow::{Context as _, Result};
use bytes::BytesMut;
use s2n_quic::provider::io::Provider;
use s2n_quic_core::endpoint::Endpoint;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress, datagram};
use s2n_quic_core::io::rx;
use s2n_quic_core::io::tx::{self, Message, PayloadBuffer};
use s2n_quic_core::path::{RemoteAddress, mtu};
use s2n_quic_core::time::Timestamp;

use crate::stack::{Ecn, Transmit};

/// Room for a datagram: no payload of UDP is larger at the stack's largest MTU, 1,500 bytes.
const ROOM: usize = 1500;

/// An endpoint, whatever providers it has.
trait Driven: Send {
    fn receive(&mut self, arrival: &mut Arrival, now: Timestamp);
    fn transmit(&mut self, departures: &mut Departures<'_>, now: Timestamp);
    fn wake(&mut self, now: Timestamp);
    fn timeout(&self) -> Option<Timestamp>;
}

impl<E: Endpoint<PathHandle = RemoteAddress>> Driven for E {
    fn receive(&mut self, arrival: &mut Arrival, now: Timestamp) {
        Endpoint::receive(self, arrival, &now);
    }

    fn transmit(&mut self, departures: &mut Departures<'_>, now: Timestamp) {
        Endpoint::transmit(self, departures, &now);
    }

    fn wake(&mut self, now: Timestamp) {
        // Whether there was something to do, or the endpoint has closed, shows in its connection.
        let _ = self.poll_wakeups(&mut Context::from_waker(Waker::noop()), &now);
    }

    fn timeout(&self) -> Option<Timestamp> {
        Endpoint::timeout(self)
    }
}

/// The stack's provider of IO: takes the endpoint that a builder starts, for a [`Driver`].
#[derive(Clone, Default)]
pub struct Handover(Arc<Mutex<Option<Box<dyn Driven>>>>);

impl Handover {
    /// Returns the driver of the endpoint that was started.
    ///
    /// # Errors
    /// None was.
    pub fn driver(&self) -> Result<Driver> {
        let endpoint = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let endpoint = endpoint.context("s2n-quic has started no endpoint")?;
        Ok(Driver { endpoint, epoch: Instant::now(), held: None })
    }
}

impl Provider for Handover {
    type PathHandle = RemoteAddress;
    type Error = std::convert::Infallible;

    fn start<E: Endpoint<PathHandle = RemoteAddress>>(self, mut endpoint: E) -> Result<SocketAddress, Self::Error> {
        endpoint.set_mtu_config(mtu::Config::default());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(endpoint));
        // The stack gives this address to those who ask the handle, which nobody does.
        Ok(SocketAddress::default())
    }
}

/// An endpoint with its clock.
pub struct Driver {
    endpoint: Box<dyn Driven>,
    /// Instant of the endpoint's time 0.
    epoch: Instant,
    /// A datagram that did not fit into the last batch.
    held: Option<Datagram>,
}

impl Driver {
    fn timestamp(&self, at: Instant) -> Timestamp {
        // SAFETY: this is the endpoint's only source of time; no memory depends on it. The function is marked so that
        // timestamps of different sources are not mixed.
        unsafe { Timestamp::from_duration(at.saturating_duration_since(self.epoch)) }
    }

    /// Gives a datagram to the endpoint.
    pub fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, payload: BytesMut) {
        let path = RemoteAddress(SocketAddress::from(from));
        let header = datagram::Header { path, ecn: ExplicitCongestionNotification::new(ecn) };
        let now = self.timestamp(now);
        self.endpoint.receive(&mut Arrival(Some((header, payload))), now);
    }

    /// Lets the endpoint see what its handles were asked for.
    pub fn wake(&mut self, now: Instant) {
        let now = self.timestamp(now);
        self.endpoint.wake(now);
    }

    /// Appends at most `most` datagrams of one batch to an empty buffer, and returns their number.
    pub fn transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<(Transmit, usize)> {
        self.wake(now);
        let now = self.timestamp(now);
        let mut departures = Departures { buffer, most, count: 0, first: None, is_full: false, held: None };
        if let Some(held) = self.held.take() {
            departures.append(held);
        }
        self.endpoint.transmit(&mut departures, now);
        self.held = departures.held;
        let (count, (path, ecn, bytes)) = (departures.count, departures.first?);
        let segment_bytes = (count > 1).then_some(bytes);
        Some((Transmit { to: path.0.into(), segment_bytes, ecn: ecn as Ecn }, count))
    }

    /// The time at which the endpoint wants [`Self::transmit`] to be called.
    pub fn timeout(&self) -> Option<Instant> {
        // SAFETY: as above; these timestamps are of this driver.
        self.endpoint.timeout().map(|at| self.epoch + unsafe { at.as_duration() })
    }
}

/// A queue of one received datagram.
struct Arrival(Option<(datagram::Header<RemoteAddress>, BytesMut)>);

impl rx::Queue for Arrival {
    type Handle = RemoteAddress;

    fn for_each<F: FnMut(datagram::Header<RemoteAddress>, &mut [u8])>(&mut self, mut on_packet: F) {
        if let Some((header, mut payload)) = self.0.take() {
            on_packet(header, &mut payload);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

struct Datagram {
    path: RemoteAddress,
    ecn: ExplicitCongestionNotification,
    payload: Vec<u8>,
}

/// A batch: datagrams to one address with one codepoint, of one length but the last.
struct Departures<'a> {
    buffer: &'a mut Vec<u8>,
    most: usize,
    count: usize,
    /// Address, codepoint and length of the first.
    first: Option<(RemoteAddress, ExplicitCongestionNotification, usize)>,
    /// True after a datagram that is the batch's last.
    is_full: bool,
    /// A datagram of the next batch.
    held: Option<Datagram>,
}

impl Departures<'_> {
    fn append(&mut self, Datagram { path, ecn, payload }: Datagram) {
        self.buffer.extend_from_slice(&payload);
        let start = self.buffer.len() - payload.len();
        self.close(path, ecn, start);
    }

    /// Takes the datagram that the buffer has from `start` on into the batch, or holds it back.
    fn close(&mut self, path: RemoteAddress, ecn: ExplicitCongestionNotification, start: usize) {
        let bytes = self.buffer.len() - start;
        let (own_path, own_ecn, first) = *self.first.get_or_insert((path, ecn, bytes));
        if (own_path, own_ecn) == (path, ecn) && bytes <= first {
            self.count += 1;
            self.is_full = bytes < first || self.count >= self.most;
        } else {
            self.held = Some(Datagram { path, ecn, payload: self.buffer.split_off(start) });
        }
    }
}

impl tx::Queue for Departures<'_> {
    type Handle = RemoteAddress;

    const SUPPORTS_ECN: bool = true;

    fn push<M: Message<Handle = RemoteAddress>>(&mut self, mut message: M) -> Result<tx::Outcome, tx::Error> {
        if self.capacity() == 0 {
            return Err(tx::Error::AtCapacity);
        }
        let (path, ecn) = (*message.path_handle(), message.ecn());
        let start = self.buffer.len();
        self.buffer.resize(start + ROOM, 0);
        let written = message.write_payload(PayloadBuffer::new(&mut self.buffer[start..]), 0);
        self.buffer.truncate(start + written.unwrap_or(0));
        let len = written?;
        if len == 0 {
            return Err(tx::Error::EmptyPayload);
        }
        let index = self.count;
        self.close(path, ecn, start);
        Ok(tx::Outcome { len, index })
    }

    fn capacity(&self) -> usize {
        if self.is_full || self.held.is_some() { 0 } else { self.most - self.count }
    }
}
