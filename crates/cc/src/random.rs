/// A stream of random numbers: the kernel's `get_random_u32_below`, but from a seed.
///
/// The generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
/// Its whole state is one number, so that a flow's stream costs eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream that belongs to `seed`.
    pub const fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Uniform over all of `u32`.
    pub fn next_u32(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 32) as u32
    }

    /// Uniform over 0..`bound`: the high word of the product, as a BPF program draws it too.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        assert!((0..1000).all(|_| a.next_u32() == b.next_u32()));
    }

    #[test]
    fn every_value_below_the_bound_is_drawn_about_as_often() {
        let mut random = Random::new(1);
        let mut bins = [0u32; 7];
        (0..70_000).for_each(|_| bins[random.below(7) as usize] += 1);
        assert!(bins.iter().all(|&n| n.abs_diff(10_000) < 500), "{bins:?}");
    }
}
