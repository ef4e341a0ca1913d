//! How nodes and machine fared while a lab was recorded.

use std::cell::RefCell;
use std::path::Path;

use anyhow::Result;
use emu::Witness;
use lab::Lab;
use records::found::DatagramGauges;

use crate::init::{Built, HostCounts, LabReport, Recorded};
use crate::loaded::Loaded;
use crate::machine::Machine;

/// Compares the lab at the end of records with the lab at their beginning.
pub(crate) struct OfLab<'a> {
    lab: &'a Lab,
    built: Built,
    loaded: &'a Loaded,
    datagrams: &'a DatagramGauges,
    before: RefCell<(Machine, HostCounts)>,
}

impl<'a> OfLab<'a> {
    /// Counts of datagrams go to `datagrams`.
    pub(crate) fn new(lab: &'a Lab, built: Built, loaded: &'a Loaded, datagrams: &'a DatagramGauges) -> OfLab<'a> {
        OfLab { lab, built, loaded, datagrams, before: RefCell::default() }
    }
}

impl Witness for OfLab<'_> {
    fn begin(&self) -> Result<()> {
        *self.before.borrow_mut() = (Machine::now(), HostCounts::of(self.lab)?);
        Ok(())
    }

    fn end(&self, dir: &Path) -> Result<()> {
        let (machine, counts) = self.before.take();
        let acks = Recorded::not("in a lab no ACKs are recorded");
        let mut report = LabReport::of(self.lab, self.built, self.loaded, machine, acks)?;
        report.since(&counts);
        report.write(dir)
    }

    fn datagrams(&self) -> &DatagramGauges {
        self.datagrams
    }
}
