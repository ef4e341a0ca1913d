//! `TCP_INFO` and `TCP_CC_INFO`, as `linux/tcp.h` and `linux/inet_diag.h` define them.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use records::samples::{BbrSample, CaState, TcpSample};

/// `struct tcp_info` of Linux 6.18, field by field; an older kernel fills a prefix, the rest stays 0.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[allow(missing_docs)]
pub struct TcpInfo {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    /// Low 4 bits: ours; high 4 bits: the peer's.
    pub wscale: u8,
    /// Bit 0: `delivery_rate_app_limited`; bits 1-2: `fastopen_client_fail`.
    pub flags: u8,
    pub rto: u32,
    pub ato: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub fackets: u32,
    pub last_data_sent: u32,
    pub last_ack_sent: u32,
    pub last_data_recv: u32,
    pub last_ack_recv: u32,
    pub pmtu: u32,
    pub rcv_ssthresh: u32,
    pub rtt: u32,
    pub rttvar: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub advmss: u32,
    pub reordering: u32,
    pub rcv_rtt: u32,
    pub rcv_space: u32,
    pub total_retrans: u32,
    /// Bytes per second; all ones: not paced.
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    /// All ones: no sample yet.
    pub min_rtt: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    /// Bytes per second.
    pub delivery_rate: u64,
    pub busy_time: u64,
    pub rwnd_limited: u64,
    pub sndbuf_limited: u64,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub dsack_dups: u32,
    pub reord_seen: u32,
    pub rcv_ooopack: u32,
    pub snd_wnd: u32,
    pub rcv_wnd: u32,
    pub rehash: u32,
    pub total_rto: u16,
    pub total_rto_recoveries: u16,
    pub total_rto_time: u32,
    pub received_ce: u32,
    pub delivered_e1_bytes: u32,
    pub delivered_e0_bytes: u32,
    pub delivered_ce_bytes: u32,
    pub received_e1_bytes: u32,
    pub received_e0_bytes: u32,
    pub received_ce_bytes: u32,
    pub accecn_fail_mode: u16,
    pub accecn_opt_seen: u16,
}

/// `struct tcp_bbr_info`; later versions of BBR append to it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct BbrInfo {
    bw_lo: u32,
    bw_hi: u32,
    min_rtt: u32,
    pacing_gain: u32,
    cwnd_gain: u32,
}

/// Up to `bytes_retrans` (Linux 4.19), the last field that we read.
const NEEDED: usize = std::mem::offset_of!(TcpInfo, dsack_dups);
/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl TcpInfo {
    /// Ask a socket of ours.
    pub fn of(fd: impl AsFd) -> io::Result<TcpInfo> {
        let mut info = TcpInfo::default();
        // SAFETY: `TcpInfo` is plain integers without padding, so its bytes may be written.
        let bytes = unsafe { bytes_of_mut(&mut info) };
        let length = getsockopt(fd, libc::TCP_INFO, bytes)?;
        if length < NEEDED { Err(too_short(length)) } else { Ok(info) }
    }

    /// Parses a netlink attribute `INET_DIAG_INFO`.
    pub fn parse(bytes: &[u8]) -> io::Result<TcpInfo> {
        if bytes.len() < NEEDED {
            return Err(too_short(bytes.len()));
        }
        Ok(prefix(bytes))
    }

    /// The row's TCP columns.
    pub fn sample(&self, bbr: Option<BbrInfo>) -> TcpSample {
        let in_flight = (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost);
        let measured = |us: u32| (us > 0).then_some(us);
        TcpSample {
            cwnd_packets: self.snd_cwnd,
            ssthresh_packets: (self.snd_ssthresh < INFINITE_SSTHRESH).then_some(self.snd_ssthresh),
            snd_mss_bytes: self.snd_mss,
            srtt_us: measured(self.rtt),
            rttvar_us: measured(self.rtt).map(|_| self.rttvar),
            min_rtt_us: (self.min_rtt != u32::MAX).then_some(self.min_rtt),
            bytes_in_flight: u64::from(in_flight) * u64::from(self.snd_mss),
            pacing_rate_bps: (self.pacing_rate != u64::MAX).then(|| self.pacing_rate.saturating_mul(8)),
            delivery_rate_bps: (self.delivery_rate > 0).then(|| self.delivery_rate.saturating_mul(8)),
            delivery_rate_app_limited: self.flags & 1 != 0,
            retransmitted_segments: self.total_retrans,
            ca_state: match self.ca_state {
                0 => CaState::Open,
                1 => CaState::Disorder,
                2 => CaState::Cwr,
                3 => CaState::Recovery,
                _ => CaState::Loss,
            },
            bytes_acked: self.acked(),
            bytes_retransmitted: self.bytes_retrans,
            delivered_packets: self.delivered,
            delivered_ce_packets: self.delivered_ce,
            busy_us: self.busy_time,
            rwnd_limited_us: self.rwnd_limited,
            sndbuf_limited_us: self.sndbuf_limited,
            bbr: bbr.map(BbrInfo::sample),
        }
    }

    /// Returns the counts since `earlier`, of the same connection.
    pub fn since(mut self, earlier: &TcpInfo) -> TcpInfo {
        self.total_retrans -= earlier.total_retrans;
        self.bytes_acked -= earlier.bytes_acked;
        self.bytes_received -= earlier.bytes_received;
        self.busy_time -= earlier.busy_time;
        self.rwnd_limited -= earlier.rwnd_limited;
        self.sndbuf_limited -= earlier.sndbuf_limited;
        self.delivered -= earlier.delivered;
        self.delivered_ce -= earlier.delivered_ce;
        self.bytes_sent -= earlier.bytes_sent;
        self.bytes_retrans -= earlier.bytes_retrans;
        self
    }

    /// Payload that was sent at least once.
    pub fn first_sent(&self) -> u64 {
        self.bytes_sent.saturating_sub(self.bytes_retrans)
    }

    /// Payload received in order. The kernel's own counter ends with the peer's FIN, which takes a sequence number.
    pub fn received(&self) -> u64 {
        const CLOSE_WAIT: u8 = 8;
        const LAST_ACK: u8 = 9;
        const CLOSING: u8 = 11;
        self.bytes_received.saturating_sub(u64::from(matches!(self.state, CLOSE_WAIT | LAST_ACK | CLOSING)))
    }

    /// Payload acknowledged. The kernel's own counter starts with the acknowledgement of our SYN and ends with that of
    /// our FIN, which take a sequence number each.
    fn acked(&self) -> u64 {
        self.bytes_acked.saturating_sub(1).min(self.first_sent())
    }
}

