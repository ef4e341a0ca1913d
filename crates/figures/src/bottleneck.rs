//! The bottleneck of each flow over time, found in the samples of links: names play no part.
//!
//! A link is saturated in an interval if packets waited there at each sample, or if it sent at least [`SATURATED`] of the
//! bytes that it could. The bottleneck of a flow is the saturated link on its path at which packets waited longest.
//! `docs/explanation/bottlenecks.md` gives the sources, and says what this cannot tell.
//!
//! It takes 16 bytes for each change of a path's bottleneck.

use plan::{Network, Plan};
use rustc_hash::FxHashMap;
use units::{Duration, Time};

use crate::activity::Active;
use crate::link_samples::LinkSample;

/// The length of an interval, at least: within it RFC 8289 tells a standing queue from a burst.
const INTERVAL: Duration = Duration(100_000_000);

/// A link that sends this share of what it could is saturated also where its queue is empty at times.
const SATURATED: f64 = 0.9;

/// The bottlenecks of all paths of a run.
#[derive(Clone, Debug)]
pub struct Bottlenecks {
    paths: Vec<Path>,
    /// The path of each flow, in the plan's order: an index into `paths`.
    path_of: Vec<usize>,
    /// The loads of the plan's links within the interval; `None` of those that are on no path.
    loads: Vec<Option<Load>>,
    interval: i64,
    width: Duration,
    sampled_every: Duration,
}

/// The links at which packets of some flows can wait.
#[derive(Clone, Debug)]
pub struct Path {
    /// Indices of the plan's links, from the sender on. Links without a rate and slots are left out.
    pub links: Vec<u16>,
    /// The link that is the bottleneck from a time on, or none; each time it changes. Empty without samples.
    pub course: Vec<(Time, Option<u16>)>,
}

/// The samples of a link within an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    samples: u32,
    least_queue: u64,
    queues: u64,
    /// Departed bytes and capacity by the end of the interval before, and now.
    before: (u64, Option<u64>),
    now: (u64, Option<u64>),
}

/// The strength with which a saturated link holds flows back.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Saturation {
    /// The mean wait by Little's law, in intervals: waiting bytes ÷ bytes that left. Infinite if nothing could leave.
    wait: f64,
    used: f64,
}

impl Bottlenecks {
    /// `network`: the plan's, with the paths of its flows.
    pub(crate) fn new(plan: &Plan, network: &Network) -> Bottlenecks {
        let mut paths: Vec<Path> = Vec::new();
        let mut by_links: FxHashMap<Vec<u16>, usize> = FxHashMap::default();
        let mut places = Vec::with_capacity(network.paths.len());
        for path in &network.paths {
            let waits = path.there.iter().filter(|&&link| network.links[link].can_queue);
            let links: Vec<u16> = waits.map(|&link| link as u16).collect();
            let place = *by_links.entry(links.clone()).or_insert_with(|| {
                paths.push(Path { links, course: Vec::new() });
                paths.len() - 1
            });
            places.push(place);
        }
        let mut loads = vec![None; plan.links.len()];
        for &link in paths.iter().flat_map(|path| &path.links) {
            loads[usize::from(link)] = Some(Load::default());
        }
        let sampled_every = plan.record.sample_interval_ns;
        let samples = (INTERVAL.as_nanos() + sampled_every.as_nanos() - 1) / sampled_every.as_nanos().max(1);
        Bottlenecks {
            path_of: network.path_of.iter().map(|&path| places[path]).collect(),
            paths,
            loads,
            interval: 0,
            width: Duration(samples.max(1) * sampled_every.as_nanos().max(1)),
            sampled_every,
        }
    }

    /// A row of `links`. Rows come in the order of time.
    pub(crate) fn add(&mut self, sample: &LinkSample) {
        if self.loads[usize::from(sample.link)].is_none() {
            return;
        }
        // A row tells of the sampling interval before it, and may be a little late.
        let middle = sample.time.as_nanos() - self.sampled_every.as_nanos() / 2;
        let interval = middle.max(0) / self.width.as_nanos();
        if interval > self.interval {
            self.close();
            self.interval = interval;
        }
        if let Some(load) = &mut self.loads[usize::from(sample.link)] {
            load.add(sample);
        }
    }

