use std::io::Read;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, Failure};

/// A line from the command to a run, or from the run's first process to its services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub enum Order {
    /// Time begins: services only.
    #[schemars(skip)]
    Start {
        /// CLOCK_MONOTONIC of time 0.
        origin_ns: i64,
    },
    /// Links of a network that was changed take over from those before, at a time between two frames: services only.
    #[schemars(skip)]
    TakeOver {
        /// CLOCK_MONOTONIC of the lab's time 0.
        origin_ns: i64,
        /// CLOCK_REALTIME of the kernel's stamp on the last frame of those before.
        last_stamp_ns: i64,
    },
    /// Other links will take over: frames that come from now on are theirs, and those inside arrive: services only.
    #[schemars(skip)]
    Retire,
    /// The network of a lab is another from now on: services only.
    #[schemars(skip)]
    Rewire {
        /// The file in the lab's directory with the plan of the network as it will be, its links as they are now.
        file: String,
    },
    /// The routers with daemons of a lab are these from now on; those that are new have been sent before: services only.
    #[schemars(skip)]
    Route {
        /// Nodes of the plan.
        routers: Vec<plan::Node>,
    },
    /// An event of the run, for services that listen: services only.
    #[schemars(skip)]
    Hear {
        /// The event.
        event: Box<Event>,
    },
    /// Stop early, and write down what was measured.
    Stop,
    /// End at once; records are cut short.
    StopNow,
    /// A link is another from now on.
    ChangeLink {
        /// The link as it is from then on; its `name` says which.
        link: Box<plan::Link>,
    },
    /// A routing daemon is killed or started now.
    ChangeDaemon {
        /// The router's name.
        router: String,
        /// The daemon, such as `ospfd`.
        daemon: String,
        /// True to start the daemon, false to kill it.
        up: bool,
    },
    /// Records of a lab that stays begin now, or end: services only.
    #[schemars(skip)]
    Record {
        /// Recording from now on; `None`: nothing is recorded.
        recording: Option<Recording>,
    },
    /// The changes of routes so far are written down, for the records of a lab: services only.
    #[schemars(skip)]
    WriteRoutes(RoutesWanted),
    /// The frames of some links of a lab are captured from now on: services only.
    #[schemars(skip)]
    Capture(Capturing),
    /// Such a capture ends, and is written: services only.
    #[schemars(skip)]
    EndCapture {
        /// The directory in which it is.
        directory: String,
    },
}

/// A capture of links of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capturing {
    /// The directory that gets `capture.pcapng`, and has no other capture. It is no path below `/run`.
    pub directory: String,
    /// The names of the links.
    pub links: Vec<String>,
    /// True if `capture.pcapng` is a pipe, which gets each frame once its link is done with it. Frames for which the pipe has no room are
    /// left out and counted.
    #[serde(default)]
    pub live: bool,
}

/// The changes of routes that belong to records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutesWanted {
    /// The directory of the records, which gets `routes.parquet`.
    pub directory: String,
    /// When the records began, since the lab's origin: time 0 of the table. What came before has negative times.
    pub begin_ns: i64,
    /// How long they were: later changes are no part of them.
    pub duration_ns: i64,
}

/// Records of a lab that stays, from an order to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The directory that gets the files of a run. It is there, and no path below `/run`, of which a lab has its own.
    pub directory: String,
    /// Spacing of rows of links and sockets.
    pub sample_interval_ns: i64,
    /// A row per packet and link is written.
    pub packets: bool,
}

impl Order {
    /// The order as one line.
    pub fn line(&self) -> Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self).context("spelling an order")?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Orders that come down a pipe, a line each.
pub struct Inbox<R> {
    pipe: R,
    partial: Vec<u8>,
    closed: bool,
}

impl<R: Read> Inbox<R> {
    /// An inbox in which nothing has arrived yet.
    pub fn new(pipe: R) -> Inbox<R> {
        Inbox { pipe, partial: Vec::new(), closed: false }
    }

    /// The pipe. Wait until it is readable, then call [`receive`](Inbox::receive).
    pub fn pipe(&self) -> &R {
        &self.pipe
    }

    /// The other end of the pipe is closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Reads once, and returns the orders that are complete by then. Blocks only if the pipe has nothing.
    ///
    /// # Errors
    /// A line is no order, or the pipe cannot be read.
    pub fn receive(&mut self) -> Result<Vec<Order>> {
        self.receive_each()?.into_iter().collect()
    }

