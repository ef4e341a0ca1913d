//! Requests and answers over a TCP connection: their sizes and times, which the seed decides, and how far they are.

use std::collections::VecDeque;

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Time};

use crate::{Ideal, Stream};

/// Bytes of application data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Sizes {
    /// All have this size.
    Constant {
        /// The size.
        bytes: u64,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean of the sizes.
        mean_bytes: u64,
    },
    /// Lognormal distribution.
    Lognormal {
        /// Median of the sizes.
        median_bytes: u64,
        /// Standard deviation of the size's natural logarithm.
        sigma: f64,
    },
    /// Pareto distribution.
    Pareto {
        /// The least size.
        least_bytes: u64,
        /// Exponent of the tail.
        alpha: f64,
    },
    /// Cumulative distribution, linear between its points.
    Cdf {
        /// Points from share 0 to share 1.
        points: Vec<CdfPoint>,
    },
}

/// A point of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CdfPoint {
    /// A size.
    pub bytes: u64,
    /// Share of the draws that are no larger, 0 to 1.
    pub share: f64,
}

/// The times of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Pace {
    /// Open loop: requests come whether or not others were answered.
    Open {
        /// Mean time from one to the next.
        interval_ns: Duration,
        /// Times have an exponential distribution (Poisson arrivals); if not, all are equal.
        is_random: bool,
    },
    /// Closed loop: a request follows an answer.
    Closed {
        /// Requests without an answer at any time.
        outstanding: u32,
        /// Time from an answer to the next request.
        think_ns: Duration,
    },
}

/// No draw is larger, bytes.
const MOST_BYTES: f64 = (1u64 << 32) as f64;

impl Sizes {
    /// The size at which the share `u` of draws is smaller; `u` is above 0 and below 1.
    pub fn quantile(&self, u: f64) -> u64 {
        let bytes = match self {
            Sizes::Constant { bytes } => return *bytes,
            Sizes::Exponential { mean_bytes } => -libm::log1p(-u) * *mean_bytes as f64,
            Sizes::Lognormal { median_bytes, sigma } => *median_bytes as f64 * libm::exp(sigma * normal(u)),
            Sizes::Pareto { least_bytes, alpha } => *least_bytes as f64 * libm::pow(1.0 - u, -1.0 / alpha),
            Sizes::Cdf { points } => interpolate(points, u),
        };
        libm::rint(bytes).clamp(1.0, MOST_BYTES) as u64
    }

    pub(crate) fn check(&self, flow: &str) -> Result<()> {
        let is_possible = match self {
            Sizes::Constant { bytes } => *bytes > 0,
            Sizes::Exponential { mean_bytes } => *mean_bytes > 0,
            Sizes::Lognormal { median_bytes, sigma } => *median_bytes > 0 && (0.0..=10.0).contains(sigma),
            Sizes::Pareto { least_bytes, alpha } => *least_bytes > 0 && *alpha > 0.0,
            Sizes::Cdf { points } => {
                let grows = |pair: &[CdfPoint]| pair[0].bytes <= pair[1].bytes && pair[0].share <= pair[1].share;
                points.first().is_some_and(|point| point.share == 0.0)
                    && points.last().is_some_and(|point| point.share == 1.0)
                    && points.windows(2).all(grows)
            }
        };
        ensure!(is_possible, "flow {flow}: impossible sizes");
        Ok(())
    }
}

fn interpolate(points: &[CdfPoint], u: f64) -> f64 {
    let above = points.partition_point(|point| point.share < u).clamp(1, points.len() - 1);
    let (from, to) = (points[above - 1], points[above]);
    let width = to.share - from.share;
    let part = if width > 0.0 { (u - from.share) / width } else { 1.0 };
    from.bytes as f64 + part * (to.bytes as f64 - from.bytes as f64)
}

/// The quantile of the standard normal distribution, to about 16 digits: Newton's method on `erfc`.
fn normal(u: f64) -> f64 {
    let mut x = 0.0;
    for _ in 0..60 {
        let error = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) - u;
        let density = libm::exp(-0.5 * x * x) / libm::sqrt(2.0 * std::f64::consts::PI);
        let step = (error / density).clamp(-1.0, 1.0);
        x -= step;
        if step.abs() < 1e-15 {
            break;
        }
    }
    x
}

/// A number above 0 and below 1.
fn share(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A request that was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Requests of a flow are numbered from 0.
    pub number: u64,
    /// The time at which it was due: from then on it waits for its answer.
    pub issued: Time,
    /// Application data of the request.
    pub request_bytes: u64,
    /// Application data of the answer.
    pub answer_bytes: u64,
    /// Time to the end of the answer on an unloaded path, if the path is known.
    pub ideal: Option<Duration>,
}

