//! Rows as bytes, for a program that makes tables of them later.

use cc::State;
use link::{Backlog, Counters, Ecn, Fate, Mark, Packet, Passage, Reordered};
use units::{Duration, Time};

use crate::acks::{Ack, Moment};
use crate::links::LinkRow;
use crate::packets::PacketRow;
use crate::samples::{Account, BbrSample, CaState, QuicSample, Sample, TcpSample};

/// How rows become bytes, and are read from them.
pub struct Encoding<R> {
    /// Appends a row's bytes.
    pub put: fn(&R, &mut Vec<u8>),
    /// Takes a row off the front of bytes; `None` if they are no row's.
    pub take: fn(&mut &[u8]) -> Option<R>,
}

/// The encoding of rows that have one.
pub(crate) const fn of<R: Encoded>() -> Option<Encoding<R>> {
    Some(Encoding { put: R::put, take: R::take })
}

/// A value that is read from its bytes again, and from no others.
pub(crate) trait Encoded: Sized {
    fn put(&self, to: &mut Vec<u8>);
    fn take(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Encoded for $number {
            #[inline]
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })*
    };
}

numbers!(u8 u16 u32 u64 i64 f32);

impl Encoded for bool {
    #[inline]
    fn put(&self, to: &mut Vec<u8>) {
        u8::from(*self).put(to);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Encoded> Encoded for Option<T> {
    #[inline]
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<T: Encoded + Copy + Default, const N: usize> Encoded for [T; N] {
    #[inline]
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(to));
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut values = [T::default(); N];
        for value in &mut values {
            *value = T::take(from)?;
        }
        Some(values)
    }
}

impl Encoded for State {
    fn put(&self, to: &mut Vec<u8>) {
        let (of, values) = self.parts();
        of.put(to);
        values.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        State::published(u8::take(from)?, Encoded::take(from)?)
    }
}

impl Encoded for Account {
    #[inline]
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Account::Tcp(tcp) => {
                0_u8.put(to);
                tcp.put(to);
            }
            Account::Quic(quic) => {
                1_u8.put(to);
                quic.put(to);
            }
        }
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => TcpSample::take(from).map(Account::Tcp),
            1 => QuicSample::take(from).map(Account::Quic),
            _ => None,
        }
    }
}

/// Enumerations, by their variants. The compiler says which one is missing.
macro_rules! variants {
    ($($of:ident: $($variant:ident)*;)*) => {
        $(impl Encoded for $of {
            #[inline]
            fn put(&self, to: &mut Vec<u8>) {
                match self {
                    $($of::$variant => ($of::$variant as u8).put(to),)*
                }
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let byte = u8::take(from)?;
                [$($of::$variant),*].into_iter().find(|&variant| variant as u8 == byte)
            }
        })*
    };
}

variants! {
    CaState: Open Disorder Cwr Recovery Loss;
    Ecn: NotEct Ect1 Ect0 Ce;
    Fate: Delivered DroppedTail DroppedHead DroppedEarly DroppedPoliced DroppedDelayLine DroppedDown LostBefore LostAfter
        Inside;
    Mark: Early Threshold Coupled Random;
    Moment: Before After Close;
    Reordered: ShorterDelay SkippedDelay;
}

/// Structures, by their fields. The compiler says which one is missing.
macro_rules! fields {
    ($($of:ident { $($field:tt)* })*) => {
        $(impl Encoded for $of {
            #[inline]
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$field.put(to);)*
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some($of { $($field: Encoded::take(from)?),* })
            }
        })*
    };
}

pub(crate) use fields;