    /// Like [`receive`](Inbox::receive), but a line that is no order does not hide the others.
    ///
    /// # Errors
    /// The pipe cannot be read.
    pub fn receive_each(&mut self) -> Result<Vec<Result<Order>>> {
        self.read(&mut [0; 4096])
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<Vec<Result<Order>>> {
        match self.pipe.read(buffer) {
            Ok(0) => self.closed = true,
            Ok(n) => self.partial.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("reading orders"),
        }
        let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else { return Ok(Vec::new()) };
        let lines: Vec<u8> = self.partial.drain(..=end).collect();
        Ok(lines[..end].split(|&byte| byte == b'\n').map(parse).collect())
    }

    /// Waits for the run's origin, CLOCK_MONOTONIC in nanoseconds. It takes no byte of what follows: whoever waits for the
    /// pipe to be readable still hears of the next order.
    ///
    /// # Errors
    /// The run is stopped before it begins.
    pub fn wait_for_start(&mut self) -> Result<i64> {
        self.wait_for_turn().map(|(origin_ns, _)| origin_ns)
    }

    /// The same of links, which may take over from others: then with the stamp of the last frame of those,
    /// CLOCK_REALTIME in nanoseconds.
    ///
    /// # Errors
    /// The run is stopped before it begins.
    pub fn wait_for_turn(&mut self) -> Result<(i64, Option<i64>)> {
        while !self.closed {
            match self.read(&mut [0])?.pop().transpose()? {
                None => {}
                Some(Order::Start { origin_ns }) => return Ok((origin_ns, None)),
                Some(Order::TakeOver { origin_ns, last_stamp_ns }) => return Ok((origin_ns, Some(last_stamp_ns))),
                Some(_) => break,
            }
        }
        Err(Failure::new("waiting for the start", "the run was stopped before it began").into())
    }
}

fn parse(line: &[u8]) -> Result<Order> {
    serde_json::from_slice(line).with_context(|| format!("no order: {}", String::from_utf8_lossy(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_survive_the_wire_however_the_pipe_cuts_them() {
        let link = Box::new(plan::Link::transparent("bottleneck", "a", "b"));
        let daemon = Order::ChangeDaemon { router: "r1".into(), daemon: "bgpd".into(), up: false };
        let orders = [Order::Start { origin_ns: -5 }, Order::ChangeLink { link }, daemon, Order::Stop, Order::StopNow];
        let bytes: Vec<u8> = orders.iter().flat_map(|order| order.line().unwrap()).collect();
        for step in [1, 7, bytes.len()] {
            let mut found = Vec::new();
            let mut inbox = Inbox::new(Slowly(&bytes, step));
            while !inbox.is_closed() {
                found.extend(inbox.receive().unwrap());
            }
            assert_eq!(found, orders);
        }
    }

    #[test]
    fn an_order_is_a_line_that_a_person_can_read() {
        assert_eq!(Order::StopNow.line().unwrap(), b"{\"order\":\"stop-now\"}\n");
    }

    #[test]
    fn a_line_that_is_no_order_is_an_error() {
        let error = Inbox::new(&b"{\"order\":\"dance\"}\n"[..]).receive().unwrap_err();
        assert!(format!("{error:#}").contains("no order: {\"order\":\"dance\"}"), "{error:#}");
    }

    #[test]
    fn a_run_that_is_stopped_before_its_start_never_begins() {
        for told in [&b"{\"order\":\"stop\"}\n"[..], b""] {
            assert!(Inbox::new(told).wait_for_start().is_err());
        }
        assert_eq!(Inbox::new(&b"{\"order\":\"start\",\"origin_ns\":7}\n"[..]).wait_for_start().unwrap(), 7);
    }

    #[test]
    fn an_order_right_behind_the_start_is_not_lost() {
        let bytes = b"{\"order\":\"start\",\"origin_ns\":7}\n{\"order\":\"stop\"}\n";
        let mut inbox = Inbox::new(&bytes[..]);
        assert_eq!(inbox.wait_for_start().unwrap(), 7);
        assert!(!inbox.pipe().is_empty(), "the pipe is readable");
        assert_eq!(inbox.receive().unwrap(), [Order::Stop]);
    }

    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let step = self.1.min(buffer.len());
            self.0.read(&mut buffer[..step])
        }
    }
}
