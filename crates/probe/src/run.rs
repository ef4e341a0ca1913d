use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use messages::{Event, Inbox, Order, Process};
use nix::poll::{PollFd, PollFlags, poll};
use plan::Plan;
use realtime::{Clock, Spans, ThreadTimes};
use records::acks::Ack;
use records::{Names, Writer};
use units::Time;

use crate::raw::RawAck;
use crate::report::ProbeReport;
use crate::senders::{Sender, Senders};
use crate::source::Source;

/// Record the acknowledgements of the plan's senders until `control` says stop.
///
/// `netns` gives the inode number of a host's network namespace. Says on `events` that it is ready, waits on `control` for
/// the start, and runs until an order to stop or the end of `control`. Writes `acks.parquet` and `probe.json` into `dir`.
pub fn run(
    plan: &Plan,
    source: &Source<'_>,
    netns: &dyn Fn(&str) -> Result<u32>,
    dir: &Path,
    control: OwnedFd,
    events: &mut dyn Write,
) -> Result<ProbeReport> {
    let senders = Senders::of(plan, netns)?;
    let table = Writer::create(&dir.join("acks.parquet"), Names::of(plan))?;
    source.watch(senders.all())?;
    Event::Ready { process: Process::Probe }.emit(events)?;

    let mut control = Inbox::new(File::from(control));
    let clock = Clock::new(control.wait_for_start()?);
    let before = ThreadTimes::now();
    let intake = RefCell::new(Intake::new(senders, clock, table));
    let mut reader = source.reader(|record, bytes| intake.borrow_mut().take(record, bytes))?;
    let mut look = || {
        intake.borrow_mut().begin();
        reader.read()?;
        intake.borrow_mut().end();
        anyhow::Ok(())
    };
    while !told_to_stop(&mut control, source)? {
        look()?;
    }
    look()?;
    drop(reader);

    let ThreadTimes { cpu_s, run_delay_s, .. } = ThreadTimes::now().since(before);
    let lost_rows = source.lost()?;
    let intake = intake.into_inner();
    let report = ProbeReport {
        wall_s: clock.now().as_nanos() as f64 / 1e9,
        cpu_s,
        run_delay_s,
        rows: intake.rows,
        lost_rows,
        foreign_rows: intake.foreign,
        unreadable_rows: intake.unreadable,
        ring_bytes: source.ring_bytes(),
        ring_peak_bytes: intake.peak_bytes,
        interval_us: intake.intervals.quantiles(),
        age_us: intake.ages.quantiles(),
        writer: intake.table.finish()?,
        programs: source.cost()?,
    };
    let path = dir.join("probe.json");
    std::fs::write(&path, serde_json::to_vec_pretty(&report)?)
        .with_context(|| format!("writing {}", path.display()))?;
    Event::Done { process: Process::Probe }.emit(events)?;
    Ok(report)
}

/// Waits until the ring is to be looked at again, or less if there is an order on `control`.
fn told_to_stop(control: &mut Inbox<File>, source: &Source<'_>) -> Result<bool> {
    let (timeout, rows) = source.pace();
    let fds = [Some(control.pipe().as_fd()), rows].into_iter().flatten();
    let mut fds: Vec<_> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    let waited = poll(&mut fds, timeout);
    let ordered = fds[0].any() == Some(true);
    match waited {
        Ok(_) if !ordered => Ok(false),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Ok(_) => {
            let orders = control.receive()?;
            Ok(control.is_closed() || orders.iter().any(|order| matches!(order, Order::Stop | Order::StopNow)))
        }
        Err(errno) => Err(errno).context("waiting for the stop"),
    }
}

/// Takes records out of the ring.
struct Intake {
    senders: Senders,
    clock: Clock,
    table: Writer<Ack>,
    rows: u64,
    foreign: u64,
    unreadable: u64,
    /// Time of this read.
    bytes: u64,
    peak_bytes: u64,
    began: Time,
    last: Option<Time>,
    intervals: Spans,
    ages: Spans,
}

impl Intake {
    fn new(senders: Senders, clock: Clock, table: Writer<Ack>) -> Intake {
        Intake {
            senders,
            clock,
            table,
            rows: 0,
            foreign: 0,
            unreadable: 0,
            bytes: 0,
            peak_bytes: 0,
            began: Time::ZERO,
            last: None,
            intervals: Spans::default(),
            ages: Spans::default(),
        }
    }

    fn begin(&mut self) {
        self.bytes = 0;
        self.began = self.clock.now();
        if let Some(last) = self.last.replace(self.began) {
            self.intervals.add(self.began - last);
        }
    }

    /// Takes a record, which took so many `bytes` of the ring.
    fn take(&mut self, record: &[u8], bytes: u64) {
        let first = self.bytes == 0;
        self.bytes += bytes;
        let Some(raw) = RawAck::parse(record) else {
            self.unreadable += 1;
            return;
        };
        if first {
            self.ages.add(self.began - self.clock.at(raw.time_ns as i64));
        }
        let sender = Sender { netns: raw.netns, address: raw.remote(), port: raw.remote_port };
        let Some(flow) = self.senders.flow(&sender) else {
            self.foreign += 1;
            return;
        };
        match raw.row(flow, self.clock) {
            Some(row) => {
                self.rows += 1;
                self.table.push(row);
            }
            None => self.unreadable += 1,
        }
    }

    fn end(&mut self) {
        self.peak_bytes = self.peak_bytes.max(self.bytes);
    }
}
