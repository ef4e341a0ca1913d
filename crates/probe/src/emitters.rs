//! Algorithms that write a row per ACK themselves.

use std::ffi::OsStr;

use anyhow::Result;
use bpf::Session;
use libbpf_rs::{MapCore, Object};

use crate::kernel;
use crate::senders::Sender;

/// The emitters that a run has loaded.
#[derive(Debug, Default)]
pub struct Emitters<'a>(Vec<(String, &'a Object)>);

impl<'a> Emitters<'a> {
    /// The emitters of `session`, which was loaded with a ring.
    pub fn of(session: &'a Session) -> Emitters<'a> {
        let all = session.registered().iter().map(|registered| (registered.name(), registered.loaded().object()));
        let emits = |object: &Object| object.maps().any(|map| map.name() == OsStr::new("db_acks"));
        Emitters(all.filter(|(_, object)| emits(object)).map(|(name, object)| (name.to_owned(), object)).collect())
    }

    /// Their names in the kernel.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Makes them write rows of `senders`.
    pub(crate) fn watch<'s>(&self, senders: impl Iterator<Item = &'s Sender> + Clone) -> Result<()> {
        self.0.iter().try_for_each(|(_, object)| kernel::watch(object, senders.clone()))
    }

    /// Their rows that found the ring full.
    pub(crate) fn lost(&self) -> Result<u64> {
        self.0.iter().map(|(_, object)| kernel::lost(object)).sum()
    }
}
