//! One end of a flow: its stack, and the application that writes or reads the stream.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Result;
use quic_lines::{Line, Order, Received, Sent};

use crate::application::Application;
use crate::stack::{Endpoint, State};

/// Data of the application: zeros, as those of TCP flows.
static PAYLOAD: [u8; 1 << 16] = [0; 1 << 16];

/// The part that an end has in its stream.
enum Role {
    Sender {
        to: SocketAddr,
        application: Application,
        ended: bool,
    },
    /// With the bytes that an order awaits.
    Receiver(Received, Option<u64>),
}

/// An end of a flow.
pub struct End {
    pub endpoint: Box<dyn Endpoint>,
    role: Role,
    was_open: bool,
}

impl End {
    /// The end that connects to an address, and sends.
    pub fn sender(endpoint: Box<dyn Endpoint>, to: SocketAddr) -> End {
        let role = Role::Sender { to, application: Application::default(), ended: false };
        End { endpoint, role, was_open: false }
    }

    /// The end that waits for a connection, and reads.
    pub fn receiver(endpoint: Box<dyn Endpoint>) -> End {
        End { endpoint, role: Role::Receiver(Received::default(), None), was_open: false }
    }

    /// The flow begins.
    ///
    /// # Errors
    /// The stack refuses the address.
    pub fn begin(&mut self, now: Instant) -> Result<()> {
        match self.role {
            Role::Sender { to, .. } => self.endpoint.connect(now, to),
            Role::Receiver(..) => Ok(()),
        }
    }

    /// Obeys an order. Returns true if the flow is over.
    ///
    /// # Errors
    /// The order is for the other end.
    pub fn obey(&mut self, order: Order) -> Result<bool> {
        match (order, &mut self.role) {
            (Order::Stop, _) => return Ok(true),
            (Order::Write(write), Role::Sender { application, .. }) => application.write(write),
            (Order::Pause, Role::Sender { application, .. }) => application.pause(),
            (Order::Await { bytes }, Role::Receiver(_, awaited)) => *awaited = Some(bytes),
            (order, _) => anyhow::bail!("an order for the other end, or one too many: {order:?}"),
        }
        Ok(false)
    }

    /// True once the handshake was complete at this end, and the application knows.
    pub fn was_open(&self) -> bool {
        self.was_open
    }

    /// The time at which the application writes next, if that is before whatever else happens.
    pub fn next_write_ns(&self, now_ns: i64) -> Option<i64> {
        match &self.role {
            Role::Sender { application, .. } if self.was_open => application.next_ns(now_ns),
            _ => None,
        }
    }

    /// Writes or reads as much as the stack lets the application, and tells of it. Returns true if the application has
    /// more to write once the stack has sent some.
    ///
    /// # Errors
    /// The stream takes no data any more, or nobody is to be told.
    pub fn serve_application(&mut self, now_ns: i64, tell: &mut dyn FnMut(&Line) -> Result<()>) -> Result<bool> {
        let mut is_more = false;
        if !self.was_open && *self.endpoint.state() == State::Open {
            self.was_open = true;
            tell(&Line::Connected { time_ns: now_ns })?;
        }
        match &mut self.role {
            Role::Sender { application, ended, .. } => {
                while self.was_open && !*ended {
                    let turn = application.due(now_ns).min(PAYLOAD.len() as u64) as usize;
                    let most_unsent = application.most_unsent();
                    let bytes = if turn == 0 { 0 } else { self.endpoint.write(&PAYLOAD[..turn], most_unsent)? as u64 };
                    application.wrote(bytes);
                    if application.is_over() {
                        self.endpoint.finish()?;
                        *ended = true;
                    }
                    if bytes == 0 {
                        break;
                    }
                    is_more = most_unsent.is_some();
                }
            }
            Role::Receiver(received, awaited) => {
                let bytes = self.endpoint.read();
                if bytes > 0 {
                    received.bytes += bytes;
                    received.first_ns.get_or_insert(now_ns);
                    received.last_ns = Some(now_ns);
                }
                received.complete = self.endpoint.has_everything();
                if awaited.is_some_and(|awaited| received.bytes >= awaited) {
                    *awaited = None;
                    tell(&Line::Arrived { time_ns: now_ns, bytes: received.bytes })?;
                }
            }
        }
        Ok(is_more)
    }

    /// The sender's account; `None` at a receiver.
    pub fn sent(&mut self) -> Option<Sent> {
        let Role::Sender { application, .. } = &self.role else { return None };
        let (written_bytes, complete) = (application.written(), self.endpoint.is_acknowledged());
        Some(Sent { written_bytes, complete, ..self.endpoint.account() })
    }

    /// The receiver's account; at a sender, of nothing.
    pub fn received(&self) -> Received {
        match &self.role {
            Role::Receiver(received, _) => *received,
            Role::Sender { .. } => Received::default(),
        }
    }
}
