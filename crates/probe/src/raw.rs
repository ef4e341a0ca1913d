//! A row as the kernel's programs write it: `struct db_ack` of `bpf/include/dumbbell/ack.h`, from which build.rs makes it.

use std::net::{IpAddr, Ipv6Addr};

use cc::State;
use cc::state::NONE as DB_NONE;
use realtime::Clock;
use records::acks::{Ack, Moment};
use records::samples::CaState;

include!(concat!(env!("OUT_DIR"), "/ack.rs"));

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl RawAck {
    /// Parses a record of the ring; that of a later version is longer.
    pub fn parse(bytes: &[u8]) -> Option<RawAck> {
        // SAFETY: as many bytes as it takes, and any bytes are a row: it is integers without padding.
        (bytes.len() >= size_of::<RawAck>()).then(|| unsafe { bytes.as_ptr().cast::<RawAck>().read_unaligned() })
    }

    /// The address of the remote end.
    pub fn remote(&self) -> IpAddr {
        if self.remote_ipv6 == [0; 4] {
            return self.remote_address.to_ne_bytes().into();
        }
        let mut octets = [0; 16];
        for (place, word) in octets.chunks_exact_mut(4).zip(self.remote_ipv6) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        IpAddr::V6(Ipv6Addr::from(octets))
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
            state: State::published(self.state_of, self.state)?,
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
            state: [DB_NONE; 12],
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
    fn the_remote_end_has_an_address_of_either_version() {
        let words = [0xfd00_0000_u32, 1, 0, 3].map(u32::to_be);
        let row = RawAck { remote_ipv6: words, ..raw() };
        assert_eq!(row.remote(), "fd00:0:0:1::3".parse::<IpAddr>().unwrap());
        let row = RawAck { remote_address: u32::from_ne_bytes([10, 0, 0, 3]), ..raw() };
        assert_eq!(row.remote(), IpAddr::from([10, 0, 0, 3]));
    }

    #[test]
    fn what_is_not_known_is_null() {
        let row = raw().row(0, Clock::new(0)).unwrap();
        assert_eq!((row.ssthresh_packets, row.srtt_us, row.rtt_us, row.min_rtt_us), (None, None, None, None));
        assert_eq!((row.pacing_rate_bps, row.delivery_rate_bps, row.delivery_rate_app_limited), (None, None, None));
        assert!(row.state.is_empty());
    }

    #[test]
    fn units_are_those_of_the_records() {
        let row = RawAck {
            pacing_rate: 1_250_000,
            rate_delivered: 10,
            rate_interval_us: 11_584,
            flags: DB_ACK_APP_LIMITED,
            ..raw()
        };
        let row = row.row(0, Clock::new(0)).unwrap();
        assert_eq!((row.pacing_rate_bps, row.delivery_rate_bps), (Some(10_000_000), Some(10_000_000)));
        assert_eq!(row.delivery_rate_app_limited, Some(true));
    }

    #[test]
    fn what_an_algorithm_publishes_is_its_state() {
        let published = cc::state::DctcpState { alpha: 512 };
        let of = 1 + cc::state::STATE_SETS.iter().position(|set| set.name == "dctcp").unwrap() as u8;
        let mut row = raw();
        (row.state_of, row.state[0]) = (of, 512);
        assert_eq!(row.row(0, Clock::new(0)).unwrap().state, State::from(published));
    }

    #[test]
    fn every_word_of_the_header_is_known() {
        let row = |raw: RawAck| raw.row(0, Clock::new(0)).unwrap();
        for at in 0..DB_ACK_MOMENT.len() {
            row(RawAck { moment: at as u8, ..raw() });
        }
    }

    #[test]
    fn words_of_another_version_are_no_row() {
        for wrong in [
            RawAck { moment: 3, ..raw() },
            RawAck { ca_state: 5, ..raw() },
            RawAck { state_of: 200, ..raw() },
            // A word of BBR's that there isn't.
            RawAck { state_of: 1, state: [8; 12], ..raw() },
        ] {
            assert!(wrong.row(0, Clock::new(0)).is_none(), "{wrong:?}");
        }
        assert!(RawAck::parse(&[0; 167]).is_none());
        assert!(RawAck::parse(&[0; 176]).is_some());
    }
}