    /// The interval is over: find the bottleneck of each path in it.
    fn close(&mut self) {
        let since = Time(self.interval * self.width.as_nanos());
        let sampled = self.loads.iter().flatten().any(|load| load.samples > 0);
        let saturated: Vec<Option<Saturation>> =
            self.loads.iter().map(|load| load.as_ref().and_then(Load::saturation)).collect();
        for path in self.paths.iter_mut().filter(|_| sampled) {
            let mut found: Option<(u16, Saturation)> = None;
            for &link in &path.links {
                let Some(here) = saturated[usize::from(link)] else { continue };
                if found.is_none_or(|(_, most)| here > most) {
                    found = Some((link, here));
                }
            }
            let found = found.map(|(link, _)| link);
            if path.course.last().is_none_or(|&(_, before)| before != found) {
                path.course.push((since, found));
            }
        }
        for load in self.loads.iter_mut().flatten() {
            *load = Load { before: load.now, now: load.now, ..Load::default() };
        }
    }

    /// All rows have come.
    pub(crate) fn finish(mut self) -> Bottlenecks {
        self.close();
        self
    }

    /// All different paths.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The path of a flow, by its index in the plan: an index into `paths`.
    pub fn path_of(&self, flow: usize) -> usize {
        self.path_of[flow]
    }

    /// The links of a flow's path, and for how long each was its bottleneck while the flow was active.
    pub(crate) fn times(&self, flow: usize, active: &Active) -> Vec<(u16, Duration)> {
        let Path { links, course } = &self.paths[self.path_of[flow]];
        let mut times: Vec<(u16, Duration)> = links.iter().map(|&link| (link, Duration::ZERO)).collect();
        let ends = course.iter().skip(1).map(|&(since, _)| since).chain([Time(i64::MAX)]);
        for (&(since, link), until) in course.iter().zip(ends) {
            let (start, stop) = (since.max(active.start), until.min(active.stop));
            if let Some((_, time)) = times.iter_mut().find(|(of, _)| Some(*of) == link)
                && start < stop
            {
                *time = *time + (stop - start);
            }
        }
        times
    }
}

impl Load {
    fn add(&mut self, sample: &LinkSample) {
        self.least_queue =
            if self.samples == 0 { sample.queue_bytes } else { self.least_queue.min(sample.queue_bytes) };
        self.queues += sample.queue_bytes;
        self.samples += 1;
        self.now = (sample.departed_bytes, sample.capacity_bytes);
    }

    /// `None` if the link was not saturated.
    fn saturation(&self) -> Option<Saturation> {
        if self.samples == 0 {
            return None;
        }
        let sent = (self.now.0 - self.before.0) as f64;
        let could = self.now.1.map(|now| now.saturating_sub(self.before.1.unwrap_or(0)) as f64);
        let used = match could {
            Some(could) if could > 0.0 => sent / could,
            // It could send nothing.
            Some(_) => 1.0,
            None => 0.0,
        };
        if self.least_queue == 0 && used < SATURATED {
            return None;
        }
        let waiting = self.queues as f64 / f64::from(self.samples);
        Some(Saturation { wait: if sent > 0.0 { waiting / sent } else { f64::INFINITY }, used })
    }
}

#[cfg(test)]
mod tests {
    fn new(plan: &Plan) -> Bottlenecks {
        Bottlenecks::new(plan, &plan.network().unwrap())
    }

    use super::*;
    use serde_json::json;

