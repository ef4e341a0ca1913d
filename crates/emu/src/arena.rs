use std::ptr::NonNull;

use anyhow::{Result, ensure};

/// Bytes of a slot: a frame of 1514 bytes and room for a VLAN tag or two.
pub(crate) const SLOT: usize = 2048;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Memory of packets inside the network: slots of equal size, reused last in, first out.
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

    /// A free slot; `None` if there is none.
    pub(crate) fn take(&mut self) -> Option<u32> {
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
        Some(slot)
    }

    /// Copy a slot into a free one; `None` if there is none.
    pub(crate) fn copy(&mut self, slot: u32) -> Option<u32> {
        let copy = self.take()?;
        // SAFETY: two different slots of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(self.at(slot), self.at(copy), SLOT) };
        Some(copy)
    }

    /// The contents of a slot.
    pub(crate) fn bytes(&self, slot: u32) -> &[u8] {
        // SAFETY: the slot is inside the mapping, and whoever writes to it borrows the arena as a whole.
        unsafe { std::slice::from_raw_parts(self.at(slot), SLOT) }
    }

    /// The same, to be written to.
    pub(crate) fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: the slot is inside the mapping, and nobody else borrows the arena.
        unsafe { std::slice::from_raw_parts_mut(self.at(slot), SLOT) }
    }

    fn at(&self, slot: u32) -> *mut u8 {
        debug_assert!(slot < self.fresh);
        // SAFETY: slots are handed out below the mapping's size.
        unsafe { self.memory.as_ptr().add(slot as usize * SLOT) }
    }

    /// Give a slot back.
    pub(crate) fn release(&mut self, slot: u32) {
        self.used -= 1;
        self.free.push(slot);
    }

    /// Number of slots.
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
        let a = arena.take().unwrap();
        arena.bytes_mut(a).fill(1);
        let b = arena.copy(a).unwrap();
        assert_ne!(a, b);
        assert!(arena.take().is_none() && arena.copy(a).is_none());
        arena.release(a);
        let c = arena.take().unwrap();
        arena.bytes_mut(c)[0] = 4;
        assert_eq!((arena.bytes(c)[0], arena.bytes(b)[0], arena.bytes(b)[SLOT - 1]), (4, 1, 1));
        assert_eq!(arena.peak_bytes(), 2 * SLOT as u64);
    }
}
