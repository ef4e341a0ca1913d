use super::{Effects, Impairment};
use crate::chance::Chance;

/// Some packets come twice.
#[derive(Clone, Debug)]
pub(crate) struct Duplication(Chance);

impl Impairment for Duplication {
    fn new(link: &plan::Link, seed: u64) -> Duplication {
        Duplication(Chance::new(link.duplication.unwrap_or_default(), seed, &format!("{}/duplication", link.name)))
    }

    fn configure(&mut self, link: &plan::Link) {
        self.0.configure(link.duplication.unwrap_or_default());
    }

    fn acts(&self) -> bool {
        self.0.acts()
    }

    fn skip(&mut self, packets: u64) {
        self.0.skip(packets);
    }

    fn next(&mut self, effects: &mut Effects) {
        effects.is_duplicated = self.0.next();
    }
}