    /// Flow f1 from `a` to `d` over links 0, 1 and 2 of 8 Mbit/s, f2 from `a` to `b` over link 0 alone. A sample every 10 ms.
    fn plan() -> Plan {
        let host = |name: &str, last: u8| json!({"kind": "host", "name": name, "address": format!("10.0.0.{last}"), "sysctl": {}});
        let switch = |name: &str| json!({"kind": "switch", "name": name});
        let link = |name: &str, from: &str, to: &str, rate: Option<u64>| {
            json!({"name": name, "from": from, "to": to,
            "rate_bps": rate, "delay_ns": 0, "buffer": "unlimited", "overhead_bytes": 0})
        };
        let flow = |id: &str, to: &str, port: u16| {
            json!({"id": id, "from": "a", "to": to, "start_ns": 0,
            "stop_ns": 1_000_000_000, "port": port,
            "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}})
        };
        let rate = Some(8_000_000);
        Plan::of(json!({
            "name": "parking-lot", "duration_ns": 1_000_000_000, "seed": 1,
            "nodes": [host("a", 1), host("b", 2), host("d", 4), switch("x"), switch("y"), switch("z")],
            "links": [
                link("first", "a", "x", rate), link("second", "x", "y", rate), link("third", "y", "z", rate),
                link("x-b", "x", "b", None), link("z-d", "z", "d", None), link("d-a", "d", "a", None),
                link("b-a", "b", "a", None),
            ],
            "flows": [flow("f1", "d", 1), flow("f2", "b", 2)],
            "record": {"sample_interval_ns": 10_000_000, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
        }))
        .unwrap()
    }

    /// The counters of three links over time.
    struct Samples {
        found: Bottlenecks,
        time: i64,
        departed: [u64; 3],
        capacity: u64,
    }

    impl Samples {
        fn new() -> Samples {
            Samples { found: new(&plan()), time: 0, departed: [0; 3], capacity: 0 }
        }

        /// Appends `samples` samples, in which each link sends a share of its capacity while bytes wait, in turn.
        fn during(mut self, samples: usize, used: [f64; 3], queues: [&[u64]; 3]) -> Samples {
            for sample in 0..samples {
                self.time += 10_000_000;
                self.capacity += 10_000;
                for link in 0..3 {
                    self.departed[link] += (1e4 * used[link]) as u64;
                    self.found.add(&LinkSample {
                        // Real samples are late.
                        time: Time(self.time + 300_000),
                        link: link as u16,
                        departed_bytes: self.departed[link],
                        capacity_bytes: Some(self.capacity),
                        queue_bytes: queues[link][sample % queues[link].len()],
                        ..LinkSample::default()
                    });
                }
            }
            self
        }

        fn courses(self) -> Vec<Vec<(i64, Option<u16>)>> {
            let found = self.found.finish();
            let course = |path: &Path| path.course.iter().map(|&(since, link)| (since.0 / 1_000_000, link)).collect();
            found.paths().iter().map(course).collect()
        }
    }

    #[test]
    fn paths_are_told_apart_by_the_links_at_which_packets_can_wait() {
        let found = new(&plan());
        let links: Vec<&[u16]> = found.paths().iter().map(|path| &path.links[..]).collect();
        assert_eq!(links, [&[0, 1, 2][..], &[0][..]]);
        assert_eq!([0, 1].map(|flow| found.path_of(flow)), [0, 1]);
    }

    #[test]
    fn the_bottleneck_moves_with_the_queue() {
        let samples = Samples::new()
            .during(20, [1.0, 0.6, 0.6], [&[3000], &[0, 1500], &[0]])
            .during(10, [0.6, 0.8, 0.6], [&[0], &[1500], &[0, 90_000]])
            .during(10, [0.6, 0.6, 0.6], [&[0], &[0], &[0]]);
        // A queue that is empty at times is a burst, however long it is.
        assert_eq!(
            samples.courses(),
            [vec![(0, Some(0)), (200, Some(1)), (300, None)], vec![(0, Some(0)), (200, None)]]
        );
    }

    #[test]
    fn among_saturated_links_packets_wait_longest_at_the_bottleneck() {
        let samples = Samples::new()
            .during(10, [1.0, 1.0, 1.0], [&[3000], &[6000], &[4000]])
            // A tenth of the rate: the same bytes wait ten times as long.
            .during(10, [1.0, 0.1, 1.0], [&[3000], &[1500], &[4000]])
            // Without queues, the one that is used most.
            .during(10, [0.91, 0.85, 0.97], [&[0], &[0], &[0]]);
        assert_eq!(samples.courses()[0], [(0, Some(1)), (200, Some(2))]);
    }

    #[test]
    fn a_link_that_can_send_nothing_holds_everything_back() {
        let mut samples = Samples::new().during(10, [1.0, 0.5, 0.5], [&[3000], &[0], &[0]]);
        for step in 1..=10 {
            samples.found.add(&LinkSample {
                time: Time(100_000_000 + step * 10_000_000),
                link: 2,
                departed_bytes: samples.departed[2],
                capacity_bytes: Some(samples.capacity),
                ..LinkSample::default()
            });
        }
        assert_eq!(samples.courses()[0], [(0, Some(0)), (100, Some(2))]);
    }

    #[test]
    fn times_are_those_in_which_the_flow_is_active() {
        let samples = Samples::new().during(50, [1.0, 0.5, 0.5], [&[3000], &[0], &[0]]).during(
            50,
            [0.5, 0.5, 1.0],
            [&[0], &[0], &[3000]],
        );
        let found = samples.found.finish();
        let ms = |start: i64, stop: i64| Active {
            start: Time(start * 1_000_000),
            stop: Time(stop * 1_000_000),
            has_begun: true,
        };
        let times = |active| found.times(0, &active).into_iter().map(|(link, time)| (link, time.0 / 1_000_000));
        assert_eq!(times(ms(450, 900)).collect::<Vec<_>>(), [(0, 50), (1, 0), (2, 400)]);
        assert_eq!(times(ms(0, 400)).collect::<Vec<_>>(), [(0, 400), (1, 0), (2, 0)]);
        assert_eq!(found.times(1, &ms(0, 1000)), [(0, Duration(500_000_000))]);
    }

    #[test]
    fn without_samples_nothing_is_known() {
        let found = new(&plan()).finish();
        assert!(found.paths().iter().all(|path| path.course.is_empty()));
    }
}
