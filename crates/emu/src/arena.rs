use std::ptr::NonNull;

use anyhow::{Result, ensure};

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// Memory of packets inside the network: slots of equal size, reused last in, first out.
///
/// The memory is reserved at once and faulted in by use, so a large arena costs nothing until a run needs it.
pub(crate) struct Arena {
    memory: NonNull<u8>,
    slots: usize,
    slot_bytes: usize,
    free: Vec<u32>,
    /// Slots from here on were never used.
    fresh: u32,
    used: u32,
    peak: u32,
}

// SAFETY: the memory belongs to the arena alone.
unsafe impl Send for Arena {}

impl Arena {
    /// Room for `bytes` in slots of `slot_bytes`. `prefault` bytes of it are touched now.
    pub(crate) fn new(bytes: u64, slot_bytes: usize, prefault: u64) -> Result<Arena> {
        let slots = bytes / slot_bytes as u64;
        ensure!((1..u64::from(u32::MAX)).contains(&slots), "an arena of {bytes} bytes holds no packets");
        let slots = slots as usize;
        let bytes = slots * slot_bytes;
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
        Ok(Arena { memory, slots, slot_bytes, free: Vec::with_capacity(slots), fresh: 0, used: 0, peak: 0 })
    }

    /// A free slot; `None` if there is none.
    pub(crate) fn take(&mut self) -> Option<u32> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if (self.fresh as usize) < self.slots => {
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
        // SAFETY: both slots are inside the mapping, and may be the same.
        unsafe { std::ptr::copy(self.at(slot), self.at(copy), self.slot_bytes) };
        Some(copy)
    }

    /// The contents of a slot.
    pub(crate) fn bytes(&self, slot: u32) -> &[u8] {
        // SAFETY: the slot is inside the mapping, which began as zeros, and whoever writes to it borrows the arena as a whole.
        unsafe { std::slice::from_raw_parts(self.at(slot), self.slot_bytes) }
    }

    /// The same, to be written to.
    pub(crate) fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: the slot is inside the mapping, and nobody else borrows the arena.
        unsafe { std::slice::from_raw_parts_mut(self.at(slot), self.slot_bytes) }
    }

    /// Panics if the slot was never handed out.
    fn at(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.fresh, "slot {slot} of {} is used", self.fresh);
        // SAFETY: slots that were handed out are below the mapping's size.
        unsafe { self.memory.as_ptr().add(slot as usize * self.slot_bytes) }
    }

    /// Give a slot back.
    pub(crate) fn release(&mut self, slot: u32) {
        self.used -= 1;
        self.free.push(slot);
    }

    /// Number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// The longest frame that a slot holds.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The most bytes ever in use.
    pub(crate) fn peak_bytes(&self) -> u64 {
        u64::from(self.peak) * self.slot_bytes as u64
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.slots * self.slot_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_full_arena_says_so_and_recovers() {
        let mut arena = Arena::new(2 * 3072 + 1, 3072, 4096).unwrap();
        let a = arena.take().unwrap();
        arena.bytes_mut(a).fill(1);
        let b = arena.copy(a).unwrap();
        assert_ne!(a, b);
        assert!(arena.take().is_none() && arena.copy(a).is_none());
        arena.release(a);
        let c = arena.take().unwrap();
        arena.bytes_mut(c)[0] = 4;
        assert_eq!((arena.bytes(c)[0], arena.bytes(b)[0], arena.bytes(b)[3071]), (4, 1, 1));
        assert_eq!((arena.slots(), arena.peak_bytes()), (2, 2 * 3072));
    }

    #[test]
    fn no_slot_is_read_that_was_not_handed_out() {
        for slot in [1, 2, 1 << 20, NONE] {
            let mut arena = Arena::new(3 * 4096, 4096, 0).unwrap();
            arena.take().unwrap();
            let mut panics = |work: fn(&mut Arena, u32)| {
                assert!(catch_unwind(AssertUnwindSafe(|| work(&mut arena, slot))).is_err(), "slot {slot}");
            };
            panics(|arena, slot| drop(arena.bytes(slot).to_vec()));
            panics(|arena, slot| arena.bytes_mut(slot).fill(1));
            // The copy is slot 1.
            if slot > 1 {
                panics(|arena, slot| {
                    arena.copy(slot);
                });
            }
        }
    }
}
