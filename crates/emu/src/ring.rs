use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use lab::ClosedAside;
use plan::{EmulatePath, Plan};
use units::Mtu;

use crate::frame::slot_bytes;
use crate::gso::Vnet;
use crate::intake::Captured;

/// Bytes of the ring's parts.
#[derive(Clone, Copy)]
struct Layout {
    /// Header, address and a frame.
    slot: u32,
    /// Holds whole slots. The kernel would like it to be physically contiguous.
    block: u32,
    /// Before each frame.
    vnet: usize,
    /// Room before it for a VLAN's tag.
    reserve: usize,
}

/// Bytes of a VLAN's tag (IEEE 802.1Q).
const TAG: usize = 4;

impl Layout {
    /// On the GSO path the header is before the frame: there is no room for a tag.
    fn of(path: EmulatePath, mtu: Mtu) -> Layout {
        match path {
            // 256 KiB can be found in a fragmented memory too.
            EmulatePath::Wire => Layout { slot: slot_bytes(mtu) as u32, block: 256 * 1024, vnet: 0, reserve: TAG },
            // Frames as long as an IPv4 packet can be; 15 of them make good use of a block.
            EmulatePath::Gso => Layout { slot: 66 * 1024, block: 1024 * 1024, vnet: Vnet::BYTES, reserve: 0 },
        }
    }
}

/// CLOCK_REALTIME in seconds and nanoseconds, when the kernel put a packet into the ring.
pub(crate) type Stamp = (u32, u32);

/// A TPACKET_V2 receive ring over every interface of the namespace.
///
/// V2, not V3: V3 retires blocks by a timer of milliseconds. One ring for all interfaces: each ring costs milliseconds
/// to open and close, and one ring keeps packets in the order of their arrival.
pub(crate) struct Ring {
    socket: ClosedAside,
    memory: NonNull<u8>,
    bytes: usize,
    layout: Layout,
    slots: u32,
    next: u32,
}

