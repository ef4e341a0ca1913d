//! A row as the kernel's programs write it: `struct db_ack` of `bpf/include/dumbbell/ack.h`.

use realtime::Clock;
use records::acks::{Ack, BbrAck, BbrAckPhase, BbrState, Moment};
use records::samples::CaState;

/// A value that is not known, not used, or infinite.
const NONE: u32 = u32::MAX;
/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// Bit of `flags`.
const APP_LIMITED: u8 = 1;
/// Bandwidths are packets per microsecond in fixed point with as many fractional bits.
const BW_SHIFT: u32 = 24;

/// Same fields as in the C header, which explains them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct RawAck {
    pub time_ns: u64,
    pub bytes_acked: u64,
    pub pacing_rate: u64,
    pub netns: u32,
    pub remote_address: u32,
    pub local_port: u16,
    pub remote_port: u16,
    pub moment: u8,
    pub ca_state: u8,
    pub flags: u8,
    pub bbr_state: u8,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub mss: u32,
    pub srtt_us: u32,
    pub rtt_us: u32,
    pub min_rtt_us: u32,
    pub in_flight: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost_out: u32,
    pub lost: u32,
    pub total_retrans: u32,
    pub rate_delivered: u32,
    pub rate_interval_us: u32,
    pub bbr_bw: u32,
    pub bbr_bw_lo: u32,
    pub bbr_bw_hi: u32,
    pub bbr_min_rtt_us: u32,
    pub bbr_inflight_lo: u32,
    pub bbr_inflight_hi: u32,
    pub bbr_round: u32,
    pub bbr_cycle: u32,
    pub bbr_pacing_gain: u16,
    pub bbr_cwnd_gain: u16,
    pub bbr_ack_phase: u8,
    pub reserved: [u8; 3],
}

const _: () = assert!(size_of::<RawAck>() == 144, "the layout of a row is fixed");

impl RawAck {
    /// Parses a record of the ring; that of a later version is longer.
    pub fn parse(bytes: &[u8]) -> Option<RawAck> {
        // SAFETY: as many bytes as it takes, and any bytes are a row: it is integers without padding.
        (bytes.len() >= size_of::<RawAck>()).then(|| unsafe { bytes.as_ptr().cast::<RawAck>().read_unaligned() })
    }

    /// Converts it to a row of `flow`. `None` if it has an unknown code.
    pub fn row(&self, flow: u16, clock: Clock) -> Option<Ack> {
        let known = |value: u32| (value != NONE).then_some(value);
        let positive = |value: u32| (value > 0).then_some(value);
        let rated = self.rate_delivered > 0 && self.rate_interval_us > 0;
        // The kernel counts from the SYN, which takes a sequence number.
        let snd_una_bytes = self.bytes_acked.saturating_sub(1);
        Some(Ack {
            time: clock.at(self.time_ns as i64),
            flow,
            socket: self.local_port,
            moment: self.moment()?,
            cwnd_packets: self.cwnd,
            ssthresh_packets: (self.ssthresh < INFINITE_SSTHRESH).then_some(self.ssthresh),
            snd_mss_bytes: self.mss,
            srtt_us: positive(self.srtt_us),
            rtt_us: known(self.rtt_us),
            min_rtt_us: known(self.min_rtt_us),
            bytes_in_flight: u64::from(self.in_flight) * u64::from(self.mss),
            pacing_rate_bps: (self.pacing_rate != u64::MAX).then(|| self.pacing_rate.saturating_mul(8)),
            delivery_rate_bps: rated.then(|| {
                let bytes = u64::from(self.rate_delivered) * u64::from(self.mss);
                bytes * 1_000_000 / u64::from(self.rate_interval_us) * 8
            }),
            delivery_rate_app_limited: rated.then_some(self.flags & APP_LIMITED != 0),
            delivered_packets: self.delivered,
            delivered_ce_packets: self.delivered_ce,
            lost_packets: self.lost_out,
            lost_total_packets: self.lost,
            retransmitted_segments: self.total_retrans,
            ca_state: self.ca_state()?,
            snd_una_bytes,
            snd_nxt_bytes: snd_una_bytes + u64::from(self.snd_nxt.wrapping_sub(self.snd_una)),
            bbr: if self.bbr_state == 0 { None } else { Some(self.bbr()?) },
        })
    }

    fn bbr(&self) -> Option<BbrAck> {
        let known = |value: u32| (value != NONE).then_some(value);
        let bps = |bw: u32| ((u128::from(bw) * u128::from(self.mss) * 8_000_000) >> BW_SHIFT) as u64;
        let gain = |gain: u16| f32::from(gain) / 256.0;
        Some(BbrAck {
            state: self.bbr_state()?,
            ack_phase: if self.bbr_ack_phase == 0 { None } else { Some(self.bbr_ack_phase()?) },
            bw_bps: (self.bbr_bw > 0).then(|| bps(self.bbr_bw)),
            bw_lo_bps: known(self.bbr_bw_lo).map(bps),
            bw_hi_bps: known(self.bbr_bw_hi).map(bps),
            min_rtt_us: known(self.bbr_min_rtt_us),
            pacing_gain: gain(self.bbr_pacing_gain),
            cwnd_gain: gain(self.bbr_cwnd_gain),
            inflight_lo_packets: known(self.bbr_inflight_lo),
            inflight_hi_packets: known(self.bbr_inflight_hi),
            round: self.bbr_round,
            cycle: known(self.bbr_cycle),
        })
    }

