//! The algorithms that a run has loaded: those that write a row per ACK themselves, and those whose state the probe reads.

use std::ffi::OsStr;

use anyhow::Result;
use bpf::Session;
use libbpf_rs::{MapCore, Object};

use crate::kernel;
use crate::senders::Sender;

/// `DB_WRITES_ROWS` of `bpf/probe/probe.bpf.c`.
const WRITES_ROWS: u8 = 255;

/// The programs that a run has loaded.
#[derive(Debug, Default)]
pub struct Programs<'a>(Vec<Program<'a>>);

#[derive(Debug)]
struct Program<'a> {
    /// Its name in the kernel.
    name: &'a str,
    object: &'a Object,
    writes_rows: bool,
    /// The state at the head of its private state: an `enum db_state_of`.
    publishes: u8,
}

impl<'a> Programs<'a> {
    /// The programs of `session`, which was loaded with a ring.
    pub fn of(session: &'a Session) -> Programs<'a> {
        let program = |registered: &'a bpf::Registered| {
            let loaded = registered.loaded();
            let writes_rows = loaded.object().maps().any(|map| map.name() == OsStr::new("db_acks"));
            Program { name: registered.name(), object: loaded.object(), writes_rows, publishes: loaded.publishes() }
        };
        Programs(session.registered().iter().map(program).collect())
    }

    /// The probe's knowledge of each: its name in the kernel, and `WRITES_ROWS`, or whose state it publishes.
    pub(crate) fn known(&self) -> impl Iterator<Item = (&str, u8)> {
        self.0.iter().map(|one| (one.name, if one.writes_rows { WRITES_ROWS } else { one.publishes }))
    }

    /// Makes those that write rows write those of `senders`.
    pub(crate) fn watch<'s>(&self, senders: impl Iterator<Item = &'s Sender> + Clone) -> Result<()> {
        self.writers().try_for_each(|object| kernel::watch(object, senders.clone()))
    }

    /// Their rows that found the ring full.
    pub(crate) fn lost(&self) -> Result<u64> {
        self.writers().map(kernel::lost).sum()
    }

    fn writers(&self) -> impl Iterator<Item = &Object> {
        self.0.iter().filter(|one| one.writes_rows).map(|one| one.object)
    }
}