impl BbrInfo {
    /// `None` if the socket's algorithm is not a BBR: no other gives as many bytes.
    pub fn of(fd: impl AsFd) -> Option<BbrInfo> {
        let mut info = BbrInfo::default();
        // SAFETY: `BbrInfo` is plain integers without padding, so its bytes may be written.
        let bytes = unsafe { bytes_of_mut(&mut info) };
        let length = getsockopt(fd, libc::TCP_CC_INFO, bytes).ok()?;
        (length == size_of::<BbrInfo>()).then_some(info)
    }

    /// Parses a netlink attribute `INET_DIAG_BBRINFO`.
    pub fn parse(bytes: &[u8]) -> Option<BbrInfo> {
        (bytes.len() >= size_of::<BbrInfo>()).then(|| prefix(bytes))
    }

    fn sample(self) -> BbrSample {
        // Gains are fixed point with 8 fractional bits.
        let gain = |g: u32| g as f32 / 256.0;
        BbrSample {
            bw_bps: (u64::from(self.bw_hi) << 32 | u64::from(self.bw_lo)).saturating_mul(8),
            min_rtt_us: self.min_rtt,
            pacing_gain: gain(self.pacing_gain),
            cwnd_gain: gain(self.cwnd_gain),
        }
    }
}

fn too_short(length: usize) -> io::Error {
    io::Error::other(format!("the kernel's tcp_info has {length} bytes, {NEEDED} are needed (Linux 4.19)"))
}

/// # Safety
/// `T` has nothing but integers, and no padding.
unsafe fn bytes_of_mut<T>(value: &mut T) -> &mut [u8] {
    // SAFETY: all bytes of `value` are initialized, as the caller promises, and any others would do for its integers.
    unsafe { std::slice::from_raw_parts_mut((value as *mut T).cast(), size_of::<T>()) }
}

/// The first bytes of `T`, as many as `bytes` has; the rest is 0.
fn prefix<T: Default + Copy>(bytes: &[u8]) -> T {
    let mut value = T::default();
    // SAFETY: only called for the two structs above.
    let target = unsafe { bytes_of_mut(&mut value) };
    let length = bytes.len().min(target.len());
    target[..length].copy_from_slice(&bytes[..length]);
    value
}

fn getsockopt(fd: impl AsFd, option: i32, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: `bytes` is valid for `length` bytes.
    let rc = unsafe {
        let fd = fd.as_fd().as_raw_fd();
        libc::getsockopt(fd, libc::IPPROTO_TCP, option, bytes.as_mut_ptr().cast(), &mut length)
    };
    if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<TcpInfo>(), 280);
        assert_eq!(std::mem::offset_of!(TcpInfo, pacing_rate), 104);
        assert_eq!(std::mem::offset_of!(TcpInfo, delivery_rate), 160);
        assert_eq!(NEEDED, 216);
        assert_eq!(size_of::<BbrInfo>(), 20);

        // The kernel says how many bytes it has, whatever room it is given.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut room = [0_u8; 1024];
        let length = getsockopt(&listener, libc::TCP_INFO, &mut room).unwrap();
        assert!(length >= NEEDED && length % 4 == 0, "{length}");
    }

    #[test]
    fn fields_mean_what_they_say() {
        use std::io::{Read, Write};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 5000]).unwrap();
        server.read_exact(&mut [0; 5000]).unwrap();
        let (sent, received) = (TcpInfo::of(&client).unwrap(), TcpInfo::of(&server).unwrap());
        assert_eq!((sent.state, sent.bytes_sent, sent.bytes_retrans, received.bytes_received), (1, 5000, 0, 5000));
        assert!(sent.snd_cwnd >= 2 && sent.snd_mss > 500 && sent.rto >= 1000, "{sent:?}");
        let row = sent.sample(None);
        assert_eq!((row.ssthresh_packets, row.ca_state), (None, CaState::Open));
        assert_eq!(row.retransmitted_segments, 0);
        assert!(row.srtt_us.is_some_and(|us| us < 1_000_000), "{row:?}");
    }

    #[test]
    fn an_answer_that_lacks_fields_is_refused() {
        assert!(TcpInfo::parse(&[0; 104]).is_err());
        assert_eq!(TcpInfo::parse(&[1; 216]).unwrap().dsack_dups, 0);
    }

    #[test]
    fn bbr_units() {
        let info = BbrInfo { bw_lo: 12_500_000, bw_hi: 1, min_rtt: 30_000, pacing_gain: 739, cwnd_gain: 512 };
        let row = info.sample();
        assert_eq!(row.bw_bps, ((1_u64 << 32) + 12_500_000) * 8);
        assert!((row.pacing_gain - 2.887).abs() < 0.001 && row.cwnd_gain == 2.0);
    }
}
