use crate::gso::{HEADER_ROOM, Vnet};

/// Takes frames to hosts' interfaces.
pub(crate) trait Transmit {
    /// Send frames from the `first` on; how many were taken. Fewer: the frame after them was refused with the error.
    fn send(&mut self, frames: &Outgoing, first: usize) -> (usize, Option<std::io::Error>);
}

/// Frames that are handed to hosts' interfaces together.
///
/// A frame is made of parts: on the GSO path a virtio-net header and the frame's own headers first.
pub(crate) struct Outgoing {
    /// Frames begin with a virtio-net header.
    pub vnet: bool,
    frames: Vec<Frame>,
    parts: Vec<libc::iovec>,
}

// SAFETY: the parts are used only between `add` and the call that sends them, by one thread.
unsafe impl Send for Outgoing {}

struct Frame {
    port: u16,
    /// The index of its first part.
    first: usize,
    head: [u8; Vnet::BYTES + HEADER_ROOM],
    head_bytes: usize,
}

impl Outgoing {
    pub(crate) fn new(vnet: bool) -> Outgoing {
        Outgoing { vnet, frames: Vec::new(), parts: Vec::new() }
    }

    /// Forget all frames.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.parts.clear();
    }

    /// Begin a frame for a port. It begins with `header`; on the wire path `vnet` says nothing.
    pub(crate) fn begin(&mut self, port: u16, vnet: Vnet, header: &[u8]) {
        let mut frame = Frame { port, first: self.parts.len(), head: [0; Vnet::BYTES + HEADER_ROOM], head_bytes: 0 };
        if self.vnet {
            frame.head[..Vnet::BYTES].copy_from_slice(&vnet.to_bytes());
            frame.head[Vnet::BYTES..][..header.len()].copy_from_slice(header);
            frame.head_bytes = Vnet::BYTES + header.len();
            // The frame may move until all are there: the pointer is set then.
            self.parts.push(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: frame.head_bytes });
        }
        self.frames.push(frame);
    }

    /// The frame goes on with `bytes`, which must stay until the frames are sent.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.parts.push(libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() });
    }

    /// Make the frames ready to be sent.
    pub(crate) fn close(&mut self) {
        for frame in self.frames.iter().filter(|frame| frame.head_bytes > 0) {
            self.parts[frame.first].iov_base = frame.head.as_ptr().cast_mut().cast();
        }
    }

    /// Port and parts of the frames from the `first` on. After [`close`](Outgoing::close).
    pub(crate) fn frames(&self, first: usize) -> impl Iterator<Item = (u16, &[libc::iovec])> {
        (first..self.frames.len()).map(|i| {
            let end = self.frames.get(i + 1).map_or(self.parts.len(), |next| next.first);
            (self.frames[i].port, &self.parts[self.frames[i].first..end])
        })
    }
}
