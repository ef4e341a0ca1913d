/// Which of many queues has most bytes: a tournament tree.
///
/// A change costs as many steps as the winners above it change, one or two for most; a search costs the tree's height.
/// So a queue that is always full costs no more than another, however many flows there are.
#[derive(Clone, Debug)]
pub(super) struct Fattest {
    /// The root at 1, the children of node n at 2n and 2n + 1; the second half are the queues.
    most: Vec<u64>,
}

impl Fattest {
    /// `count` empty queues.
    pub(super) fn new(count: usize) -> Fattest {
        Fattest { most: vec![0; 2 * count.next_power_of_two()] }
    }

    /// What `queue` holds.
    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.most[self.most.len() / 2 + queue as usize]
    }

    /// `queue` holds `bytes` now.
    pub(super) fn set(&mut self, queue: u32, bytes: u64) {
        let mut node = self.most.len() / 2 + queue as usize;
        self.most[node] = bytes;
        while node > 1 {
            node /= 2;
            let most = self.most[2 * node].max(self.most[2 * node + 1]);
            if self.most[node] == most {
                break;
            }
            self.most[node] = most;
        }
    }

    /// The queue that holds most, the first of equals.
    pub(super) fn find(&self) -> u32 {
        let leaves = self.most.len() / 2;
        let mut node = 1;
        while node < leaves {
            node *= 2;
            if self.most[node + 1] > self.most[node] {
                node += 1;
            }
        }
        (node - leaves) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn it_finds_what_a_search_of_all_finds() {
        for count in [1, 2, 3, 64, 100] {
            let (mut tree, mut all) = (Fattest::new(count), vec![0; count]);
            let random = Stream::new(1, "fattest");
            for step in 0..2_000 {
                let queue = (random.at(2 * step) % count as u64) as usize;
                all[queue] = random.at(2 * step + 1) % 50;
                tree.set(queue as u32, all[queue]);
                let most = *all.iter().max().unwrap();
                assert_eq!(tree.find() as usize, all.iter().position(|&bytes| bytes == most).unwrap());
                assert_eq!(tree.bytes(queue as u32), all[queue]);
            }
        }
    }
}