fields! {
    Time { 0 }
    Duration { 0 }
    Sample { time flow socket bytes_sent received_bytes lost_packets account }
    QuicSample { cwnd_bytes ssthresh_bytes datagram_bytes srtt_us rttvar_us min_rtt_us bytes_in_flight pacing_rate_bps
        bandwidth_bps }
    TcpSample { cwnd_packets ssthresh_packets snd_mss_bytes srtt_us rttvar_us min_rtt_us bytes_in_flight pacing_rate_bps
        delivery_rate_bps delivery_rate_app_limited retransmitted_segments ca_state bytes_acked bytes_retransmitted
        delivered_packets delivered_ce_packets busy_us rwnd_limited_us sndbuf_limited_us bbr }
    BbrSample { bw_bps min_rtt_us pacing_gain cwnd_gain }
    Ack { time flow socket moment cwnd_packets ssthresh_packets snd_mss_bytes srtt_us rtt_us min_rtt_us bytes_in_flight
        pacing_rate_bps delivery_rate_bps delivery_rate_app_limited delivered_packets delivered_ce_packets lost_packets
        lost_total_packets retransmitted_segments ca_state snd_una_bytes snd_nxt_bytes state }
    PacketRow { link payload_bytes tcp_seq passage sent }
    Passage { packet arrival queue_bytes queue_packets sojourn departure delivery fate mark duplicate reordered corruption }
    Packet { id size handle flow_hash flow from to sender receiver ecn }
    LinkRow { time link counters backlog queue_bytes_max capacity_bytes }
    Counters { arrived_packets arrived_bytes duplicated_packets departed_packets departed_bytes delivered_bytes
        marked_packets reordered_packets corrupted_packets ended }
    Backlog { bytes packets }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(row: &impl Encoded) -> Vec<u8> {
        let mut bytes = Vec::new();
        row.put(&mut bytes);
        bytes
    }

    /// A row of each kind, with all that is optional.
    fn check(row: &(impl Encoded + std::fmt::Debug)) {
        fn take<T: Encoded>(_: &T, mut bytes: &[u8]) -> (Option<T>, usize) {
            (T::take(&mut bytes), bytes.len())
        }
        let bytes = bytes_of(row);
        let (again, left) = take(row, &bytes);
        assert_eq!((format!("{:?}", again.unwrap()), left), (format!("{row:?}"), 0));
        for end in 0..bytes.len() {
            assert!(take(row, &bytes[..end]).0.is_none(), "{row:?} from its first {end} bytes");
        }
        // Whatever a byte is, a row comes out that has the same bytes again, or none.
        for at in 0..bytes.len() {
            for byte in [0, 1, 2, 3, 4, 5, 9, 10, 128, 255] {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                let (read, left) = take(row, &bytes);
                if let Some(read) = read.filter(|_| left == 0) {
                    let same = bytes_of(&read) == bytes;
                    assert!(same || format!("{read:?}").contains("state: State { of: 0"), "byte {at} is {byte}");
                }
            }
        }
    }

    #[test]
    fn rows_come_back_and_other_bytes_are_none() {
        let bbr = BbrSample { bw_bps: 7, min_rtt_us: 8, pacing_gain: 1.25, cwnd_gain: 2.0 };
        let tcp = TcpSample {
            cwnd_packets: 10,
            ssthresh_packets: Some(11),
            snd_mss_bytes: 12,
            srtt_us: Some(13),
            rttvar_us: None,
            min_rtt_us: Some(15),
            bytes_in_flight: 16,
            pacing_rate_bps: Some(17),
            delivery_rate_bps: Some(18),
            delivery_rate_app_limited: true,
            retransmitted_segments: 20,
            ca_state: CaState::Recovery,
            bytes_acked: 22,
            bytes_retransmitted: 23,
            delivered_packets: 24,
            delivered_ce_packets: 25,
            busy_us: 26,
            rwnd_limited_us: 27,
            sndbuf_limited_us: 28,
            bbr: Some(bbr),
        };
        let (time, flow, socket) = (Time(-1), 2, 3);
        let of_tcp = Sample {
            time,
            flow,
            socket,
            bytes_sent: 4,
            received_bytes: Some(5),
            lost_packets: 6,
            account: Some(Account::Tcp(tcp)),
        };
        check(&of_tcp);
        let quic = QuicSample {
            cwnd_bytes: 1,
            ssthresh_bytes: Some(2),
            datagram_bytes: 3,
            srtt_us: Some(4),
            rttvar_us: None,
            min_rtt_us: Some(6),
            bytes_in_flight: Some(7),
            pacing_rate_bps: Some(8),
            bandwidth_bps: None,
        };
        check(&Sample { account: Some(Account::Quic(quic)), ..of_tcp });
        check(&Ack {
            time,
            flow,
            socket,
            moment: Moment::Close,
            cwnd_packets: 1,
            ssthresh_packets: Some(2),
            snd_mss_bytes: 3,
            srtt_us: Some(4),
            rtt_us: Some(5),
            min_rtt_us: None,
            bytes_in_flight: 7,
            pacing_rate_bps: Some(8),
            delivery_rate_bps: Some(9),
            delivery_rate_app_limited: Some(false),
            delivered_packets: 11,
            delivered_ce_packets: 12,
            lost_packets: 13,
            lost_total_packets: 14,
            retransmitted_segments: 15,
            ca_state: CaState::Loss,
            snd_una_bytes: 17,
            snd_nxt_bytes: 18,
            state: State::published(1, State::EMPTY.parts().1).unwrap(),
        });
        let packet = Packet { id: 1, size: 2, handle: 3, flow_hash: 4, flow: 5, ecn: Ecn::Ce, ..Packet::default() };
        let passage = Passage {
            packet,
            arrival: Time(1),
            queue_bytes: 2,
            queue_packets: 3,
            sojourn: Some(Duration(4)),
            departure: Some(Time(5)),
            delivery: None,
            fate: Fate::LostAfter,
            mark: Some(Mark::Random),
            duplicate: true,
            reordered: Some(Reordered::SkippedDelay),
            corruption: Some(8),
        };
        check(&PacketRow { link: 1, payload_bytes: 2, tcp_seq: Some(3), passage, sent: Some(Time(9)) });
        let counters =
            Counters { arrived_packets: 1, ended: std::array::from_fn(|at| at as u64), ..Counters::default() };
        let backlog = Backlog { bytes: 5, packets: 6 };
        check(&LinkRow { time, link: 1, counters, backlog, queue_bytes_max: 7, capacity_bytes: Some(8) });
        check(&crate::kinds::PingRow { flow, number: 1, sent: time, rtt: Some(Duration(4)), is_lost: true });
        check(&crate::kinds::RequestRow {
            flow,
            number: 1,
            issued: time,
            request_bytes: 4,
            answer_bytes: 5,
            completion: Some(Duration(6)),
            ideal: Some(Duration(7)),
        });
    }
}
