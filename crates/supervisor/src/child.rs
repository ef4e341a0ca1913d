use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};

use anyhow::{Context, Result};
use messages::{Event, Failure, Order};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe2};

use crate::service::{Service, Work};

/// The process of a service, as init sees it.
pub(crate) struct Child {
    pub service: Service,
    pid: Pid,
    /// The pipe for its orders; `None` once it has the order to stop.
    control: Option<File>,
    events: File,
    partial: Vec<u8>,
    pub ready: bool,
    /// Its last event said that everything is written.
    pub done: bool,
    /// Failure, if the child has failed.
    pub failed: Option<Failure>,
    /// Its end of the events pipe is closed: it is gone.
    pub gone: bool,
}

impl Child {
    /// Start a service, with the niceness that it should have if privilege allows. `siblings` are all that were started
    /// before it.
    pub(crate) fn start(service: Service, work: Work<'_>, siblings: &[Child]) -> Result<Child> {
        let process = service.process;
        let (control_read, control_write) = pipe2(OFlag::O_CLOEXEC).context("making a control pipe")?;
        let (events_read, events_write) = pipe2(OFlag::O_CLOEXEC).context("making an events pipe")?;
        // SAFETY: init has one thread; the child runs only our own code until it exits.
        match unsafe { fork() }.with_context(|| format!("starting the {process:?} process"))? {
            ForkResult::Child => {
                drop((control_write, events_read));
                // Copies of our pipes would keep siblings from noticing that init has closed its ends. The process ends
                // without dropping anything.
                for control in siblings.iter().filter_map(|sibling| sibling.control.as_ref()) {
                    // SAFETY: a descriptor of this process that nobody uses from here on.
                    unsafe { libc::close(control.as_raw_fd()) };
                }
                // SAFETY: a C string for the process's name.
                unsafe { libc::prctl(libc::PR_SET_NAME, service.title.as_ptr()) };
                prefer(service.nice);
                let mut events = File::from(events_write);
                let code = match work(control_read, &mut events) {
                    Ok(()) => 0,
                    Err(error) => {
                        let _ = Event::failed(process, &error).emit(&mut events);
                        1
                    }
                };
                // SAFETY: ends the process without running what the interpreter registered in its parent.
                unsafe { libc::_exit(code) }
            }
            ForkResult::Parent { child } => {
                fcntl(&events_read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
                Ok(Child {
                    service,
                    pid: child,
                    control: Some(File::from(control_write)),
                    events: File::from(events_read),
                    partial: Vec::new(),
                    ready: false,
                    done: false,
                    failed: None,
                    gone: false,
                })
            }
        }
    }

    /// The source of its events; negative, so that poll ignores it, once it is gone.
    pub(crate) fn poll_fd(&self) -> RawFd {
        if self.gone { -1 } else { self.events.as_raw_fd() }
    }

    /// Give it an order. A child that has the order to stop gets no other order.
    pub(crate) fn tell(&mut self, order: &Order) -> Result<()> {
        let Some(control) = &mut self.control else { return Ok(()) };
        control.write_all(&order.line()?).with_context(|| format!("ordering the {:?} process", self.service.process))
    }

    /// Tell it to stop and to write down what it has.
    pub(crate) fn stop(&mut self) {
        // Its end may be why the others are to stop.
        let _ = self.tell(&Order::Stop);
        self.control = None;
    }

    /// Read what it says; whole lines only.
    pub(crate) fn read_events(&mut self) -> Result<Vec<Event>> {
        let mut buffer = [0; 65536];
        loop {
            match self.events.read(&mut buffer) {
                Ok(0) => {
                    self.gone = true;
                    break;
                }
                Ok(n) => self.partial.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("reading events"),
            }
        }
        let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else { return Ok(Vec::new()) };
        let lines: Vec<u8> = self.partial.drain(..=end).collect();
        let events: Vec<Event> = serde_json::Deserializer::from_slice(&lines)
            .into_iter()
            .collect::<Result<_, _>>()
            .with_context(|| format!("the {:?} process said something unknown", self.service.process))?;
        for event in &events {
            match event {
                Event::Ready { .. } => self.ready = true,
                Event::Done { .. } => self.done = true,
                Event::Failed { failure, .. } => self.failed = Some(failure.clone()),
                _ => {}
            }
        }
        Ok(events)
    }

    /// Once it is gone: why it ended before it was done, if it hasn't said so itself.
    pub(crate) fn silent_end(&mut self) -> Result<Option<Failure>> {
        let status = waitpid(self.pid, Some(WaitPidFlag::empty())).context("waiting for a process of the run")?;
        if self.done || self.failed.is_some() {
            return Ok(None);
        }
        let why = match status {
            WaitStatus::Signaled(_, signal, _) => format!("killed by {signal}"),
            WaitStatus::Exited(_, code) => format!("exit code {code}"),
            other => format!("{other:?}"),
        };
        let what = format!("the {} process ended in mid-run", format!("{:?}", self.service.process).to_lowercase());
        let failure = Failure::new(what, why).hint("what was measured until then is kept; run it again");
        self.failed = Some(failure.clone());
        Ok(Some(failure))
    }
}

/// Put the calling process into a new scheduling group, of the given niceness.
///
/// With autogroups (sched(7)) a niceness counts only among the processes of one session; between sessions the niceness
/// of the groups counts. Negative ones need privilege; without it the process keeps an equal share for itself.
fn prefer(nice: i32) {
    let _ = nix::unistd::setsid();
    let _ = std::fs::write("/proc/self/autogroup", nice.to_string());
    // SAFETY: plain system call on the calling process.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) };
}
