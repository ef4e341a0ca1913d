use crate::segment::Segment;

/// The segments that are under way, by the handle that the links carry.
///
/// Room is used again: once as many are under way as ever will be, nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub segment: Segment,
    /// The step of its path that it took last.
    pub step: u32,
    /// A bit of it was flipped.
    pub is_corrupt: bool,
}

impl Store {
    /// A segment is to be sent.
    #[inline]
    pub(crate) fn put(&mut self, segment: &Segment) -> u32 {
        match self.free.pop() {
            Some(handle) => {
                let slot = &mut self.slots[handle as usize];
                (slot.segment, slot.is_corrupt) = (*segment, false);
                handle
            }
            None => {
                self.slots.push(Slot { segment: *segment, step: 0, is_corrupt: false });
                self.slots.len() as u32 - 1
            }
        }
    }

    /// A link makes a copy of what is on the way.
    pub(crate) fn copy(&mut self, of: u32) -> u32 {
        let slot = self.slots[of as usize];
        let handle = self.put(&slot.segment);
        self.slots[handle as usize] = slot;
        handle
    }

    #[inline]
    pub(crate) fn get(&self, handle: u32) -> &Slot {
        &self.slots[handle as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: u32) -> &mut Slot {
        &mut self.slots[handle as usize]
    }

    /// The segment is gone.
    #[inline]
    pub(crate) fn free(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// The number of packets under way.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
