use super::{Effects, Impairment};
use crate::chance::Chance;
use plan::Stream;

/// A bit of some packets is flipped.
#[derive(Clone, Debug)]
pub(crate) struct Corruption {
    chance: Chance,
    which_bit: Stream,
    packets: u64,
}

impl Impairment for Corruption {
    fn new(link: &plan::Link, seed: u64) -> Corruption {
        Corruption {
            chance: Chance::new(link.corruption.unwrap_or_default(), seed, &format!("{}/corruption", link.name)),
            which_bit: Stream::new(seed, &format!("{}/corrupted-bit", link.name)),
            packets: 0,
        }
    }

    fn configure(&mut self, link: &plan::Link) {
        self.chance.configure(link.corruption.unwrap_or_default());
    }

    fn acts(&self) -> bool {
        self.chance.acts()
    }

    fn skip(&mut self, packets: u64) {
        self.chance.skip(packets);
        self.packets += packets;
    }

    fn next(&mut self, effects: &mut Effects) {
        let n = self.packets;
        self.packets += 1;
        if self.chance.next() {
            effects.flipped_bit = Some((self.which_bit.at(n) >> 32) as u32);
        }
    }
}
