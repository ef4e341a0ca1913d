//! The figures of a run: one implementation for every engine, for single runs and for studies.
//!
//! A [`Recorder`] takes rows, as they come from a simulation or as they lie in a run's tables ([`directory`]), and keeps
//! what figures need. With the engine's accounts it becomes a [`Run`]. [`flow::FIGURES`] and [`link::FIGURES`] declare
//! the figures of its flows and links: name, type, meaning, and how each is found. Summaries, tables, metrics of
//! studies and documents are made of these declarations. `docs/reference/metrics.md` gives definitions and sources.

mod activity;
mod arithmetic;
pub mod bottleneck;
mod convergence;
pub mod directory;
mod figure;
pub mod flow;
mod flow_samples;
pub mod link;
mod link_samples;
mod packet_samples;
mod recorder;
pub mod rerouting;
mod responsiveness;
mod run;
pub mod study;
mod summary;
pub mod tables;
mod ways;

pub use activity::Active;
pub use arithmetic::Percentiles;
pub use figure::{Better, Declared, Figure, Metric, Over, Scope};
pub use flow_samples::{FlowSample, Sampled, carrying};
pub use link_samples::LinkSample;
pub use recorder::Recorder;
pub use responsiveness::Responsiveness;
pub use run::{Run, Span};
