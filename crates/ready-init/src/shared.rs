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
//!
//! A process maps what it needs of it, when it needs it: the kernel makes an entry in its page tables for each 4 KiB of a
//! mapping, in each process that is forked with it anew.

use std::fs::{File, read_to_string};
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd;
use std::path::Path;
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
    /// Records are in the run's directory.
    Settled = 3,
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
    memory: File,
    address: u64,
    size: usize,
    numbers: Window,
}

impl Shared {
    pub(crate) fn open() -> Result<Self> {
        let line = read_to_string("/proc/cmdline").context("reading the kernel's arguments")?;
        let (address, size) = place(&line).with_context(|| format!("the kernel has no argument {ARGUMENT}"))?;
        let memory = File::options().read(true).write(true).open("/dev/mem").context("opening /dev/mem")?;
        Shared::new(memory, address, size)
    }

    /// The same memory on the host: a file.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let opened = File::options().read(true).write(true).open(path);
        let memory = opened.with_context(|| format!("opening {}", path.display()))?;
        let size = memory.metadata()?.len() as usize;
        Shared::new(memory, 0, size).with_context(|| format!("reading {}", path.display()))
    }

    fn new(memory: File, address: u64, size: usize) -> Result<Self> {
        ensure!(size >= OUTPUT, "{size} bytes are too few to be shared: {OUTPUT} are needed");
        ensure!(address.checked_add(size as u64).is_some(), "no memory is at {address}");
        let numbers = Window::map(&memory, address, ORDERS)?;
        Ok(Shared { memory, address, size, numbers })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.get(Number::State) == State::Done as usize
    }

    pub(crate) fn output(&self) -> Result<Window> {
        self.window(OUTPUT, self.get(Number::Output))
    }

    pub(crate) fn enter(&self, state: State) {
        self.set(Number::State, state as usize);
    }

    pub(crate) fn input(&self) -> Result<Window> {
        self.window(INPUT, self.get(Number::Input))
    }

    /// Reads the counts of the run while the machine runs.
    pub(crate) fn live(&self) -> Result<Live<'_>> {
        let orders = self.window(ORDERS, INPUT - ORDERS)?;
        let events = self.window(EVENTS, OUTPUT - EVENTS)?;
        Ok(Live { shared: self, orders, events })
    }

    /// Replace the output.
    pub(crate) fn put_output(&self, bytes: &[u8]) -> Result<()> {
        let room = self.size - OUTPUT;
        ensure!(bytes.len() <= room, "the records take {} bytes, and there is room for {room}", bytes.len());
        self.window(OUTPUT, bytes.len())?.copy_from_slice(bytes);
        self.set(Number::Output, bytes.len());
        Ok(())
    }

    fn window(&self, from: usize, length: usize) -> Result<Window> {
        let is_inside = from.checked_add(length).is_some_and(|end| end <= self.size);
        ensure!(
            is_inside,
            "{length} bytes from {from} on are not in a shared memory of {}: the length is damaged",
            self.size
        );
        Window::map(&self.memory, self.address + from as u64, length)
    }

    fn number(&self, which: Number) -> &AtomicU64 {
        // SAFETY: the window is a page that stays mapped, its first words are these numbers, and all use them as atomic ones.
        unsafe { AtomicU64::from_ptr(self.numbers.start.as_ptr().cast::<u64>().add(which as usize)) }
    }

    fn get(&self, which: Number) -> usize {
        self.number(which).load(Ordering::Acquire) as usize
    }

    fn set(&self, which: Number, value: usize) {
        self.number(which).store(value as u64, Ordering::Release);
    }
}

/// Orders and events.
pub(crate) struct Live<'a> {
    shared: &'a Shared,
    orders: Window,
    events: Window,
}

impl Live<'_> {
    /// All orders so far.
    pub(crate) fn orders(&self) -> Result<&[u8]> {
        self.orders.get(..self.shared.get(Number::Orders)).context("the host counts more orders than memory for them")
    }

    /// Append to the events.
    pub(crate) fn add_events(&mut self, text: &[u8]) -> Result<()> {
        let so_far = self.shared.get(Number::Events);
        let place = self.events.get_mut(so_far..).and_then(|free| free.get_mut(..text.len()));
        place.context("there are more events than memory for them")?.copy_from_slice(text);
        self.shared.set(Number::Events, so_far + text.len());
        Ok(())
    }
}

/// A part of the memory, mapped until it is dropped.
pub(crate) struct Window {
    start: NonNull<u8>,
    length: usize,
}

impl Window {
    /// `address`: of the machine, at a page's begin. The memory has so many bytes from there on.
    fn map(memory: &File, address: u64, length: usize) -> Result<Window> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (fd, at) = (memory.as_raw_fd(), address as libc::off_t);
        // SAFETY: a new mapping, of memory that the kernel was told to leave alone.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length.max(1), access, libc::MAP_SHARED, fd, at) };
        ensure!(start != libc::MAP_FAILED, "mapping the shared memory: {}", Errno::last());
        Ok(Window { start: NonNull::new(start.cast()).context("mapped at zero")?, length })
    }
}

impl Deref for Window {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped as long as this lives, and no side writes what it has counted.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl DerefMut for Window {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes are mapped as long as this lives, and the other side only reads what is counted.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: it was mapped, and nobody has a reference any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length.max(1)) };
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

    /// The other side wrote the lengths: none leads out of the memory.
    #[test]
    fn a_damaged_length_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(OUTPUT as u64 - 1).unwrap();
        let error = Shared::of(file.path()).err().expect("no room for the output");
        assert!(format!("{error:#}").contains("too few to be shared"), "{error:#}");
        file.as_file().set_len(OUTPUT as u64 + 8192).unwrap();
        let shared = Shared::of(file.path()).unwrap();
        shared.put_output(b"records").unwrap();
        assert_eq!(&*shared.output().unwrap(), b"records");
        for length in [8193, usize::MAX - OUTPUT, usize::MAX - OUTPUT + 1, usize::MAX - OUTPUT + 2, usize::MAX] {
            shared.set(Number::Output, length);
            let error = shared.output().err().expect("outside of the memory");
            assert!(error.to_string().ends_with("the length is damaged"), "{error}");
            shared.set(Number::Orders, length.max(INPUT));
            shared.set(Number::Events, length.max(OUTPUT));
            let mut live = shared.live().unwrap();
            assert!(live.orders().is_err() && live.add_events(b"event").is_err(), "{length}");
        }
    }
}
