//! The `links` table: what each link has done so far, once per sample interval.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use link::{Backlog, Counters};
use units::Time;

use crate::{Names, Row, categorical_column, categorical_field};

/// One link at one time.
#[derive(Clone, Copy, Debug)]
pub struct LinkRow {
    /// When.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// Since the run's origin.
    pub counters: Counters,
    /// Waiting now.
    pub backlog: Backlog,
    /// The most bytes that waited since the row before.
    pub queue_bytes_max: u64,
    /// What it could have sent since the run's origin; `None` without a limit.
    pub capacity_bytes: Option<u64>,
}

type Cumulative = (&'static str, fn(&Counters) -> u64);

const CUMULATIVE: [Cumulative; 10] = [
    ("arrived_packets", |c| c.arrived_packets),
    ("arrived_bytes", |c| c.arrived_bytes),
    ("departed_packets", |c| c.departed_packets),
    ("departed_bytes", |c| c.departed_bytes),
    ("delivered_packets", Counters::delivered_packets),
    ("delivered_bytes", |c| c.delivered_bytes),
    ("dropped_packets", Counters::dropped_packets),
    ("lost_packets", Counters::lost_packets),
    ("duplicated_packets", |c| c.duplicated_packets),
    ("marked_packets", |c| c.marked_packets),
];

impl Row for LinkRow {
    fn schema() -> SchemaRef {
        let mut fields = vec![Field::new("time_ns", DataType::Int64, false), categorical_field("link", false)];
        fields.extend(CUMULATIVE.iter().map(|(name, _)| Field::new(*name, DataType::UInt64, false)));
        fields.push(Field::new("queue_bytes", DataType::UInt64, false));
        fields.push(Field::new("queue_packets", DataType::UInt32, false));
        fields.push(Field::new("queue_bytes_max", DataType::UInt64, false));
        fields.push(Field::new("capacity_bytes", DataType::UInt64, true));
        Arc::new(Schema::new(fields))
    }

    fn batch(rows: &[Self], names: &Names) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.time.as_nanos()))),
            categorical_column(UInt16Array::from_iter_values(rows.iter().map(|r| r.link)), &names.links)?,
        ];
        for (_, of) in CUMULATIVE {
            columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| of(&r.counters)))));
        }
        columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.backlog.bytes))));
        columns.push(Arc::new(UInt32Array::from_iter_values(rows.iter().map(|r| r.backlog.packets))));
        columns.push(Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.queue_bytes_max))));
        columns.push(Arc::new(rows.iter().map(|r| r.capacity_bytes).collect::<UInt64Array>()));
        Ok(RecordBatch::try_new(Self::schema(), columns)?)
    }
}
