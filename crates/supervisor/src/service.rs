use std::ffi::CStr;
use std::fs::File;
use std::os::fd::OwnedFd;

use anyhow::Result;
use messages::{Order, Process};

/// A process of the lab as it is declared. Every service says `ready` once it waits for the start, and `done` once it has
/// written its records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// Its name in events.
    pub process: Process,
    /// Its name in the machine's list of processes.
    pub title: &'static CStr,
    /// Niceness, where privilege allows it.
    pub nice: i32,
    /// The run fails if the service does. If not, the run goes on without it.
    pub needed: bool,
    /// Its records. Cut off they cannot be read, and are taken away where the run goes on without it.
    pub records: &'static [&'static str],
    /// The time of its order to stop.
    pub stop: Stop,
    /// True if the service has the links, and takes orders to change one.
    pub has_links: bool,
    /// True if the service hears the fate of orders.
    pub listens: bool,
}

/// The work of a service: `work(control, events)`. Orders come on `control`, the first is `start`.
pub(crate) type Work<'a> = Box<dyn FnOnce(OwnedFd, &mut File) -> Result<()> + 'a>;

/// The time of a service's order to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Service that ends without an order, and with it the run. An order comes only if the run is to end early.
    EndsTheRun,
    /// Once the other service is as far as this.
    After(Process, Stage),
}

/// The progress of a service towards its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Records are written.
    Done,
    /// Its process is gone, and everything that it had open is closed.
    Gone,
}

impl Service {
    /// True if the service takes this order.
    pub(crate) fn takes(&self, order: &Order) -> bool {
        match order {
            Order::ChangeLink { .. } | Order::Record { .. } | Order::Capture(_) | Order::EndCapture { .. } => {
                self.has_links
            }
            Order::ChangeDaemon { .. } | Order::WriteRoutes(_) => self.process == Process::Routers,
            Order::Hear { .. } => self.listens,
            // Watch gives these to one process, or carries them out itself.
            Order::TakeOver { .. } | Order::Retire | Order::Rewire { .. } | Order::Route { .. } => false,
            Order::Start { .. } | Order::Stop | Order::StopNow => true,
        }
    }
}
