//! The declaration of a figure: the summary's key, the tables' column, the metric of studies and the documents' row are
//! made from it.

use records::{Column, Described};
use serde::Serialize;

/// A figure of a flow or a link: of `R`, what is known of it.
#[derive(Debug)]
pub struct Figure<R: 'static> {
    /// Name, type, meaning, and how it is found. The column of `flows`, and of a study's tables.
    pub column: Column<R>,
    /// The keys that lead to it in the summary of its flow or link; none: the column's name does.
    pub place: &'static [&'static str],
    /// True if the figure takes a row per packet: studies that keep figures only are without.
    pub takes_packets: bool,
    /// The metric of studies, if it only puts together the values of several flows.
    pub metric: Option<Metric>,
}

/// A metric of studies whose value is that of a link, or put together from those of several flows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Metric {
    /// The name in `[[expect]]`, tables and files.
    pub name: &'static str,
    /// The title in reports.
    pub title: &'static str,
    /// `bit/s`, `B`, `ms`, `s`, `segments`, `packets`; `share`, from 0 to 1.
    pub unit: &'static str,
    /// The direction of better values.
    pub better: Better,
    /// The default scope of a value.
    pub scope: Scope,
    /// The rule that puts the values of several flows together.
    pub over: Over,
    /// The formula in words.
    pub formula: &'static str,
    /// The source of the definition.
    pub source: &'static str,
}

/// The direction of better values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Better {
    Higher,
    Lower,
    Neither,
}

/// The scope of a value: all flows of a run, those of one algorithm, or one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Scope {
    Run,
    Algorithm,
    Link,
}

/// The rule that puts the values of several flows together. A link's value is used alone.
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
    /// True if the figure takes a row per packet.
    pub takes_packets: bool,
    /// The metric of studies.
    pub metric: Option<Metric>,
}

impl<R> Figure<R> {
    /// A figure under its column's name, without a metric.
    pub const fn new(column: Column<R>) -> Figure<R> {
        Figure { column, place: &[], takes_packets: false, metric: None }
    }

    /// The figure has another place in the summary, such as a separate group.
    pub const fn at(mut self, place: &'static [&'static str]) -> Figure<R> {
        self.place = place;
        self
    }

    /// Marks a figure that takes a row per packet.
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

    /// The declaration for documents and other languages.
    pub fn declared(&self) -> Declared {
        Declared {
            column: self.column.described(),
            place: self.keys(),
            takes_packets: self.takes_packets,
            metric: self.metric,
        }
    }
}
