//! How long data take on an unloaded path.

use units::{Duration, Ip, Mtu};

use crate::{Link, Network, Plan};

/// The path of a TCP connection without other traffic, there and back, as its links are at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ideal {
    there: Way,
    back: Way,
    ip: Ip,
    mtu: Mtu,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    delay: Duration,
    /// Rate in bit/s, and overhead of each frame in bytes, of each link with a rate.
    links: Vec<(u64, u32)>,
}

impl Plan {
    /// The unloaded path of each flow, in their order; `None` of flows without TCP.
    pub fn ideals(&self, network: &Network) -> Vec<Option<Ideal>> {
        let way = |links: &[usize]| Way::of(links.iter().map(|&link| &self.links[link]));
        let of = |(at, flow): (usize, &crate::Flow)| {
            let path = network.path(at);
            flow.workload.cc().map(|_| Ideal {
                there: way(&path.there),
                back: way(&path.back),
                ip: flow.ip,
                mtu: path.mtu,
            })
        };
        self.flows.iter().enumerate().map(of).collect()
    }
}

impl Ideal {
    /// The time from the first byte of a request to the last one of its answer at the client, if nothing waits: neither
    /// for other traffic, nor for windows, nor for hosts.
    pub fn completion(&self, request_bytes: u64, answer_bytes: u64) -> Duration {
        self.transfer(&self.there, request_bytes) + self.transfer(&self.back, answer_bytes)
    }

    /// Propagation, and the longest time of any link: the first frame on the links before it, all frames on it, and the
    /// last frame on the links behind it.
    fn transfer(&self, way: &Way, bytes: u64) -> Duration {
        let mss = u64::from(self.mtu.segment_bytes(self.ip));
        let headers = u64::from(self.mtu.frame_bytes()) - mss;
        let frames = bytes.div_ceil(mss).max(1);
        let (first, last) = (bytes.min(mss), bytes - (frames - 1) * mss);
        let ns = |payload: u64, frames: u64, &(rate, overhead): &(u64, u32)| {
            let bits = 8 * u128::from(payload + frames * (headers + u64::from(overhead)));
            // Rounded down: a link keeps the rest for the next frame, and no transfer is quicker than its ideal.
            (bits * 1_000_000_000 / u128::from(rate)) as i64
        };
        let through = |at: usize| {
            let before: i64 = way.links[..at].iter().map(|link| ns(first, 1, link)).sum();
            let behind: i64 = way.links[at + 1..].iter().map(|link| ns(last, 1, link)).sum();
            before + ns(bytes, frames, &way.links[at]) + behind
        };
        way.delay + Duration((0..way.links.len()).map(through).max().unwrap_or(0))
    }
}

impl Way {
    fn of<'a>(links: impl Iterator<Item = &'a Link> + Clone) -> Way {
        Way {
            delay: links.clone().fold(Duration::ZERO, |sum, link| sum + link.delay_ns),
            links: links.filter_map(|link| Some((link.rate_bps?.as_bps(), link.overhead_bytes))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_its_slowest_link_and_a_frame_on_each_other() {
        let way = |links: &[(u64, u32)]| Way { delay: Duration::from_millis(10), links: links.to_vec() };
        let (there, back) = (way(&[(1_000_000_000, 0), (10_000_000, 0)]), way(&[(10_000_000, 0), (1_000_000_000, 20)]));
        let ideal = Ideal { there, back, ip: Ip::V4, mtu: Mtu::default() };
        // 100 B are a frame of 166 B: 1.328 us and 132.8 us.
        let request = 10_000_000 + 1_328 + 132_800;
        // 3000 B are frames of 1514, 1514 and 170 B: 3198 B take 2,558.4 us, and the last one 1.52 us with its overhead.
        let answer = 10_000_000 + 2_558_400 + 1_520;
        assert_eq!(ideal.completion(100, 3000), Duration(request + answer));
        // Data without end, on the fast link alone.
        let fast = Ideal { there: way(&[]), back: way(&[(1_000_000_000, 0)]), ..ideal };
        assert_eq!(fast.completion(1, 1448), Duration(20_000_000 + 12_112));
    }
}
