use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context, Result, anyhow, ensure};
use messages::{Capturing, Event, Failure, Inbox, Order, Recording};
use plan::{Plan, Record};
use records::frames::Frames;
use units::{Duration, Time};

use crate::carrier::{CHUNKS, Tables, tables};
use crate::classify::MetFlows;
use crate::plugs::Plugs;
use crate::read_delay;
use crate::report::EmulatorReport;

/// A capture of a lab's links keeps whole frames: as many bytes as any has.
const WHOLE: usize = 1 << 18;

/// Orders that come while the links are emulated.
///
/// A separate thread reads the orders and computes their effects: the emulating thread only takes them.
pub(crate) struct Control {
    orders: Receiver<Taken>,
    /// Pipe that has a byte if there is an order.
    wake: PipeReader,
    done: Sender<Done>,
}

/// An order was carried out.
pub(crate) enum Done {
    /// A link is another, since this time.
    Changed(Time),
    /// Other links take the frames that come after this stamp.
    Retired(i64),
    /// Records have begun, at this time.
    Began(Result<Time>),
    /// Records have ended, at this time of theirs.
    Ended(Result<Box<Ended>>),
    /// A capture has begun; or it has ended, and here it is.
    Captured(Result<Option<Box<Frames>>>),
}

/// Records that have ended.
pub(crate) struct Ended {
    pub at: Time,
    pub tables: Tables,
    pub report: EmulatorReport,
}

/// Records that are to begin.
pub(crate) struct Begin {
    /// The plan with the links as they are.
    pub plan: Plan,
    pub tables: Tables,
    pub found: MetFlows,
}

/// An order as the emulating thread takes it.
pub(crate) enum Taken {
    /// Stop, or whoever gives orders is gone.
    Stop,
    /// Other links take over. Answered by [`Done::Retired`].
    Retire,
    /// Records begin now. Answered by [`Done::Began`].
    Begin(Box<Begin>),
    /// Records end now; their directory. Answered by [`Done::Ended`].
    End(PathBuf),
    /// Frames of links are captured from now on, in this directory. Answered by [`Done::Captured`].
    Capture(PathBuf, Box<Frames>),
    /// The capture in this directory ends. Answered by [`Done::Captured`].
    EndCapture(PathBuf),
    /// A link is another from now on. Answered by [`Done::Changed`].
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
        let (done, answers) = channel();
        let listener = Listener {
            inbox,
            plan: plan.clone(),
            plugs,
            events: events.try_clone().context("sharing the events pipe")?,
            orders,
            waker,
            done: answers,
            directory: None,
        };
        std::thread::Builder::new()
            .name("db-orders".into())
            .spawn(move || listener.listen())
            .context("starting the thread that reads orders")?;
        Ok(Control { orders: taken, wake, done })
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

    /// An order was carried out.
    pub(crate) fn done(&self, done: Done) {
        // Nobody listens any more: then nobody asks when it was.
        let _ = self.done.send(done);
    }
}

struct Listener {
    inbox: Inbox<File>,
    plan: Plan,
    plugs: Plugs,
    events: File,
    orders: Sender<Taken>,
    waker: std::io::PipeWriter,
    done: Receiver<Done>,
    /// Where records are written now.
    directory: Option<PathBuf>,
}

