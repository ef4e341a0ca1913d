//! What a figure is: one declaration, of which the summary's key, the tables' column, the metric of studies and the
//! documents' row are made.

use records::{Column, Described};
use serde::Serialize;

/// A figure of a flow or a link: of `R`, what is known of it.
#[derive(Debug)]
pub struct Figure<R: 'static> {
    /// Name, type, meaning, and how it is found. The column of `flows`, and of a study's tables.
    pub column: Column<R>,
    /// The keys that lead to it in the summary of its flow or link; none: the column's name does.
    pub place: &'static [&'static str],
    /// It takes a row per packet: studies that keep figures only are without.
    pub takes_packets: bool,
    /// What studies make of it, if that is no more than to put together the values of several flows.
    pub metric: Option<Metric>,
}

/// A metric of studies whose value is that of a link, or put together from those of several flows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// As in `[[expect]]`, tables and files.
    pub name: &'static str,
    /// As in reports.
    pub title: &'static str,
    /// `bit/s`, `B`, `ms`, `s`, `segments`, `packets`; `share`, from 0 to 1.
    pub unit: &'static str,
    /// What is better.
    pub better: Better,
    /// What a value is of if nobody says.
    pub scope: Scope,
    /// How the values of several flows are put together.
    pub over: Over,
    /// In words.
    pub formula: &'static str,
    /// Where the definition comes from.
    pub source: &'static str,
}

/// What is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Better {
    Higher,
    Lower,
    Neither,
}

/// What a value is of: all flows of a run, those of one algorithm, or one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Scope {
    Run,
    Algorithm,
    Link,
}

/// How the values of several flows are put together. A link's value stands by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Over {
    Sum,
    Mean,
    Min,
    Itself,
}

/// A figure, as documents and other languages need it.
#[derive(Debug, Serialize)]
pub struct Declared {
    /// Name, type, unit and meaning.
    #[serde(flatten)]
    pub column: Described,
    /// The keys that lead to it in the summary of its flow or link.
    pub place: Vec<&'static str>,
    /// It takes a row per packet.
    pub takes_packets: bool,
    /// What studies make of it.
    pub metric: Option<Metric>,
}

impl<R> Figure<R> {
    /// A figure that stands under its own name, and of which no metric is made.
    pub const fn new(column: Column<R>) -> Figure<R> {
        Figure { column, place: &[], takes_packets: false, metric: None }
    }

    /// It stands elsewhere in the summary, in a group of its own for example.
    pub const fn at(mut self, place: &'static [&'static str]) -> Figure<R> {
        self.place = place;
        self
    }

    /// It takes a row per packet.
    pub const fn of_packets(mut self) -> Figure<R> {
        self.takes_packets = true;
        self
    }

    /// Studies have a metric of it.
    pub const fn studied(mut self, metric: Metric) -> Figure<R> {
        self.metric = Some(metric);
        self
    }

    /// The keys that lead to it in the summary of its flow or link.
    pub fn keys(&self) -> Vec<&'static str> {
        if self.place.is_empty() { vec![self.column.name] } else { self.place.to_vec() }
    }

    /// For documents and other languages.
    pub fn declared(&self) -> Declared {
        Declared {
            column: self.column.described(),
            place: self.keys(),
            takes_packets: self.takes_packets,
            metric: self.metric,
        }
    }
}
