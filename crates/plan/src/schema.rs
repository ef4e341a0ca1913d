use schemars::Schema;
use schemars::generate::SchemaSettings;

use crate::Plan;

/// The JSON Schema of `plan.json` as it is written (2020-12), with this crate's doc comments as descriptions. Keys that
/// are `required` are always present.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Plan>()
}
