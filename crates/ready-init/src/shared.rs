//! Memory that the host shares: a piece of the machine's own that the kernel leaves alone (`memmap=SIZE$ADDRESS`).
//!
//! | from | what |
//! |---|---|
//! | 0 | the state, then the lengths of orders, input, events and output: five 64-bit numbers |
//! | 4 KiB | orders: JSON lines from the host |
//! | 64 KiB | input: the run's directory, as a tar file |
//! | 32 MiB | events: JSON lines for the host |
//! | 64 MiB | output: a description of the kernel, then the records as a tar file |
//!
//! Each length is written after what it counts. Only orders may come while the machine runs.

use std::fs::{File, read_to_string};
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;

const ORDERS: usize = 4 << 10;
const INPUT: usize = 64 << 10;
const EVENTS: usize = 32 << 20;
const OUTPUT: usize = 64 << 20;
/// The kernel's argument with the address and the size, in bytes.
const ARGUMENT: &str = "dumbbell.shared=";

/// How far the machine has come.
#[derive(Clone, Copy)]
pub(crate) enum State {
    /// A snapshot may be taken.
    Ready = 1,
    /// The output is complete.
    Done = 2,
}

#[derive(Clone, Copy)]
enum Number {
    State,
    Orders,
    Input,
    Events,
    Output,
}

/// The piece of memory. A copy in a forked process is the same memory.
pub(crate) struct Shared {
    start: NonNull<u8>,
    size: usize,
}

impl Shared {
    pub(crate) fn map() -> Result<Self> {
        let line = read_to_string("/proc/cmdline").context("reading the kernel's arguments")?;
        let (address, size) = place(&line).with_context(|| format!("the kernel has no argument {ARGUMENT}"))?;
        let memory = File::options().read(true).write(true).open("/dev/mem").context("opening /dev/mem")?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, of memory that the kernel was told to leave alone.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), size, access, libc::MAP_SHARED, memory.as_raw_fd(), address as libc::off_t)
        };
        ensure!(start != libc::MAP_FAILED, "mapping the shared memory: {}", Errno::last());
        Ok(Shared { start: NonNull::new(start.cast()).context("mapped at zero")?, size })
    }

    pub(crate) fn enter(&self, state: State) {
        self.set(Number::State, state as usize);
    }

    pub(crate) fn input(&self) -> &[u8] {
        self.bytes(INPUT, self.get(Number::Input))
    }

    /// All orders so far.
    pub(crate) fn orders(&self) -> &[u8] {
        self.bytes(ORDERS, self.get(Number::Orders))
    }

    /// Append to the events.
    pub(crate) fn add_events(&self, text: &[u8]) -> Result<()> {
        let so_far = self.get(Number::Events);
        ensure!(EVENTS + so_far + text.len() <= OUTPUT, "there are more events than memory for them");
        self.put(EVENTS + so_far, text);
        self.set(Number::Events, so_far + text.len());
        Ok(())
    }

    /// Replace the output.
    pub(crate) fn put_output(&self, bytes: &[u8]) -> Result<()> {
        let room = self.size - OUTPUT;
        ensure!(bytes.len() <= room, "the records take {} bytes, and there is room for {room}", bytes.len());
        self.put(OUTPUT, bytes);
        self.set(Number::Output, bytes.len());
        Ok(())
    }

    fn bytes(&self, from: usize, length: usize) -> &[u8] {
        assert!(from + length <= self.size, "the host wrote a length that cannot be");
        // SAFETY: inside the mapping, and the host writes no byte that it has counted.
        unsafe { slice::from_raw_parts(self.start.as_ptr().add(from), length) }
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        // SAFETY: the callers have checked that it is inside the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    fn number(&self, which: Number) -> &AtomicU64 {
        // SAFETY: the mapping begins at a page, and these numbers are its first.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast::<u64>().add(which as usize)) }
    }

    fn get(&self, which: Number) -> usize {
        self.number(which).load(Ordering::Acquire) as usize
    }

    fn set(&self, which: Number, value: usize) {
        self.number(which).store(value as u64, Ordering::Release);
    }
}

/// Address and size in the kernel's command line.
fn place(line: &str) -> Option<(u64, usize)> {
    let (address, size) = line.split_whitespace().find_map(|word| word.strip_prefix(ARGUMENT))?.split_once(',')?;
    Some((address.parse().ok()?, size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_an_argument() {
        assert_eq!(place("quiet dumbbell.shared=536870912,1073741824 panic=-1\n"), Some((1 << 29, 1 << 30)));
        assert_eq!(place("quiet"), None);
        assert_eq!(place("dumbbell.shared=5"), None);
    }
}
