use std::io::Write;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::Error;

/// JSON lines to whoever watches the run.
pub struct EventStream<'a>(&'a mut dyn Write);

impl<'a> EventStream<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        EventStream(out)
    }

    pub fn ready(&mut self) -> Result<()> {
        self.emit(&json!({"event": "ready", "process": "traffic"}))
    }

    pub fn progress(&mut self, time_ns: i64, received: impl Iterator<Item = (impl AsRef<str>, u64)>) -> Result<()> {
        let flows: Vec<Value> =
            received.map(|(id, bytes)| json!({"id": id.as_ref(), "received_bytes": bytes})).collect();
        self.emit(&json!({"event": "progress", "time_ns": time_ns, "flows": flows}))
    }

    pub fn done(&mut self) -> Result<()> {
        self.emit(&json!({"event": "done", "process": "traffic"}))
    }

    pub fn failed(&mut self, error: &Error) -> Result<()> {
        let Error { what, why, hint } = error;
        self.emit(&json!({"event": "failed", "process": "traffic", "what": what, "why": why, "hint": hint}))
    }

    // One write per line: other processes write to the same pipe.
    fn emit(&mut self, event: &Value) -> Result<()> {
        let line = format!("{event}\n");
        self.0.write_all(line.as_bytes()).and_then(|()| self.0.flush()).context("writing an event")
    }
}
