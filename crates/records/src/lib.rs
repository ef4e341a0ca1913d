//! Record types and their Parquet tables: one schema for every engine.
//!
//! A [`Writer`] takes rows from a thread that must not wait, and writes them in the background. Each table declares its
//! [`Column`]s once; `docs/reference/records.md` and Python's schema are made of these declarations.

pub mod accounts;
pub mod acks;
mod column;
pub mod found;
pub mod frames;
pub mod links;
pub mod packets;
pub mod pings;
pub mod routes;
pub mod samples;
mod writer;

use parquet::file::properties::WriterPropertiesBuilder;

pub use column::{Column, Described, Table, Values, batch, schema};
pub use writer::{Writer, WriterStats};

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

    /// The index in `flows` of packets that belong to no flow of the plan.
    pub fn other_flow(&self) -> u16 {
        self.flows.len() as u16 - 1
    }
}

/// A row of a table.
pub trait Row: Send + Sized + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// The columns in order.
    const COLUMNS: &'static [Column<Self>];

    /// The encoding of columns for which dictionaries are not the best.
    fn encoding(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        properties
    }
}

/// The tables that engines write while a run goes on.
pub fn tables() -> Vec<Table> {
    fn table<R: Row>() -> Table {
        Table { name: R::TABLE, columns: R::COLUMNS.iter().map(Column::described).collect() }
    }
    vec![
        table::<samples::Sample>(),
        table::<acks::Ack>(),
        table::<packets::PacketRow>(),
        table::<links::LinkRow>(),
        table::<pings::PingRow>(),
        table::<routes::RouteRow>(),
    ]
}
