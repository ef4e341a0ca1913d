use std::ptr::NonNull;

use anyhow::{Result, ensure};

/// Bytes of a slot: a frame of 1514 bytes and room for a VLAN tag or two.
pub(crate) const SLOT: usize = 2048;

/// Where packets lie while they are inside the network: slots of equal size, reused last in, first out.
///
/// The memory is reserved at once and faulted in by use, so a large arena costs nothing until a run needs it.
pub(crate) struct Arena {
    memory: NonNull<u8>,
    bytes: usize,
    free: Vec<u32>,
    /// Slots from here on were never used.
    fresh: u32,
    used: u32,
    peak: u32,
}

// SAFETY: the memory belongs to the arena alone.
unsafe impl Send for Arena {}

impl Arena {
    /// Room for `bytes`, of which `prefault` are touched now.
    pub(crate) fn new(bytes: u64, prefault: u64) -> Result<Arena> {
        let slots = bytes / SLOT as u64;
        ensure!((1..u64::from(u32::MAX)).contains(&slots), "an arena of {bytes} bytes holds no packets");
        let bytes = slots as usize * SLOT;
        // SAFETY: a new private mapping.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        ensure!(memory != libc::MAP_FAILED, "reserving {bytes} bytes for packets: {}", std::io::Error::last_os_error());
        let memory = NonNull::new(memory.cast::<u8>()).expect("mmap returns no null");
        for page in (0..bytes.min(prefault as usize)).step_by(4096) {
            // SAFETY: inside the mapping.
            unsafe { memory.as_ptr().add(page).write_volatile(0) };
        }
        Ok(Arena { memory, bytes, free: Vec::with_capacity(slots as usize), fresh: 0, used: 0, peak: 0 })
    }

    /// Copy a frame into a free slot; `None` if there is none.
    pub(crate) fn store(&mut self, frame: &[u8]) -> Option<u32> {
        assert!(frame.len() <= SLOT, "the caller checks the size");
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if (self.fresh as usize) < self.bytes / SLOT => {
                self.fresh += 1;
                self.fresh - 1
            }
            None => return None,
        };
        self.used += 1;
        self.peak = self.peak.max(self.used);
        // SAFETY: the slot is inside the mapping and nobody else's, the frame fits.
        unsafe { std::ptr::copy_nonoverlapping(frame.as_ptr(), self.at(slot), frame.len()) };
        Some(slot)
    }

    /// The slot's first byte.
    pub(crate) fn at(&self, slot: u32) -> *mut u8 {
        // SAFETY: slots are handed out below the mapping's size.
        unsafe { self.memory.as_ptr().add(slot as usize * SLOT) }
    }

    /// Give a slot back.
    pub(crate) fn release(&mut self, slot: u32) {
        self.used -= 1;
        self.free.push(slot);
    }

    /// How many slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.bytes / SLOT
    }

    /// The most bytes ever in use.
    pub(crate) fn peak_bytes(&self) -> u64 {
        u64::from(self.peak) * SLOT as u64
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_arena_says_so_and_recovers() {
        let mut arena = Arena::new(2 * SLOT as u64, 4096).unwrap();
        let a = arena.store(&[1; 60]).unwrap();
        let b = arena.store(&[2; SLOT]).unwrap();
        assert_ne!(a, b);
        assert!(arena.store(&[3; 60]).is_none());
        arena.release(a);
        let c = arena.store(&[4; 60]).unwrap();
        // SAFETY: both slots are in use.
        unsafe { assert_eq!((*arena.at(c), *arena.at(b)), (4, 2)) };
        assert_eq!(arena.peak_bytes(), 2 * SLOT as u64);
    }
}
