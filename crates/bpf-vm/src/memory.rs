//! The memory of a program: its places, each with bounds. The upper half of an address is its place, the lower half an offset in it.

use std::sync::Arc;

use crate::code::{bytes, class, direct};
use crate::fault::Fault;
use crate::model::{SAMPLE_BYTES, SOCKET_BYTES, is_writable};
use crate::storage::{VALUES, Value, values};

/// The arguments of a callback.
pub(crate) const CONTEXT: u64 = 1 << 32;
/// The frames of functions: 512 bytes each.
pub(crate) const STACK: u64 = 2 << 32;
/// The connection.
pub(crate) const SOCKET: u64 = 3 << 32;
/// The sample of an ACK.
pub(crate) const SAMPLE: u64 = 4 << 32;
/// Constants of the program, parameters among them.
pub(crate) const CONSTANTS: u64 = 5 << 32;

/// The bytes of a function's frame, and the frames of a call.
pub(crate) const FRAME_BYTES: usize = 512;
pub(crate) const FRAMES: usize = 8;

/// The most arguments of a callback.
pub(crate) const ARGUMENTS: usize = 4;

/// All places of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub context: [u8; 8 * ARGUMENTS],
    pub stack: Box<[u8]>,
    pub socket: [u8; SOCKET_BYTES],
    pub sample: [u8; SAMPLE_BYTES],
    constants: Arc<[u8]>,
    /// Socket storage, by the number of the map.
    pub storage: Vec<Value>,
    /// The functions that wait for another: their registers 6 to 9, and where they go on.
    pub callers: [([u64; 4], usize); FRAMES],
    /// The functions that wait, of the call that runs.
    pub depth: usize,
}

impl Memory {
    /// Memory with a stack of so many frames, and socket storage of these sizes.
    pub(crate) fn new(constants: Arc<[u8]>, frames: usize, storage: &[usize]) -> Memory {
        let stack = vec![0; FRAME_BYTES * frames].into_boxed_slice();
        let (context, socket, sample) = ([0; 8 * ARGUMENTS], [0; SOCKET_BYTES], [0; SAMPLE_BYTES]);
        let storage = values(storage);
        Memory { context, stack, socket, sample, constants, storage, callers: Default::default(), depth: 0 }
    }

    /// The code with which a load or a store finds `address` without looking for its place: it is there in every call. `None`: it
    /// is not, or must not be written.
    pub(crate) fn direct(&self, code: u16, address: u64) -> Option<u16> {
        let (at, count) = (address as u32 as usize, bytes(code));
        let (place, length) = match address >> 32 << 32 {
            SOCKET => (direct::SOCKET, SOCKET_BYTES),
            STACK => (direct::STACK, self.stack.len()),
            SAMPLE => (direct::SAMPLE, SAMPLE_BYTES),
            CONTEXT => (direct::CONTEXT, 8 * ARGUMENTS),
            _ => return None,
        };
        let may =
            code & 7 == class::LDX || place == direct::STACK || (place == direct::SOCKET && is_writable(at, count));
        (may && at + count <= length).then_some(place | code)
    }

    /// The bytes at an address.
    #[inline(always)]
    pub(crate) fn bytes(&self, address: u64, count: usize) -> Result<&[u8], Fault> {
        let at = address as u32 as usize;
        let place: &[u8] = match address >> 32 << 32 {
            SOCKET => &self.socket,
            STACK => &self.stack,
            SAMPLE => &self.sample,
            CONTEXT => &self.context,
            CONSTANTS => &self.constants,
            place => self.value(place).map_or(&[], |value| &value.bytes),
        };
        place.get(at..at + count).ok_or(Fault::Read(count))
    }

    /// The value of socket storage at a place, if the connection has it.
    fn value(&self, place: u64) -> Option<&Value> {
        let number = place.checked_sub(VALUES)? >> 32;
        self.storage.get(number as usize).filter(|value| value.is_held)
    }

    fn value_mut(&mut self, place: u64) -> Option<&mut Value> {
        let number = place.checked_sub(VALUES)? >> 32;
        self.storage.get_mut(number as usize).filter(|value| value.is_held)
    }

    /// The number in 1, 2, 4 or 8 bytes at an address.
    #[inline(always)]
    pub(crate) fn load(&self, address: u64, count: usize) -> Result<u64, Fault> {
        let bytes = self.bytes(address, count)?;
        Ok(match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => return Err(Fault::Read(count)),
        })
    }

    /// The number in a constant; `None`: there is no constant.
    pub(crate) fn load_constant(&self, address: u64, count: usize) -> Option<u64> {
        (address >> 32 << 32 == CONSTANTS).then(|| self.load(address, count).ok()).flatten()
    }

    /// Stores the lowest 1, 2, 4 or 8 bytes of `value`.
    #[inline(always)]
    pub(crate) fn store(&mut self, address: u64, count: usize, value: u64) -> Result<(), Fault> {
        let at = address as u32 as usize;
        let place: &mut [u8] = match address >> 32 << 32 {
            STACK => &mut self.stack,
            SOCKET if is_writable(at, count) => &mut self.socket,
            place => self.value_mut(place).map_or(&mut [], |value| &mut value.bytes),
        };
        let bytes = place.get_mut(at..at + count).ok_or(Fault::Written(count))?;
        bytes.copy_from_slice(&value.to_le_bytes()[..count]);
        Ok(())
    }
}
