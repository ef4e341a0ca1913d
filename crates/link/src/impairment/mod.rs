//! Impairments: what happens to packets by chance or as a record says, before the queue and behind the serializer.
//!
//! Impairments of the way itself (jitter, reordering) are in `delay`.

mod corruption;
mod duplication;
mod loss;
mod marking;

use crate::packet::{Fate, Mark, Passage};
use corruption::Corruption;
use duplication::Duplication;
use loss::Loss;
use marking::Marking;

/// An impairment: a pure state machine that sees each packet in turn, also one that another impairment loses. So the nth
/// packet's fate depends on the seed, the link's name and n alone.
///
/// Each has a file of its own, and a line among the `impairments!` below.
pub(crate) trait Impairment {
    /// An impairment with the parameters of `link`. It draws from streams that the link's name and its own tell apart.
    fn new(link: &plan::Link, seed: u64) -> Self;

    /// Sets other parameters from the next packet on, which keeps its number.
    fn configure(&mut self, link: &plan::Link);

    /// True if it can do anything to a packet.
    fn acts(&self) -> bool;

    /// Counts packets that passed while inactive.
    fn skip(&mut self, packets: u64);

    /// The next packet.
    fn next(&mut self, effects: &mut Effects);
}

/// The effects of impairments on a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effects {
    /// True if the packet is lost here.
    pub is_lost: bool,
    /// True if a copy follows the packet, unless the packet is lost.
    pub is_duplicated: bool,
    /// Congestion Experienced is set, if it is ECN-capable.
    pub is_marked: bool,
    /// A bit of it is flipped: a uniform random number that says which.
    pub flipped_bit: Option<u32>,
}

impl Effects {
    /// Carry them out on a packet that has left the serializer.
    pub(crate) fn apply_to(self, passage: &mut Passage) {
        if self.is_marked {
            passage.set_ce(Mark::Random);
        }
        passage.corruption = self.flipped_bit;
        passage.fate = if self.is_lost { Fate::LostAfter } else { Fate::Delivered };
    }
}

/// The impairments at each place of a link, in the order in which packets meet them.
macro_rules! impairments {
    ($($(#[$doc:meta])* $place:ident { $($name:ident: $impairment:ty),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $place {
            $($name: $impairment,)*
            /// Any of them acts. If none does, packets are only counted, and told to them when one may.
            acts: bool,
            idle: u64,
        }

        impl $place {
            pub(crate) fn new(link: &plan::Link, seed: u64) -> $place {
                let place = $place { $($name: <$impairment>::new(link, seed),)* acts: false, idle: 0 };
                $place { acts: place.acts(), ..place }
            }

            fn acts(&self) -> bool {
                $(self.$name.acts())||*
            }

            pub(crate) fn configure(&mut self, link: &plan::Link) {
                let idle = std::mem::take(&mut self.idle);
                $(
                    self.$name.skip(idle);
                    self.$name.configure(link);
                )*
                self.acts = self.acts();
            }

            /// Their effects on the next packet.
            #[inline(always)]
            pub(crate) fn next(&mut self) -> Effects {
                let mut effects = Effects::default();
                if !self.acts {
                    self.idle += 1;
                    return effects;
                }
                $(self.$name.next(&mut effects);)*
                effects
            }
        }
    )*};
}

impairments! {
    /// The impairments of packets that come to the link, before the policer and the queue. Copies that it makes are spared.
    Before {
        loss: Loss<true>,
        duplication: Duplication
    }
    /// The impairments of packets that have left the serializer.
    After {
        loss: Loss<false>,
        corruption: Corruption,
        marking: Marking
    }
}
