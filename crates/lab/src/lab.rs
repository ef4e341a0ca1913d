//! The lab itself.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use crate::{Host, HostSpec};

/// Which end of a host's veth pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `eth0`, inside the host.
    Host,
    /// The end in the core's namespace.
    Core,
}

/// Packets that an interface counted since it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Counters {
    pub host: String,
    pub side: Side,
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
}

/// A running lab. Dropping it closes the namespaces' descriptors; the sandbox's end removes the rest.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<Host>,
}

impl Lab {
    /// Builds every host. The calling thread's network namespace becomes the core. Segmentation and checksum offloads
    /// stay as the kernel sets them if `offloads`, else they are off on both ends of each pair.
    pub fn build(hosts: &[HostSpec], offloads: bool) -> Result<Lab> {
        let _ = (hosts, offloads);
        todo!()
    }

    /// In the order of the specification.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Runs `f` with the calling thread inside host `index`'s network namespace, and moves the thread back.
    pub fn in_host<T>(&self, index: usize, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let _ = (index, f);
        todo!()
    }

    /// Both ends of every pair, hosts in order.
    pub fn counters(&self) -> Result<Vec<Counters>> {
        todo!()
    }

    /// By host and by the kernel's feature name: true if it is on at either end.
    pub fn offloads(&self) -> Result<BTreeMap<String, BTreeMap<String, bool>>> {
        todo!()
    }

    /// By host and name: what the kernel holds now, for every sysctl that the specification sets.
    pub fn sysctls(&self) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        todo!()
    }
}
