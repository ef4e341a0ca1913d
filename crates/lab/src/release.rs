//! Descriptors whose release takes the kernel time.
//!
//! The release of a mount namespace or of a packet socket waits for a grace period of RCU: 0.1 ms or tens of them. Threads
//! that wait at the same time wait for the same one.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::thread;

/// More threads than these gain nothing.
const THREADS: usize = 16;

/// Closes all of them, in several threads, and waits for the end of it.
pub(crate) fn close_together(mut descriptors: Vec<OwnedFd>) {
    let share = descriptors.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        while !descriptors.is_empty() {
            let part = descriptors.split_off(descriptors.len().saturating_sub(share));
            // A thread that cannot start drops its part, and so closes it, here.
            let _ = thread::Builder::new().spawn_scoped(scope, move || drop(part));
        }
    });
}

/// A descriptor that is closed in a thread of its own: its owner waits for nothing, its process ends when all are closed.
#[derive(Debug)]
pub struct ClosedAside(ManuallyDrop<OwnedFd>);

impl From<OwnedFd> for ClosedAside {
    fn from(descriptor: OwnedFd) -> ClosedAside {
        ClosedAside(ManuallyDrop::new(descriptor))
    }
}

impl Deref for ClosedAside {
    type Target = OwnedFd;

    fn deref(&self) -> &OwnedFd {
        &self.0
    }
}

impl Drop for ClosedAside {
    fn drop(&mut self) {
        // SAFETY: nobody uses it after this.
        let descriptor = unsafe { ManuallyDrop::take(&mut self.0) };
        // A thread that cannot start closes it here.
        let _ = thread::Builder::new().spawn(move || drop(descriptor));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn each_of_them_is_closed() {
        for count in [0, 1, THREADS, 5 * THREADS + 3] {
            let (ours, theirs): (Vec<_>, Vec<_>) = (0..count).map(|_| UnixStream::pair().unwrap()).unzip();
            close_together(theirs.into_iter().map(OwnedFd::from).collect());
            for mut stream in ours {
                // Never blocks: it reads the end of the stream once the other side is closed.
                stream.set_nonblocking(true).unwrap();
                assert_eq!(stream.read(&mut [0]).unwrap(), 0);
            }
        }
    }

    #[test]
    fn what_is_closed_aside_is_closed() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        drop(ClosedAside::from(OwnedFd::from(theirs)));
        assert_eq!(ours.read(&mut [0]).unwrap(), 0);
    }
}
