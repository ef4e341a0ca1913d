//! The flows of a lab's records, which nobody has planned: connections that hosts were found to have.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::Names;
use crate::packets::OTHER_FLOW;

/// The file in the directory of the records: a line for each flow, in the order in which they were found.
pub const FILE: &str = "flows.jsonl";
/// The most flows that are told apart; packets of further ones are `other`.
pub const MOST: u16 = 4096;

/// All TCP connections from one address to one port of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFlow {
    /// The host that connects.
    pub from: String,
    /// The host that accepts.
    pub to: String,
    /// The address that connects.
    pub from_address: IpAddr,
    /// The address that accepts.
    pub to_address: IpAddr,
    /// The port that accepts.
    pub port: u16,
}

impl FoundFlow {
    /// The flow as a line of the file.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a flow is plain data") + "\n"
    }
}

/// The name of the flow that was found as number `index`, from 0.
pub fn name(index: u16) -> String {
    format!("f{}", u32::from(index) + 1)
}

/// The names in tables of a lab's records, whose flows are not known when they begin.
pub fn names(plan: &plan::Plan) -> Names {
    let flows = (0..MOST).map(name).chain([OTHER_FLOW.to_owned()]).collect();
    Names { flows, ..Names::of(plan) }
}