/// The requests of one flow, in their order on its connection. Engines tell how many bytes have arrived.
#[derive(Clone, Debug)]
pub struct Requests {
    streams: [Stream; 3],
    sizes: (Sizes, Sizes),
    pace: Pace,
    limit: u64,
    ideal: Option<Ideal>,
    /// The number of requests issued.
    issued: u64,
    /// Times of the requests that are due next, the earliest first.
    due: VecDeque<Time>,
    /// Requests on their way to the server, and answers on their way to the client, each with the byte at which it ends
    /// in its stream.
    asked: VecDeque<(u64, Request)>,
    answered: VecDeque<(u64, Request)>,
    /// Ends of both streams.
    ends: (u64, u64),
    completed: u64,
}

impl Requests {
    /// The requests of a flow of this kind; `seed` is the plan's.
    ///
    /// # Panics
    /// The flow is of another kind.
    pub fn new(flow: &crate::Flow, seed: u64, ideal: Option<Ideal>) -> Requests {
        let crate::Workload::Rpc { request, answer, pace, requests, .. } = &flow.workload else {
            panic!("flow {} has no requests", flow.id)
        };
        let mut made = Requests {
            streams: ["request", "answer", "gap"].map(|what| Stream::new(seed, &format!("flow/{}/{what}", flow.id))),
            sizes: (request.clone(), answer.clone()),
            pace: *pace,
            limit: requests.unwrap_or(u64::MAX),
            ideal,
            issued: 0,
            due: VecDeque::new(),
            asked: VecDeque::new(),
            answered: VecDeque::new(),
            ends: (0, 0),
            completed: 0,
        };
        if matches!(pace, Pace::Open { .. }) {
            made.due.push_back(flow.start_ns + made.gap());
        }
        made
    }

    /// The connection is open: a closed loop begins.
    pub fn open(&mut self, now: Time) {
        if let Pace::Closed { outstanding, .. } = self.pace {
            self.due.extend((0..outstanding).map(|_| now));
        }
    }

    /// The time at which the next request is due; [`Time::NEVER`]: none is known to be.
    pub fn next(&self) -> Time {
        if self.issued == self.limit { Time::NEVER } else { self.due.front().copied().unwrap_or(Time::NEVER) }
    }

    /// The requests that are due by `now` are issued. Returns the bytes that the client writes.
    pub fn issue(&mut self, now: Time) -> u64 {
        let mut written = 0;
        while self.next() <= now {
            let Some(issued) = self.due.pop_front() else { break };
            let number = self.issued;
            self.issued += 1;
            if matches!(self.pace, Pace::Open { .. }) {
                self.due.push_back(issued + self.gap());
            }
            let [of_request, of_answer, _] = &self.streams;
            let request_bytes = self.sizes.0.quantile(share(of_request.at(number)));
            let answer_bytes = self.sizes.1.quantile(share(of_answer.at(number)));
            let ideal = self.ideal.as_ref().map(|ideal| ideal.completion(request_bytes, answer_bytes));
            written += request_bytes;
            self.ends.0 += request_bytes;
            self.asked.push_back((self.ends.0, Request { number, issued, request_bytes, answer_bytes, ideal }));
        }
        written
    }

    /// Counts `bytes` that arrived at the server. Returns the bytes that it writes now.
    pub fn arrived(&mut self, bytes: u64) -> u64 {
        let mut written = 0;
        while let Some((_, request)) = take_whole(&mut self.asked, bytes) {
            written += request.answer_bytes;
            self.ends.1 += request.answer_bytes;
            self.answered.push_back((self.ends.1, request));
        }
        written
    }

    /// Counts `bytes` that arrived at the client. Returns the first request that is completed by that, until there is none.
    pub fn complete(&mut self, bytes: u64, now: Time) -> Option<Request> {
        let (_, request) = take_whole(&mut self.answered, bytes)?;
        self.completed += 1;
        if let Pace::Closed { think_ns, .. } = self.pace {
            self.due.push_back(now + think_ns);
        }
        Some(request)
    }

    /// Requests without an answer, in their order.
    pub fn open_requests(&self) -> impl Iterator<Item = Request> {
        self.answered.iter().chain(&self.asked).map(|&(_, request)| request)
    }

    /// True if all requests of a flow that has a number of them are answered.
    pub fn are_complete(&self) -> bool {
        self.completed == self.limit
    }

    fn gap(&self) -> Duration {
        match self.pace {
            Pace::Open { interval_ns, is_random: true } => {
                let gap = -libm::log1p(-share(self.streams[2].at(self.issued))) * interval_ns.as_nanos() as f64;
                Duration(libm::rint(gap) as i64)
            }
            Pace::Open { interval_ns, .. } => interval_ns,
            Pace::Closed { think_ns, .. } => think_ns,
        }
    }
}

/// Takes the first of a queue whose end lies within `bytes`.
fn take_whole(queue: &mut VecDeque<(u64, Request)>, bytes: u64) -> Option<(u64, Request)> {
    let &(end, _) = queue.front()?;
    if end <= bytes { queue.pop_front() } else { None }
}
