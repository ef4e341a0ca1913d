/// A stream of random numbers that is indexed, not drawn from: number n is the same whenever it is asked for.
///
/// The fate of the nth packet therefore doesn't depend on timing, and a new link doesn't shift another link's
/// randomness. The mixing function is SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", OOPSLA 2014), applied to a key of seed and element name and to the index.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// The stream of one element, e.g. `bottleneck/loss-before`, of a run with `seed`.
    pub fn new(seed: u64, element: &str) -> Stream {
        let name = element.bytes().fold(GOLDEN_GAMMA, |key, byte| mix(key ^ u64::from(byte)));
        Stream { key: mix(mix(seed) ^ name) }
    }

    /// The number at `index`, uniform over all of `u64`.
    pub fn at(&self, index: u64) -> u64 {
        mix(self.key.wrapping_add(GOLDEN_GAMMA.wrapping_mul(index.wrapping_add(1))))
    }
}

/// SplitMix64's finaliser: every bit of the result depends on every bit of the argument.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_give_the_same_numbers() {
        let a = Stream::new(7, "bottleneck/loss-before");
        let b = Stream::new(7, "bottleneck/loss-before");
        assert!((0..1000).all(|i| a.at(i) == b.at(i)));
    }

    #[test]
    fn seeds_and_names_are_independent() {
        let base = Stream::new(1, "x");
        for other in [Stream::new(2, "x"), Stream::new(1, "y"), Stream::new(1, "xx"), Stream::new(1, "")] {
            // Equal bits of independent numbers: mean 32 of 64, standard deviation 4; the mean of 4096 has 1/16.
            let equal: u32 = (0..4096).map(|i| (base.at(i) ^ other.at(i)).count_zeros()).sum();
            let mean = f64::from(equal) / 4096.0;
            assert!((mean - 32.0).abs() < 5.0 / 16.0, "mean {mean} equal bits");
        }
    }

    #[test]
    fn numbers_are_uniform() {
        // Chi-square over 256 bins of the top byte; 330.5 is its 99.9 % quantile at 255 degrees of freedom.
        let stream = Stream::new(3, "uniform");
        let mut bins = [0u32; 256];
        let n = 1 << 16;
        (0..n).for_each(|i| bins[(stream.at(i) >> 56) as usize] += 1);
        let expected = n as f64 / 256.0;
        let chi2: f64 = bins.iter().map(|&o| (f64::from(o) - expected).powi(2) / expected).sum();
        assert!(chi2 < 330.5, "chi-square {chi2}");
    }
}
