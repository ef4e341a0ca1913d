use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::{Event, Order};

/// The messages between a run and the command.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Messages {
    event: Event,
    order: Order,
}

/// The JSON Schema (2020-12) of the events of a run and the orders to it, `Event` and `Order` among its definitions, with
/// this crate's doc comments as descriptions. What is `required` is always there.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Messages>()
}
