/// Finds the queue with the most bytes: a tournament tree that is updated on request.
///
/// A queue that changes costs next to nothing while there is room for all. Without room each search takes a few steps
/// (at most the logarithm of the number of queues): a queue that is always full costs no search of all flows.
#[derive(Clone, Debug)]
pub(super) struct Backlogs {
    /// The root at 1, the children of node n at 2n and 2n + 1; the second half are the queues, always right.
    most: Vec<u64>,
    /// Queues that changed since the last search, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl Backlogs {
    /// `count` empty queues.
    pub(super) fn new(count: usize) -> Backlogs {
        let most = vec![0; 2 * count.next_power_of_two()];
        Backlogs { most, changed: Vec::with_capacity(count), is_changed: vec![false; count] }
    }

    /// Bytes in `queue`.
    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.most[self.leaf(queue)]
    }

    /// `queue` holds `bytes` now.
    pub(super) fn set(&mut self, queue: u32, bytes: u64) {
        let leaf = self.leaf(queue);
        self.most[leaf] = bytes;
        if !std::mem::replace(&mut self.is_changed[queue as usize], true) {
            self.changed.push(queue);
        }
    }

    /// The queue that holds most, the first of equals.
    pub(super) fn find(&mut self) -> u32 {
        while let Some(queue) = self.changed.pop() {
            self.is_changed[queue as usize] = false;
            self.update(queue);
        }
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

    fn leaf(&self, queue: u32) -> usize {
        self.most.len() / 2 + queue as usize
    }

    /// Winners above a queue.
    fn update(&mut self, queue: u32) {
        let mut node = self.leaf(queue);
        while node > 1 {
            node /= 2;
            let most = self.most[2 * node].max(self.most[2 * node + 1]);
            if self.most[node] == most {
                break;
            }
            self.most[node] = most;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Stream;

    #[test]
    fn it_finds_what_a_search_of_all_finds() {
        for count in [1, 2, 3, 64, 100] {
            let (mut tree, mut all) = (Backlogs::new(count), vec![0; count]);
            let random = Stream::new(1, "backlogs");
            for step in 0..2_000 {
                let queue = (random.at(2 * step) % count as u64) as usize;
                all[queue] = random.at(2 * step + 1) % 50;
                tree.set(queue as u32, all[queue]);
                assert_eq!(tree.bytes(queue as u32), all[queue]);
                if step % 7 < 4 {
                    continue;
                }
                let most = *all.iter().max().unwrap();
                assert_eq!(tree.find() as usize, all.iter().position(|&bytes| bytes == most).unwrap());
            }
        }
    }
}