impl Listener {
    /// Runs until an order says stop, or the other end of the pipe is closed. An unreadable order ends the run, too.
    fn listen(mut self) {
        while !self.inbox.is_closed() {
            let Ok(orders) = self.inbox.receive() else { break };
            for order in orders {
                let done = match order {
                    Order::ChangeLink { link } => self.change(*link),
                    Order::Record { recording } => self.record(recording),
                    Order::Stop | Order::StopNow => return,
                    Order::Retire => self.retire(),
                    Order::Start { .. } | Order::Hear { .. } | Order::ChangeDaemon { .. } | Order::WriteRoutes(_) => {
                        Ok(())
                    }
                    Order::TakeOver { .. } | Order::Rewire { .. } | Order::Route { .. } => Ok(()),
                    Order::Capture(wanted) => self.answer_capture(|listener| listener.capture(&wanted)),
                    Order::EndCapture { directory } => self.answer_capture(|listener| listener.end_capture(&directory)),
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
        let taken = Taken::Change { link: index as u32, spec: Box::new(link.clone()), longest_read_delay };
        let Done::Changed(at) = self.ask(taken)? else { return Ok(()) };
        let time_ns = at.as_nanos();
        // An order is carried out once programs in the hosts see it.
        self.plugs.follow(index, &link)?;
        Event::Changed { time_ns, link: Box::new(link) }.emit(&mut self.events)
    }

    /// Hand the frames that come from now on to other links.
    fn retire(&mut self) -> Result<()> {
        let Done::Retired(last_stamp_ns) = self.ask(Taken::Retire)? else { return Ok(()) };
        Event::Retired { last_stamp_ns }.emit(&mut self.events)
    }

    /// Have the emulating thread carry out an order.
    fn ask(&mut self, order: Taken) -> Result<Done> {
        self.orders.send(order).map_err(|_| anyhow!("nobody takes orders any more"))?;
        self.waker.write_all(&[0])?;
        Ok(self.done.recv()?)
    }

    /// Begin to record, or end it; say so, or why not.
    fn record(&mut self, recording: Option<Recording>) -> Result<()> {
        let recorded = match recording {
            Some(recording) => self.begin(&recording),
            None => self.end(),
        };
        let event = match recorded {
            Ok(at) => Event::Recorded { time_ns: at.as_nanos() },
            Err(error) => Event::Refused { failure: Failure::of(&error) },
        };
        event.emit(&mut self.events)
    }

    fn begin(&mut self, recording: &Recording) -> Result<Time> {
        if self.directory.is_some() {
            let failure = Failure::new("the lab cannot be recorded", "it is being recorded already");
            return Err(failure.hint("end that first: record stop").into());
        }
        let dir = PathBuf::from(&recording.directory);
        let (sample_interval_ns, packets) = (Duration(recording.sample_interval_ns), recording.packets);
        let plan =
            Plan { record: Record { sample_interval_ns, packets, ..self.plan.record.clone() }, ..self.plan.clone() };
        let tables = tables(&plan, records::found::names(&plan), &dir, CHUNKS)?;
        let found = MetFlows::create(&plan, &dir)?;
        let Done::Began(at) = self.ask(Taken::Begin(Box::new(Begin { plan, tables, found })))? else {
            return Err(Failure::new("the lab cannot be recorded", "the emulator answers something else").into());
        };
        self.directory = Some(dir);
        at
    }

    /// Begin a capture, or end it; say so, or why not.
    fn answer_capture(&mut self, work: impl FnOnce(&mut Listener) -> Result<u64>) -> Result<()> {
        let event = match work(self) {
            Ok(frames) => Event::Captured { frames },
            Err(error) => Event::Refused { failure: Failure::of(&error) },
        };
        event.emit(&mut self.events)
    }

    fn capture(&mut self, Capturing { directory, links, live }: &Capturing) -> Result<u64> {
        for name in links {
            ensure!(self.plan.links.iter().any(|link| link.name == *name), "the lab has no link {name}");
        }
        let wanted: Vec<bool> = self.plan.links.iter().map(|link| links.contains(&link.name)).collect();
        let directory = PathBuf::from(directory);
        let frames = if *live {
            Frames::live(&self.plan, &wanted, WHOLE, &directory)?
        } else {
            Frames::of(&self.plan, &wanted, WHOLE, &directory, CHUNKS)?
        };
        let Done::Captured(begun) = self.ask(Taken::Capture(directory, Box::new(frames)))? else {
            return Err(Failure::new("the links cannot be captured", "the emulator answers something else").into());
        };
        begun.map(|_| 0)
    }

    fn end_capture(&mut self, directory: &str) -> Result<u64> {
        let Done::Captured(Ok(Some(frames))) = self.ask(Taken::EndCapture(PathBuf::from(directory)))? else {
            return Err(Failure::new("no capture to end", format!("there is none in {directory}")).into());
        };
        frames.finish()
    }

    fn end(&mut self) -> Result<Time> {
        let Some(dir) = self.directory.take() else {
            return Err(Failure::new("no record to end", "the lab is not being recorded").hint("record start").into());
        };
        let Done::Ended(ended) = self.ask(Taken::End(dir.clone()))? else {
            return Err(Failure::new("the record does not end", "the emulator answers something else").into());
        };
        let Ended { at, tables, report } = *ended?;
        EmulatorReport { writer: tables.finish()?, ..report }.write(&dir)?;
        Ok(at)
    }
}
