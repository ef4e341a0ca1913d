//! Figures as tables.

use records::{Batch, Column, Table};

use crate::figure::{Declared, Figure};
use crate::{flow, link};

/// Returns the table `flows` of a run.
pub fn flows(rows: &[flow::Flow]) -> Batch {
    Batch::of(flow::FIGURES.iter().map(|figure| &figure.column), rows.iter())
}

/// Returns the columns of flows in a study that keeps no packets.
pub(crate) fn without_packets() -> impl Iterator<Item = &'static Column<flow::Flow>> {
    flow::FIGURES.iter().filter(|figure| !figure.takes_packets).map(|figure| &figure.column)
}

/// The table `flows` of a run, for documents and other languages.
pub fn of_run() -> Table {
    Table { name: "flows", columns: flow::FIGURES.iter().map(|figure| figure.column.described()).collect() }
}

/// The figures of a flow, for documents and other languages.
pub fn flow_figures() -> Vec<Declared> {
    flow::FIGURES.iter().map(Figure::declared).collect()
}

/// The figures of a link, for documents and other languages.
pub fn link_figures() -> Vec<Declared> {
    link::FIGURES.iter().map(Figure::declared).collect()
}
