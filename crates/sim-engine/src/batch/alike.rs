use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::Run;

/// Runs of one shard that are determined by the same, such as two cells whose values make the same plan: the first of
/// them is carried out.
#[derive(Debug)]
pub(super) struct Alike {
    /// Place among the runs to carry out, and index, of the first ones.
    order: Vec<(usize, usize)>,
    /// Index of a first one -> the others that are equal.
    others: HashMap<usize, Vec<usize>>,
}

impl Alike {
    pub(super) fn new(runs: &[Run], shards: &[Range<usize>]) -> Alike {
        let (mut order, mut others) = (Vec::new(), HashMap::<usize, Vec<usize>>::new());
        let mut place = 0;
        for shard in shards {
            let mut firsts = HashMap::new();
            for index in shard.clone() {
                match firsts.entry((&runs[index].id, runs[index].seed)) {
                    Entry::Vacant(free) => {
                        free.insert(index);
                        order.push((place, index));
                    }
                    Entry::Occupied(first) => others.entry(*first.get()).or_default().push(index),
                }
                place += 1;
            }
        }
        Alike { order, others }
    }

    /// The runs to carry out, each with its place among those that are missing.
    pub(super) fn order(&self) -> &[(usize, usize)] {
        &self.order
    }

    /// The runs that are equal to one of `order`.
    pub(super) fn others(&self, index: usize) -> &[usize] {
        self.others.get(&index).map_or(&[], Vec::as_slice)
    }
}
