use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context, Result};
use messages::{Event, Inbox, Order};
use plan::Plan;
use units::{Duration, Time};

use crate::plugs::Plugs;
use crate::read_delay;

/// Orders that come while the links are emulated.
///
/// A separate thread reads the orders and computes their effects: the emulating thread only takes them.
pub(crate) struct Control {
    orders: Receiver<Taken>,
    /// It has a byte if there is an order.
    wake: PipeReader,
    applied: Sender<Time>,
}

/// An order as the emulating thread takes it.
pub(crate) enum Taken {
    /// Stop, or whoever gives orders is gone.
    Stop,
    /// A link is another from now on. Answered by [`Control::applied`].
    Change {
        /// Index of the link among the plan's.
        link: u32,
        /// The link as it will be.
        spec: Box<plan::Link>,
        /// Time that an arrival may then wait to be read.
        longest_read_delay: Duration,
    },
}

impl Control {
    /// Start the thread. It writes `changed` to `events` whenever a link was changed.
    pub(crate) fn start(inbox: Inbox<File>, plan: &Plan, events: &File, plugs: Plugs) -> Result<Control> {
        let (wake, waker) = std::io::pipe().context("making a pipe for orders")?;
        let (orders, taken) = channel();
        let (applied, times) = channel();
        let listener = Listener {
            inbox,
            plan: plan.clone(),
            plugs,
            events: events.try_clone().context("sharing the events pipe")?,
            orders,
            waker,
            applied: times,
        };
        std::thread::Builder::new()
            .name("db-orders".into())
            .spawn(move || listener.listen())
            .context("starting the thread that reads orders")?;
        Ok(Control { orders: taken, wake, applied })
    }

    /// Readable where there is an order.
    pub(crate) fn poll_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The orders that have come. Call it once [`Control::poll_fd`] is readable.
    pub(crate) fn take(&mut self) -> Result<Vec<Taken>> {
        // The listener writes a byte after each order; its end closes the pipe.
        if self.wake.read(&mut [0; 64]).context("reading the pipe for orders")? == 0 {
            return Ok(vec![Taken::Stop]);
        }
        Ok(self.orders.try_iter().collect())
    }

    /// The link is another since `at`.
    pub(crate) fn applied(&self, at: Time) {
        // Nobody listens any more: then nobody asks when it was.
        let _ = self.applied.send(at);
    }
}

struct Listener {
    inbox: Inbox<File>,
    plan: Plan,
    plugs: Plugs,
    events: File,
    orders: Sender<Taken>,
    waker: std::io::PipeWriter,
    applied: Receiver<Time>,
}

impl Listener {
    /// Runs until an order says stop, or the other end of the pipe is closed. An unreadable order ends the run, too.
    fn listen(mut self) {
        while !self.inbox.is_closed() {
            let Ok(orders) = self.inbox.receive() else { break };
            for order in orders {
                let done = match order {
                    Order::ChangeLink { link } => self.change(*link),
                    Order::Stop | Order::StopNow => return,
                    Order::Start { .. } | Order::Hear { .. } | Order::ChangeDaemon { .. } => Ok(()),
                };
                if done.is_err() {
                    return;
                }
            }
        }
    }

    /// The supervisor has made sure that the link can be changed to this.
    fn change(&mut self, link: plan::Link) -> Result<()> {
        let index = self.plan.links.iter().position(|known| known.name == link.name).context("a link of the plan")?;
        let mut changed = self.plan.clone();
        changed.change_link(Time::ZERO, link.clone())?;
        let longest_read_delay = read_delay::longest(&changed)?;
        self.plan = changed;
        self.orders.send(Taken::Change { link: index as u32, spec: Box::new(link.clone()), longest_read_delay })?;
        self.waker.write_all(&[0])?;
        let time_ns = self.applied.recv()?.as_nanos();
        // An order is carried out once programs in the hosts see it.
        self.plugs.follow(index, &link)?;
        Event::Changed { time_ns, link: Box::new(link) }.emit(&mut self.events)
    }
}
