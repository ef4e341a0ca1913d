use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of the receiving host that answers the requests of a flow that pings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Echo {
    /// The receiving host's kernel: ICMP echo (RFC 792).
    #[default]
    Icmp,
    /// A program on the receiving host: UDP echo (RFC 862).
    Udp,
}

impl Echo {
    /// A request's payload carries its number and its time, 8 bytes each.
    pub const LEAST_PAYLOAD: u32 = 16;
}
