//! Fixed-point arithmetic of BBR (spec section 1): bandwidth in packets per us << 24, gains and fractions of 256.
//! Products that overflow 64 bits saturate: no path that exists comes near.

use crate::RateSample;

/// Fraction bits of a bandwidth: a unit is about 715 bit/s at 1500 bytes.
pub(super) const BW_SHIFT: u32 = 24;
/// Fraction bits of a gain.
pub(super) const GAIN_SHIFT: u32 = 8;
/// A gain of 1.
pub(super) const UNIT: u32 = 1 << GAIN_SHIFT;
/// No bound is set.
pub(super) const INF: u32 = u32::MAX;
/// No bound of bandwidth is set.
pub(super) const INF_BW: u64 = u64::MAX;

/// The delivery rate of `rs`, rounded down (BBRv1) or up (v2, v3: spec section 7 step 3); 0: no sample.
pub(super) fn delivery_rate(rs: &RateSample, round_up: bool) -> u64 {
    if rs.interval_us <= 0 || rs.delivered < 0 {
        return 0;
    }
    let (delivered, interval) = ((rs.delivered as u64) << BW_SHIFT, rs.interval_us as u64);
    if round_up { delivered.div_ceil(interval) } else { delivered / interval }
}

/// `volume * fraction / 256`, rounded down.
pub(super) fn scale(volume: u32, fraction: u32) -> u32 {
    u32::try_from((u64::from(volume) * u64::from(fraction)) >> GAIN_SHIFT).unwrap_or(INF)
}

/// `bw * fraction / 256`, rounded down.
pub(super) fn scale_bw(bw: u64, fraction: u32) -> u64 {
    bw.saturating_mul(u64::from(fraction)) >> GAIN_SHIFT
}

/// Packets that `bw` delivers in `us`, rounded down.
pub(super) fn packets(bw: u64, us: u64) -> u32 {
    u32::try_from(bw.saturating_mul(us) >> BW_SHIFT).unwrap_or(INF)
}

/// `gain * bw * min_rtt`, rounded up to whole packets (spec section 5).
pub(super) fn bdp(bw: u64, min_rtt_us: u32, gain: u32) -> u32 {
    let scaled = scale_bw(bw.saturating_mul(u64::from(min_rtt_us)), gain);
    u32::try_from(scaled.div_ceil(1 << BW_SHIFT)).unwrap_or(INF)
}

/// `gain * bw` as a pacing rate with the margin of 1 %, bytes per second, 1 at least (spec section 11).
pub(super) fn pacing_rate(bw: u64, mss: u32, gain: u32) -> u64 {
    const US_PER_S_WITH_MARGIN: u64 = 990_000;
    let bytes = scale_bw(bw.saturating_mul(u64::from(mss)), gain);
    (bytes.saturating_mul(US_PER_S_WITH_MARGIN) >> BW_SHIFT).max(1)
}

#[cfg(test)]
mod tests {
    //! The check values of spec section 16.
    use super::*;

    /// 87 packets in 20 ms.
    const BW: u64 = 72_981;

    #[test]
    fn the_delivery_rate_is_rounded_up_in_v2_and_v3_and_down_in_v1() {
        let rs = RateSample { delivered: 87, interval_us: 20_000, ..RateSample::default() };
        assert_eq!(delivery_rate(&rs, true), BW);
        assert_eq!(delivery_rate(&rs, false), BW - 1);
        assert_eq!(delivery_rate(&RateSample { interval_us: 0, ..rs }, true), 0);
        assert_eq!((BW * 1448 * 1_000_000) >> BW_SHIFT, 6_298_809);
    }

    #[test]
    fn the_bdp_is_rounded_up() {
        let bdps = [256, 320, 512, 128].map(|gain| bdp(BW, 20_000, gain));
        assert_eq!(bdps, [88, 109, 175, 44]);
    }

    #[test]
    fn the_pacing_rate_has_a_margin_of_1_percent() {
        let rates = [710, 739, 88, 192, 232, 256, 320].map(|gain| pacing_rate(BW, 1448, gain));
        assert_eq!(rates, [17_294_660, 18_001_062, 2_143_563, 4_676_866, 5_651_213, 6_235_821, 7_794_776]);
    }

    #[test]
    fn the_beta_chain_from_1000() {
        let mut volume = 1000;
        for expected in [703, 494, 347, 243, 170] {
            volume = scale(volume, 180);
            assert_eq!(volume, expected);
        }
    }
}
