//! The rows of a run's tables: what each [`Column`] means, and how a row fills it.
//!
//! One schema for every engine. Files, `docs/reference/records.md` and Python's schema are made of these declarations, and so is
//! what a simulation in a browser gives its page: this crate knows neither files nor clocks. A [`Digest`] tells whether two
//! tables hold the same, however they are written.

pub mod acks;
mod cell;
mod column;
mod digest;
mod encoding;
pub mod kinds;
pub mod links;
pub mod packets;
pub mod routes;
pub mod samples;

pub use cell::{Cell, bandwidth_bps, fixed};
pub use column::{Column, Described, Table, Values};
pub use digest::Digest;
pub use encoding::Encoding;

/// The words behind the numbers in rows.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Flow ids in the plan's order.
    pub flows: Vec<String>,
    /// Link names in the plan's order.
    pub links: Vec<String>,
}

impl Names {
    /// The names of a plan. The flow after the last one is [`packets::OTHER_FLOW`].
    pub fn of(plan: &plan::Plan) -> Names {
        let other = packets::OTHER_FLOW.to_string();
        Names {
            flows: plan.flows.iter().map(|f| f.id.clone()).chain([other]).collect(),
            links: plan.links.iter().map(|l| l.name.clone()).collect(),
        }
    }

    /// True if these names have the flow and the link of a row.
    pub fn have_those_of<R: Row>(&self, row: &R) -> bool {
        R::COLUMNS.iter().all(|column| match column.values {
            Values::Flow(of) => usize::from(of(row)) < self.flows.len(),
            Values::Link(of) => usize::from(of(row)) < self.links.len(),
            _ => true,
        })
    }
}

/// A row of a table.
pub trait Row: Send + Sized + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// The columns in order.
    const COLUMNS: &'static [Column<Self>];
    /// Columns whose values differ little from those of the row before: files keep the differences.
    const DELTAS: &'static [&'static str] = &[];
    /// How rows become bytes; `None`: they become a table at once.
    const ENCODING: Option<Encoding<Self>> = None;
}

/// The tables that engines write while a run goes on.
pub fn tables() -> Vec<Table> {
    let mut all = vec![
        table::<samples::Sample>(),
        table::<acks::Ack>(),
        table::<packets::PacketRow>(),
        table::<links::LinkRow>(),
    ];
    all.extend(kinds::described());
    all.push(table::<routes::RouteRow>());
    all
}

fn table<R: Row>() -> Table {
    Table { name: R::TABLE, columns: R::COLUMNS.iter().map(Column::described).collect() }
}
