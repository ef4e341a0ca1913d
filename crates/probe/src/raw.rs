//! A row as the kernel's programs write it: `struct db_ack` of `bpf/include/dumbbell/ack.h`, from which build.rs makes it.

use realtime::Clock;
use records::acks::{Ack, BbrAck, BbrAckPhase, BbrState, Moment};
use records::samples::CaState;

include!(concat!(env!("OUT_DIR"), "/ack.rs"));

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
/// Bandwidths are packets per microsecond in fixed point with as many fractional bits.
const BW_SHIFT: u32 = 24;

impl RawAck {
    /// Parses a record of the ring; that of a later version is longer.
    pub fn parse(bytes: &[u8]) -> Option<RawAck> {
        // SAFETY: as many bytes as it takes, and any bytes are a row: it is integers without padding.
        (bytes.len() >= size_of::<RawAck>()).then(|| unsafe { bytes.as_ptr().cast::<RawAck>().read_unaligned() })
    }

    /// Converts it to a row of `flow`. `None` if it has an unknown code.
    pub fn row(&self, flow: u16, clock: Clock) -> Option<Ack> {
        let known = |value: u32| (value != DB_NONE).then_some(value);
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
            delivery_rate_app_limited: rated.then_some(self.flags & DB_ACK_APP_LIMITED != 0),
            delivered_packets: self.delivered,
            delivered_ce_packets: self.delivered_ce,
            lost_packets: self.lost_out,
            lost_total_packets: self.lost,
            retransmitted_segments: self.total_retrans,
            ca_state: self.ca_state()?,
            snd_una_bytes,
            snd_nxt_bytes: snd_una_bytes + u64::from(self.snd_nxt.wrapping_sub(self.snd_una)),
            bbr: if self.bbr_state == DB_BBR_NONE { None } else { Some(self.bbr()?) },
        })
    }

    fn bbr(&self) -> Option<BbrAck> {
        let known = |value: u32| (value != DB_NONE).then_some(value);
        let bps = |bw: u32| ((u128::from(bw) * u128::from(self.mss) * 8_000_000) >> BW_SHIFT) as u64;
        let gain = |gain: u16| f32::from(gain) / 256.0;
        Some(BbrAck {
            state: self.bbr_state()?,
            ack_phase: if self.bbr_ack_phase == DB_BBR_ACKS_NONE { None } else { Some(self.bbr_ack_phase()?) },
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
        Some(match self.moment {
            DB_ACK_BEFORE => Moment::Before,
            DB_ACK_AFTER => Moment::After,
            DB_ACK_CLOSE => Moment::Close,
            _ => return None,
        })
    }

    fn ca_state(&self) -> Option<CaState> {
        let states = [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss];
        states.get(usize::from(self.ca_state)).copied()
    }

    fn bbr_state(&self) -> Option<BbrState> {
        Some(match self.bbr_state {
            DB_BBR_STARTUP => BbrState::Startup,
            DB_BBR_DRAIN => BbrState::Drain,
            DB_BBR_PROBE_BW => BbrState::ProbeBw,
            DB_BBR_PROBE_BW_DOWN => BbrState::ProbeBwDown,
            DB_BBR_PROBE_BW_CRUISE => BbrState::ProbeBwCruise,
            DB_BBR_PROBE_BW_REFILL => BbrState::ProbeBwRefill,
            DB_BBR_PROBE_BW_UP => BbrState::ProbeBwUp,
            DB_BBR_PROBE_RTT => BbrState::ProbeRtt,
            _ => return None,
        })
    }

    fn bbr_ack_phase(&self) -> Option<BbrAckPhase> {
        Some(match self.bbr_ack_phase {
            DB_BBR_ACKS_INIT => BbrAckPhase::Init,
            DB_BBR_ACKS_REFILLING => BbrAckPhase::Refilling,
            DB_BBR_ACKS_PROBE_STARTING => BbrAckPhase::ProbeStarting,
            DB_BBR_ACKS_PROBE_FEEDBACK => BbrAckPhase::ProbeFeedback,
            DB_BBR_ACKS_PROBE_STOPPING => BbrAckPhase::ProbeStopping,
            _ => return None,
        })
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
            rtt_us: DB_NONE,
            min_rtt_us: DB_NONE,
            in_flight: 3,
            bbr_min_rtt_us: DB_NONE,
            bbr_bw_lo: DB_NONE,
            bbr_bw_hi: DB_NONE,
            bbr_inflight_lo: DB_NONE,
            bbr_inflight_hi: DB_NONE,
            bbr_cycle: DB_NONE,
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
            flags: DB_ACK_APP_LIMITED,
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
    fn every_word_of_the_header_is_known() {
        let row = |raw: RawAck| raw.row(0, Clock::new(0)).unwrap();
        for at in 0..DB_ACK_MOMENT.len() {
            row(RawAck { moment: at as u8, ..raw() });
        }
        for (at, name) in DB_BBR_STATE.iter().enumerate() {
            let bbr = row(RawAck { bbr_state: at as u8, ..raw() }).bbr;
            assert_eq!(bbr.is_none(), *name == "DB_BBR_NONE", "{name}");
        }
        for (at, name) in DB_BBR_ACK_PHASE.iter().enumerate() {
            let bbr = row(RawAck { bbr_state: DB_BBR_DRAIN, bbr_ack_phase: at as u8, ..raw() }).bbr.unwrap();
            assert_eq!(bbr.ack_phase.is_none(), *name == "DB_BBR_ACKS_NONE", "{name}");
        }
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