    fn moment(&self) -> Option<Moment> {
        [Moment::Before, Moment::After, Moment::Close].get(usize::from(self.moment)).copied()
    }

    fn ca_state(&self) -> Option<CaState> {
        let states = [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss];
        states.get(usize::from(self.ca_state)).copied()
    }

    /// `enum db_bbr_state`, which begins with "none".
    fn bbr_state(&self) -> Option<BbrState> {
        use BbrState::*;
        let states = [Startup, Drain, ProbeBw, ProbeBwDown, ProbeBwCruise, ProbeBwRefill, ProbeBwUp, ProbeRtt];
        states.get(usize::from(self.bbr_state).checked_sub(1)?).copied()
    }

    /// `enum db_bbr_ack_phase`, which begins with "none".
    fn bbr_ack_phase(&self) -> Option<BbrAckPhase> {
        use BbrAckPhase::*;
        let phases = [Init, Refilling, ProbeStarting, ProbeFeedback, ProbeStopping];
        phases.get(usize::from(self.bbr_ack_phase).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> RawAck {
        RawAck {
            time_ns: 5_000_000_000,
            bytes_acked: 1 + (6 << 32),
            pacing_rate: u64::MAX,
            snd_una: u32::MAX - 9,
            snd_nxt: 2_888_000 - 10,
            ssthresh: INFINITE_SSTHRESH,
            mss: 1448,
            rtt_us: NONE,
            min_rtt_us: NONE,
            in_flight: 3,
            bbr_min_rtt_us: NONE,
            bbr_bw_lo: NONE,
            bbr_bw_hi: NONE,
            bbr_inflight_lo: NONE,
            bbr_inflight_hi: NONE,
            bbr_cycle: NONE,
            ..RawAck::default()
        }
    }

    #[test]
    fn sequence_numbers_count_payload_across_wraps() {
        let row = raw().row(7, Clock::new(4_000_000_000)).unwrap();
        assert_eq!((row.time.as_nanos(), row.flow), (1_000_000_000, 7));
        assert_eq!((row.snd_una_bytes, row.snd_nxt_bytes), (6 << 32, (6 << 32) + 2_888_000));
        assert_eq!(row.bytes_in_flight, 3 * 1448);
    }

    #[test]
    fn what_is_not_known_is_null() {
        let row = raw().row(0, Clock::new(0)).unwrap();
        assert_eq!((row.ssthresh_packets, row.srtt_us, row.rtt_us, row.min_rtt_us), (None, None, None, None));
        assert_eq!((row.pacing_rate_bps, row.delivery_rate_bps, row.delivery_rate_app_limited), (None, None, None));
        assert!(row.bbr.is_none());
        let row = RawAck { bbr_state: 1, ..raw() }.row(0, Clock::new(0)).unwrap();
        let bbr = row.bbr.unwrap();
        assert_eq!((bbr.state, bbr.ack_phase), (BbrState::Startup, None));
        assert_eq!((bbr.bw_bps, bbr.bw_lo_bps, bbr.bw_hi_bps, bbr.cycle), (None, None, None, None));
        assert_eq!((bbr.min_rtt_us, bbr.inflight_lo_packets, bbr.inflight_hi_packets), (None, None, None));
    }

    #[test]
    fn units_are_those_of_the_records() {
        let row = RawAck {
            pacing_rate: 1_250_000,
            rate_delivered: 10,
            rate_interval_us: 11_584,
            flags: APP_LIMITED,
            bbr_state: 7,
            bbr_ack_phase: 4,
            // One packet per ms.
            bbr_bw: (1 << BW_SHIFT) / 1000,
            bbr_pacing_gain: 320,
            bbr_cwnd_gain: 512,
            ..raw()
        };
        let row = row.row(0, Clock::new(0)).unwrap();
        assert_eq!((row.pacing_rate_bps, row.delivery_rate_bps), (Some(10_000_000), Some(10_000_000)));
        assert_eq!(row.delivery_rate_app_limited, Some(true));
        let bbr = row.bbr.unwrap();
        assert_eq!((bbr.state, bbr.ack_phase), (BbrState::ProbeBwUp, Some(BbrAckPhase::ProbeFeedback)));
        let bw = bbr.bw_bps.unwrap();
        assert!((11_583_000..=11_584_000).contains(&bw), "{bw}");
        assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (1.25, 2.0));
    }

    #[test]
    fn words_of_another_version_are_no_row() {
        for wrong in [
            RawAck { moment: 3, ..raw() },
            RawAck { ca_state: 5, ..raw() },
            RawAck { bbr_state: 9, ..raw() },
            RawAck { bbr_state: 1, bbr_ack_phase: 6, ..raw() },
        ] {
            assert!(wrong.row(0, Clock::new(0)).is_none(), "{wrong:?}");
        }
        assert!(RawAck::parse(&[0; 143]).is_none());
        assert!(RawAck::parse(&[0; 152]).is_some());
    }
}
