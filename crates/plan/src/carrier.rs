use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Carrier of the interfaces at the ends of a link while the link is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// They notice nothing.
    #[default]
    Kept,
    /// No carrier, as if the cable were pulled.
    Lost,
}

impl Carrier {
    /// True if it is the default.
    pub fn is_default(&self) -> bool {
        *self == Carrier::default()
    }
}
