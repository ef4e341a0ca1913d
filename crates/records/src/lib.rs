//! The Parquet tables of runs: rows of the crate [`rows`], written by every engine in the same way.
//!
//! A [`Writer`] takes rows from a thread that must not wait, and writes them in the background.

pub mod accounts;
mod arrow;
pub mod bounds;
mod columns;
pub mod flat;
pub mod found;
pub mod frames;
mod groups;
pub mod reader;
mod writer;

pub use columns::{Batch, Data, Filled, fill, words};
pub use groups::Groups;
pub use rows::{
    Column, Described, Digest, Encoding, Names, Row, Table, Values, acks, kinds, links, packets, routes, samples,
    tables,
};
pub use writer::{Files, Writer, WriterStats};
