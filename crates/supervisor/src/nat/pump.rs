use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

use super::gate::Gate;

/// Longer than any frame of either side.
const FRAME: usize = 1 << 17;

/// Carries frames between the lab's interface and the network stack until either has gone, or nobody holds the carrier.
///
/// `handed`: the interface comes from here; nobody holds the carrier once the other end is closed. `stack`: a socket with
/// a frame a message.
pub(super) fn carry(handed: &OwnedFd, stack: &OwnedFd, gate: Gate) -> io::Result<()> {
    let Some(lab) = receive(handed)? else { return Ok(()) };
    for end in [&lab, stack] {
        fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    }
    let mut frame = vec![0; FRAME];
    loop {
        let polled = |end: &OwnedFd| libc::pollfd { fd: end.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut ends = [&lab, stack, handed].map(polled);
        // SAFETY: valid descriptors.
        unsafe { libc::poll(ends.as_mut_ptr(), ends.len() as libc::nfds_t, -1) };
        let [from_lab, from_stack, held] = ends.map(|end| end.revents != 0);
        if held
            || from_lab && !drain(&lab, stack, &mut frame, |frame| gate.lets_out(frame))?
            || from_stack && !drain(stack, &lab, &mut frame, |_| true)?
        {
            return Ok(());
        }
    }
}

/// The interface; `None`: there was no lab to have one.
fn receive(handed: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let (mut byte, mut space) = ([0], cmsg_space!(RawFd));
    let mut parts = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(handed.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let rights = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmRights(all) => all.first().copied(),
        _ => None,
    });
    // SAFETY: the kernel has just opened it for this process.
    Ok(rights.map(|one| unsafe { OwnedFd::from_raw_fd(one) }))
}

/// Frames that one end may give before the other has its turn.
const TURN: usize = 64;

/// Carries what has come from one end. False once an end has gone. A frame for which the other end has no room, or which
/// it refuses as it is down, is lost, as on any network: to wait for it could block both ends.
fn drain(from: &OwnedFd, to: &OwnedFd, frame: &mut [u8], passes: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
    for _ in 0..TURN {
        match nix::unistd::read(from, frame) {
            Ok(0) => return Ok(false),
            Ok(length) if passes(&frame[..length]) => {
                let gone = [Errno::EPIPE, Errno::ECONNRESET];
                if nix::unistd::write(to, &frame[..length]).is_err_and(|why| gone.contains(&why)) {
                    return Ok(false);
                }
            }
            Ok(_) | Err(Errno::EINTR) => {}
            // An interface that was set down says so once.
            Err(Errno::EAGAIN | Errno::ENETDOWN) => break,
            Err(Errno::ECONNRESET) => return Ok(false),
            Err(why) => return Err(why.into()),
        }
    }
    Ok(true)
}
