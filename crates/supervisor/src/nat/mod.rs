//! The way of a lab to the machine's network.
//!
//! ```text
//!   router's nat0 ──frames──> carrier (gate) ──frames──> slirp4netns ──sockets──> the machine's network
//! ```
//!
//! The carrier is a child of the helper, and slirp4netns, a user-mode network stack, is a child of the carrier: both are
//! outside of the lab's namespaces. The carrier keeps from the machine itself what the stack would lead there ([`gate`]). It
//! ends, and the stack with it, once nobody holds the other end of its socket: neither the helper nor init.

mod gate;
mod pump;
mod stack;

use std::fs::OpenOptions;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use messages::Failure;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, recv, send, sendmsg, socketpair};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, dup2_stdin, dup2_stdout, fork};
use plan::{Outside, Plan};

use gate::Gate;
use stack::Stack;

/// The processes between a lab and the machine's network. Dropping it ends them.
pub(crate) struct Nat {
    carrier: Pid,
    hand: Option<OwnedFd>,
}

impl Nat {
    /// Starts them, if the plan has a way to the machine's network. The process must have one thread, and be where that
    /// network is. `dir` is the lab's directory, `held` the same by a descriptor.
    ///
    /// # Errors
    /// slirp4netns is missing, or does not start.
    pub(crate) fn start(plan: &Plan, dir: &Path, held: &Path) -> Result<Option<Nat>> {
        let Some(outside) = plan.outside() else { return Ok(None) };
        let (hand, handed) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        // SAFETY: this process has one thread, so the child may do whatever a process may.
        match unsafe { fork() }.context("starting the carrier of frames")? {
            ForkResult::Parent { child } => {
                drop(handed);
                let nat = Nat { carrier: child, hand: Some(hand) };
                nat.wait()?;
                Ok(Some(nat))
            }
            ForkResult::Child => {
                drop(hand);
                let code = i32::from(carry(&outside, &handed, dir, held).is_err());
                // SAFETY: ends this copy of the caller without running the caller's exit handlers.
                unsafe { libc::_exit(code) }
            }
        }
    }

    /// Waits until the stack is ready.
    fn wait(&self) -> Result<()> {
        let mut answer = vec![0; 1 << 16];
        let hand = self.hand.as_ref().context("the end of a new carrier")?;
        let length = recv(hand.as_raw_fd(), &mut answer, MsgFlags::empty()).context("waiting for the carrier")?;
        let what = "starting the way to the machine's network";
        let ended = || Failure::new(what, "its process ended").hint("start the lab again");
        anyhow::ensure!(length > 0, ended());
        match serde_json::from_slice::<Option<Failure>>(&answer[..length]).context(what)? {
            Some(failure) => Err(failure.into()),
            None => Ok(()),
        }
    }

    /// The end by which the process that builds the lab hands over its interface, and holds the carrier.
    pub(crate) fn take_hand(&mut self) -> Option<OwnedFd> {
        self.hand.take()
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.hand = None;
        let _ = waitpid(self.carrier, None);
    }
}

/// Gives the carrier the end of the lab's interface.
pub(crate) fn hand_over(hand: &OwnedFd, interface: &OwnedFd) -> Result<()> {
    let rights = [interface.as_raw_fd()];
    let message = [IoSlice::new(&[0])];
    sendmsg::<()>(hand.as_raw_fd(), &message, &[ControlMessage::ScmRights(&rights)], MsgFlags::MSG_NOSIGNAL, None)
        .context("opening the way to the machine's network")?;
    Ok(())
}

/// The carrier's work: starts the stack, says so or why not, and carries frames.
fn carry(outside: &Outside, handed: &OwnedFd, dir: &Path, held: &Path) -> Result<()> {
    // SAFETY: a C string for the process's name.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"db-nat".as_ptr()) };
    // Its copies of the helper's pipes would hide the helper's end.
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    let started = Stack::start(outside, dir, held);
    let answer = serde_json::to_vec(&started.as_ref().err().map(Failure::of))?;
    send(handed.as_raw_fd(), &answer, MsgFlags::MSG_NOSIGNAL)?;
    let stack = started?;
    Ok(pump::carry(handed, stack.frames(), Gate(*outside))?)
}