impl Ring {
    /// Open a ring of about `bytes` in the calling thread's network namespace, with the plan's path and MTU.
    pub(crate) fn open(plan: &Plan) -> Result<Ring> {
        let (bytes, path) = (plan.emulate.ring_bytes, plan.emulate.path);
        let layout = Layout::of(path, plan.largest_mtu());
        let blocks = (bytes / u64::from(layout.block)).max(1) as u32;
        // Protocol 0 for now: nothing arrives before the ring is there.
        // SAFETY: plain system call; the descriptor is owned from here on.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            ensure!(fd >= 0, "opening a packet socket: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        set(&socket, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))
            .context("asking for ring version 2")?;
        set(&socket, libc::PACKET_IGNORE_OUTGOING, &1i32).context("ignoring outgoing packets")?;
        if path == EmulatePath::Gso {
            // Before there is a ring: its slots have room for the header or not.
            set(&socket, libc::PACKET_VNET_HDR, &1i32).context("asking for virtio-net headers")?;
        }
        if layout.reserve > 0 {
            set(&socket, libc::PACKET_RESERVE, &(layout.reserve as u32)).context("reserving room for tags of VLANs")?;
        }
        let request = libc::tpacket_req {
            tp_block_size: layout.block,
            tp_block_nr: blocks,
            tp_frame_size: layout.slot,
            tp_frame_nr: blocks * (layout.block / layout.slot),
        };
        set(&socket, libc::PACKET_RX_RING, &request).with_context(|| {
            format!("making a packet ring of {} KiB", u64::from(blocks) * u64::from(layout.block) / 1024)
        })?;
        let bytes = blocks as usize * layout.block as usize;
        // SAFETY: maps the ring just made.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                0,
            )
        };
        ensure!(memory != libc::MAP_FAILED, "mapping the packet ring: {}", std::io::Error::last_os_error());
        let memory = NonNull::new(memory.cast::<u8>()).expect("mmap returns no null");
        let slots = request.tp_frame_nr;
        let ring = Ring { socket: socket.into(), memory, bytes, layout, slots, next: 0 };
        ring.listen()?;
        Ok(ring)
    }

    /// Receive from every interface, present and future.
    fn listen(&self) -> Result<()> {
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: a valid address of its own size.
        let bound = unsafe {
            libc::bind(
                self.socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        ensure!(bound == 0, "listening on all interfaces: {}", std::io::Error::last_os_error());
        Ok(())
    }

    /// The oldest packet, if there is one, valid until [`Ring::release`].
    pub(crate) fn peek(&self) -> Option<(Stamp, Captured<'_>)> {
        let slot = self.slot(self.next);
        let header = slot.cast::<libc::tpacket2_hdr>();
        let status = self.status(self.next).load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        if status & libc::TP_STATUS_VLAN_VALID != 0 && self.layout.reserve >= TAG {
            // SAFETY: the kernel has given the slot to us, and has left room for a tag before the frame.
            unsafe { put_tag_back(header) };
        }
        // SAFETY: the kernel has given the slot to us, header, address and frame lie inside it.
        unsafe {
            let h = header.read_volatile();
            let address = slot.add(tpacket_align(size_of::<libc::tpacket2_hdr>())).cast::<libc::sockaddr_ll>().read();
            let frame = slot.add(usize::from(h.tp_mac));
            let vnet = match self.layout.vnet {
                0 => Vnet::default(),
                before => Vnet::from_bytes(frame.sub(before).cast::<[u8; Vnet::BYTES]>().read()),
            };
            let captured = Captured {
                frame: std::slice::from_raw_parts(frame, h.tp_snaplen as usize),
                vnet,
                len: h.tp_len,
                ifindex: address.sll_ifindex,
                checksum_missing: status & libc::TP_STATUS_CSUMNOTREADY != 0,
            };
            Some(((h.tp_sec, h.tp_nsec), captured))
        }
    }

    /// Give the packet last peeked at back to the kernel.
    pub(crate) fn release(&mut self) {
        self.status(self.next).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
    }

    /// Packets that found the ring full, since the last call.
    pub(crate) fn take_drops(&self) -> Result<u64> {
        let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut len = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: a valid struct of its own size.
        let got = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut stats).cast(),
                &mut len,
            )
        };
        ensure!(got == 0, "reading the ring's counters: {}", std::io::Error::last_os_error());
        Ok(u64::from(stats.tp_drops))
    }

    fn slot(&self, index: u32) -> *mut u8 {
        let per_block = self.layout.block / self.layout.slot;
        let block = (index / per_block) as usize * self.layout.block as usize;
        let offset = (index % per_block) as usize * self.layout.slot as usize;
        // SAFETY: index < slots.
        unsafe { self.memory.as_ptr().add(block + offset) }
    }

    fn status(&self, index: u32) -> &AtomicU32 {
        // SAFETY: `tp_status` is the header's first field, aligned, shared with the kernel.
        unsafe { AtomicU32::from_ptr(self.slot(index).cast()) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `open`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// The kernel takes a VLAN's tag out of a frame: put it back, behind the two MAC addresses. From then on the slot is as if the
/// kernel had left it there.
///
/// # Safety
/// The slot is ours, and has room of [`TAG`] bytes before its frame.
unsafe fn put_tag_back(header: *mut libc::tpacket2_hdr) {
    // SAFETY: header and frame lie in the slot, with room before the frame.
    unsafe {
        let mut h = header.read_volatile();
        let frame = header.cast::<u8>().add(usize::from(h.tp_mac)).sub(TAG);
        std::ptr::copy(frame.add(TAG), frame, 12);
        let tag = [h.tp_vlan_tpid.to_be_bytes(), h.tp_vlan_tci.to_be_bytes()];
        frame.add(12).copy_from_nonoverlapping(tag.as_flattened().as_ptr(), TAG);
        h.tp_mac -= TAG as u16;
        (h.tp_len, h.tp_snaplen) = (h.tp_len + TAG as u32, h.tp_snaplen + TAG as u32);
        h.tp_status &= !libc::TP_STATUS_VLAN_VALID;
        header.write_volatile(h);
    }
}

const fn tpacket_align(n: usize) -> usize {
    (n + libc::TPACKET_ALIGNMENT - 1) & !(libc::TPACKET_ALIGNMENT - 1)
}

/// Set an option of a packet socket.
pub(crate) fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> std::io::Result<()> {
    // SAFETY: a valid value of its own size.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            (&raw const *value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
