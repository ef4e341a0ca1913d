use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, bail};
use messages::{Event, Failure, Inbox, PUBLICATION, Process};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use plan::Plan;
use serde::de::DeserializeOwned;

use crate::control::{Control, Done, Taken};
use crate::hosted::{Counted, Request};
use crate::plugs::Plugs;
use crate::{Ends, LiveGauges};

/// The file at which a kernel with our links in it takes orders: `kernel/include/dumbbell/process.h`.
const LINKS: &str = "/proc/dumbbell/links";
/// Room for the answer to a request.
const ANSWER: usize = 1 << 20;

nix::ioctl_write_int_bad!(attach, nix::request_code_none!(b'd', 1));
nix::ioctl_readwrite!(order, b'd', 2, Call);

/// `struct dumbbell_order`.
#[repr(C)]
pub struct Call {
    order: u64,
    bytes: u64,
    answer: u64,
    room: u64,
    answered: u64,
    failed: u64,
}

/// A kernel that carries packets by the links in its own process ([`crate::hosted`]). This process only passes on orders.
pub(crate) struct Device(File);

/// No lab stays in such a kernel.
fn only_in_real_time() -> anyhow::Error {
    Failure::new("records cannot begin or end by an order", "a user-mode kernel carries the links").into()
}

impl Device {
    /// The running kernel's, if it has links.
    pub(crate) fn find() -> Result<Option<Device>> {
        match File::options().read(true).write(true).open(Path::new(LINKS)) {
            Ok(file) => Ok(Some(Device(file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context(LINKS),
        }
    }

    /// The same as [`crate::run`], except for the last event.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        ends: Ends<'_>,
        control: OwnedFd,
        events: &File,
        live: Option<LiveGauges<'_>>,
    ) -> Result<()> {
        let Ends { ports, hops } = ends;
        for port in ports {
            // SAFETY: an index, not a pointer.
            unsafe { attach(self.0.as_raw_fd(), port.ifindex) }
                .with_context(|| format!("attaching the interface of host {}", port.host))?;
        }
        for ifindex in hops.iter().flat_map(|hop| [hop.into, hop.out_of]) {
            // SAFETY: an index, not a pointer.
            unsafe { attach(self.0.as_raw_fd(), ifindex) }.context("attaching the interfaces of the kernel's links")?;
        }
        let plan_and_ports = Request::Open { plan: Box::new(plan.clone()), ports: ports.to_vec(), hops: hops.to_vec() };
        let () = self.ask(&plan_and_ports)?;
        Event::Ready { process: Process::Emulator }.emit(&mut &*events)?;
        let mut inbox = Inbox::new(File::from(control));
        let origin_ns = inbox.wait_for_start()?;
        let () = self.ask(&Request::Start { origin_ns })?;
        let plugs = Plugs::new(plan, ports)?;
        plugs.follow_events(plan, origin_ns)?;
        let mut control = Control::start(inbox, plan, events, plugs)?;
        loop {
            if let Some(live) = live {
                for Counted { link, words } in self.ask::<Vec<Counted>>(&Request::Count)? {
                    live.links[usize::from(link)].publish(words);
                }
            }
            let timeout = if live.is_some() { PollTimeout::try_from(PUBLICATION)? } else { PollTimeout::NONE };
            let mut fds = [PollFd::new(control.poll_fd(), PollFlags::POLLIN)];
            if poll(&mut fds, timeout).context("waiting for orders")? == 0 {
                continue;
            }
            for taken in control.take()? {
                match taken {
                    Taken::Stop => return self.ask(&Request::Finish),
                    Taken::Change { link, spec, .. } => {
                        control.done(Done::Changed(self.ask(&Request::Change { link, spec })?));
                    }
                    // Only a lab's links retire, and no lab is in a virtual machine.
                    Taken::Retire => return Err(only_in_real_time()),
                    Taken::Begin(_) => control.done(Done::Began(Err(only_in_real_time()))),
                    Taken::End(_) => control.done(Done::Ended(Err(only_in_real_time()))),
                    Taken::Capture(..) | Taken::EndCapture(_) => {
                        control.done(Done::Captured(Err(only_in_real_time())));
                    }
                }
            }
        }
    }

    /// Ask the links in the kernel's process. Time stands still until they have answered.
    fn ask<A: DeserializeOwned>(&self, request: &Request) -> Result<A> {
        let text = serde_json::to_vec(request).context("spelling a request")?;
        let mut answer = vec![0; ANSWER];
        let mut call = Call {
            order: text.as_ptr() as u64,
            bytes: text.len() as u64,
            answer: answer.as_mut_ptr() as u64,
            room: ANSWER as u64,
            answered: 0,
            failed: 0,
        };
        // SAFETY: the text and the room for the answer are as long as the call says.
        unsafe { order(self.0.as_raw_fd(), &mut call) }.context("asking the links in the kernel")?;
        let answer = &answer[..call.answered as usize];
        if call.failed != 0 {
            bail!("the links in the kernel: {}", String::from_utf8_lossy(answer));
        }
        serde_json::from_slice(answer).context("reading what the links in the kernel answer")
    }
}
