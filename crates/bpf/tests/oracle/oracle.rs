//! The oracle, and what it has found out.

use std::fmt::{self, Display, Formatter};

use anyhow::{Context, Result};
use libbpf_rs::{Link, MapCore, MapFlags, MapMut, MapType, Object};

use crate::{Bound, support};

pub struct Oracle {
    _links: [Link; 2],
    object: Object,
}

impl Oracle {
    /// From the object `bpf/tests/NAME.bpf.c`.
    pub fn load(name: &str) -> Result<Oracle> {
        let open = support::open(&support::test_object(name)?)?;
        let mut object = open.load().context("loading the oracle into the kernel")?;
        let program = object.progs_mut().find(|program| program.name() == "oracle").context("the program is there")?;
        let watching = program.attach().context("attaching to net_dev_queue")?;
        let is_ours = |map: &MapMut<'_>| map.map_type() == MapType::StructOps && map.autocreate();
        let mut map = object.maps_mut().find(is_ours).context("its map is there")?;
        let registered = map.attach_struct_ops().context("registering the congestion control")?;
        Ok(Oracle { _links: [watching, registered], object })
    }

    pub fn verdict(&self) -> Result<Verdict> {
        let bytes = self.result()?;
        let mut fields = bytes.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().expect("8 bytes")));
        let mut next = || fields.next().context("the result is too short");
        // In the order of bpf/tests/oracle.bpf.c.
        Ok(Verdict {
            samples: next()?,
            exact: next()?,
            error: next()?,
            inflight: next()?,
            worst: next()?,
            lost_wrong: next()?,
            lost_error: next()?,
            misses: next()?,
            without_truth: next()?,
            retransmitted: next()?,
            most_inflight: next()?,
            flows: next()?,
        })
    }

    fn result(&self) -> Result<Vec<u8>> {
        let value = self.map()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).context("reading the result")?;
        value.context("the result is there")
    }

    fn map(&self) -> Result<libbpf_rs::Map<'_>> {
        self.object.maps().find(|map| map.name() == ".bss.result").context("the result's map is there")
    }
}

/// Counts of rate samples; volumes in packets.
pub struct Verdict {
    samples: u64,
    exact: u64,
    error: u64,
    inflight: u64,
    worst: u64,
    lost_wrong: u64,
    lost_error: u64,
    misses: u64,
    without_truth: u64,
    retransmitted: u64,
    most_inflight: u64,
    flows: u64,
}

impl Verdict {
    pub const HEADER: &str = "                     path  samples  flows  exact %  mean error  worst  in flight mean  most  \
                              error %  lost: wrong %  mean error  misses  unseen  retransmitted";

    pub fn holds(&self, bound: &Bound) -> bool {
        // Otherwise the path did not do what it is for, or the oracle looked elsewhere.
        let enough = self.samples > 2000 && self.misses * 100 < self.samples && self.without_truth * 20 < self.samples;
        let good = match bound {
            Bound::Exact => self.share(self.exact) >= 0.97 && self.share(self.error) <= 0.2,
            Bound::Small => self.error * 200 <= self.inflight && self.most_inflight > 5000,
        };
        enough && good
    }

    fn share(&self, part: u64) -> f64 {
        part as f64 / self.samples.max(1) as f64
    }
}

impl Display for Verdict {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:>8}  {:>5}  {:>7.2}  {:>10.3}  {:>5}  {:>14.1}  {:>4}  {:>7.3}  {:>13.2}  {:>10.3}  {:>6}  {:>6}  {:>13}",
            self.samples,
            self.flows,
            100.0 * self.share(self.exact),
            self.share(self.error),
            self.worst,
            self.share(self.inflight),
            self.most_inflight,
            100.0 * self.error as f64 / self.inflight.max(1) as f64,
            100.0 * self.share(self.lost_wrong),
            self.share(self.lost_error),
            self.misses,
            self.without_truth,
            self.retransmitted,
        )
    }
}
