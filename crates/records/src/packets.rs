//! The `packets` table: a row per packet and link that can do something to it.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use link::{Ecn, Fate, Mark, Passage, Reordered};
use units::{Duration, Time};

use crate::{Names, Row, categorical_column, categorical_field};

/// The flow of packets that belong to none of the plan.
pub const OTHER_FLOW: &str = "other";

/// One packet's passage over one link.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Index of the link in the plan.
    pub link: u16,
    /// TCP or UDP payload.
    pub payload_bytes: u32,
    /// TCP sequence number of the first payload byte.
    pub tcp_seq: Option<u32>,
    /// What the link did to it.
    pub passage: Passage,
    /// When it was really handed to its host, on the last logged link of its path.
    pub sent: Option<Time>,
}

impl Row for PacketRow {
    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            categorical_field("link", false),
            categorical_field("flow", false),
            Field::new("packet", DataType::UInt64, false),
            Field::new("size_bytes", DataType::UInt32, false),
            Field::new("payload_bytes", DataType::UInt32, false),
            Field::new("tcp_seq", DataType::UInt32, true),
            Field::new("arrival_ns", DataType::Int64, false),
            Field::new("queue_bytes", DataType::UInt64, false),
            Field::new("queue_packets", DataType::UInt32, false),
            Field::new("departure_ns", DataType::Int64, true),
            Field::new("delivery_ns", DataType::Int64, true),
            Field::new("sent_ns", DataType::Int64, true),
            Field::new("sojourn_ns", DataType::Int64, true),
            categorical_field("fate", false),
            categorical_field("ecn", false),
            categorical_field("mark", true),
            Field::new("duplicate", DataType::Boolean, false),
            categorical_field("reordered", true),
            Field::new("corrupted", DataType::Boolean, false),
        ]))
    }

    fn batch(rows: &[Self], names: &Names) -> Result<RecordBatch> {
        let time = |at: fn(&PacketRow) -> Option<Time>| -> ArrayRef {
            Arc::new(rows.iter().map(|r| at(r).map(Time::as_nanos)).collect::<Int64Array>())
        };
        let column_u32 =
            |of: fn(&PacketRow) -> u32| -> ArrayRef { Arc::new(UInt32Array::from_iter_values(rows.iter().map(of))) };
        let column_u64 =
            |of: fn(&PacketRow) -> u64| -> ArrayRef { Arc::new(UInt64Array::from_iter_values(rows.iter().map(of))) };
        let flag = |of: fn(&Passage) -> bool| -> ArrayRef {
            Arc::new(rows.iter().map(|r| Some(of(&r.passage))).collect::<BooleanArray>())
        };
        let keys = |of: fn(&PacketRow) -> u16| UInt16Array::from_iter_values(rows.iter().map(of));
        let columns = vec![
            categorical_column(keys(|r| r.link), &names.links)?,
            categorical_column(keys(|r| r.passage.packet.flow), &names.flows)?,
            column_u64(|r| r.passage.packet.id),
            column_u32(|r| r.passage.packet.size),
            column_u32(|r| r.payload_bytes),
            Arc::new(rows.iter().map(|r| r.tcp_seq).collect::<UInt32Array>()),
            time(|r| Some(r.passage.arrival)),
            column_u64(|r| r.passage.queue_bytes),
            column_u32(|r| r.passage.queue_packets),
            time(|r| r.passage.departure),
            time(|r| r.passage.delivery),
            time(|r| r.sent),
            Arc::new(rows.iter().map(|r| r.passage.sojourn.map(Duration::as_nanos)).collect::<Int64Array>()),
            categorical_column(keys(|r| r.passage.fate as u16), &Fate::NAMES)?,
            categorical_column(keys(|r| r.passage.packet.ecn as u16), &Ecn::NAMES)?,
            categorical_column(rows.iter().map(|r| r.passage.mark.map(|mark| mark as u16)).collect(), &Mark::NAMES)?,
            flag(|p| p.duplicate),
            categorical_column(
                rows.iter().map(|r| r.passage.reordered.map(|why| why as u16)).collect(),
                &Reordered::NAMES,
            )?,
            flag(|p| p.corruption.is_some()),
        ];
        Ok(RecordBatch::try_new(Self::schema(), columns)?)
    }
}
