//! The tables of a shard. Columns, units and meaning are in `docs/reference/records.md`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use units::Time;

use super::Run;
use super::run::Outcome;
use super::summary::{FlowSummary, LinkSummary, Summary, seconds};

/// Name and rows of each table. `first` is the index of the first of `runs`.
pub(super) fn all(runs: &[Run], first: usize, outcomes: &[Outcome]) -> Result<[(&'static str, RecordBatch); 3]> {
    let summaries: Vec<Option<&Summary>> = outcomes.iter().map(|outcome| outcome.result.as_ref().ok()).collect();
    let flows = rows(runs, first, &summaries, |summary| &summary.flows);
    let links = rows(runs, first, &summaries, |summary| &summary.links);
    Ok([
        ("runs", of_runs(runs, first, outcomes, &summaries)?),
        ("flows", of_flows(&flows)?),
        ("links", of_links(&links)?),
    ])
}

/// Write a table, and make sure that it is on the disk.
pub(super) fn write(path: &Path, rows: &RecordBatch) -> Result<()> {
    let file = File::create(path).with_context(|| format!("creating the table {}", path.display()))?;
    let compression = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut table = ArrowWriter::try_new(file, rows.schema(), Some(properties))?;
    table.write(rows)?;
    Ok(table.into_inner()?.sync_all()?)
}

/// A row of a run.
struct Of<'a, T> {
    index: u64,
    run: &'a Run,
    row: &'a T,
}

fn rows<'a, T>(
    runs: &'a [Run],
    first: usize,
    summaries: &[Option<&'a Summary>],
    of: impl Fn(&'a Summary) -> &'a [T],
) -> Vec<Of<'a, T>> {
    let mut rows = Vec::new();
    for ((index, run), &summary) in (first as u64..).zip(runs).zip(summaries) {
        rows.extend(summary.map_or(&[][..], |summary| of(summary)).iter().map(|row| Of { index, run, row }));
    }
    rows
}

fn of_runs(runs: &[Run], first: usize, outcomes: &[Outcome], summaries: &[Option<&Summary>]) -> Result<RecordBatch> {
    let window = |of: fn((Time, Time)) -> Time| -> ArrayRef {
        let found = summaries.iter().map(|summary| Some(since_origin(of((*summary)?.jain_window?))));
        Arc::new(found.collect::<Float64Array>())
    };
    let judged = || outcomes.iter().map(|outcome| outcome.judged.as_ref());
    let columns: [(&str, ArrayRef, bool); 12] = [
        ("run", Arc::new(UInt64Array::from_iter_values((first as u64..).take(runs.len()))), false),
        ("run_id", text(runs.iter().map(|run| Some(run.id.as_str()))), false),
        ("cell", Arc::new(UInt32Array::from_iter_values(runs.iter().map(|run| run.cell))), false),
        ("repetition", Arc::new(UInt32Array::from_iter_values(runs.iter().map(|run| run.repetition))), false),
        ("seed", Arc::new(UInt64Array::from_iter_values(runs.iter().map(|run| run.seed))), false),
        ("error", text(outcomes.iter().map(|outcome| outcome.result.as_ref().err().map(String::as_str))), true),
        ("packets", Arc::new(summaries.iter().map(|s| Some((*s)?.packets)).collect::<UInt64Array>()), true),
        ("jain_index", Arc::new(summaries.iter().map(|s| (*s)?.jain_index).collect::<Float64Array>()), true),
        ("jain_start_s", window(|(start, _)| start), true),
        ("jain_stop_s", window(|(_, stop)| stop), true),
        ("verdict", text(judged().map(|judged| Some(judged?.verdict.name()))), true),
        ("reasons", text(judged().map(|judged| judged?.reasons.as_deref())), true),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn of_flows(rows: &[Of<'_, FlowSummary>]) -> Result<RecordBatch> {
    let word = |of: fn(&FlowSummary) -> &str| text(rows.iter().map(|row| Some(of(row.row))));
    let number = |of: fn(&FlowSummary) -> Option<u64>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row.row)).collect::<UInt64Array>())
    };
    let float = |of: fn(&FlowSummary) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row.row)).collect::<Float64Array>())
    };
    let converged = rows.iter().map(|row| row.row.converged);
    let columns: [(&str, ArrayRef, bool); 23] = [
        ("run", indices(rows), false),
        ("run_id", ids(rows), false),
        ("id", word(|flow| &flow.report.id), false),
        ("group", word(|flow| &flow.group), false),
        ("label", word(|flow| &flow.label), false),
        ("from", word(|flow| &flow.from), false),
        ("to", word(|flow| &flow.to), false),
        ("protocol", word(|flow| flow.protocol), false),
        ("cc", text(rows.iter().map(|row| row.row.report.cc())), true),
        ("port", Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.row.port))), false),
        ("start_s", float(|flow| Some(since_origin(flow.start))), false),
        ("stop_s", float(|flow| Some(since_origin(flow.stop))), false),
        ("sent_bytes", number(|flow| Some(flow.report.sent_bytes)), false),
        ("received_bytes", number(|flow| Some(flow.report.received_bytes)), false),
        ("goodput_bps", float(|flow| flow.goodput_bps), true),
        ("retransmitted_segments", number(FlowSummary::retransmitted_segments), true),
        ("rtt_min_ms", float(|flow| flow.rtt_min_ms), true),
        ("rtt_p50_ms", float(|flow| flow.rtt_p50_ms), true),
        ("rtt_p95_ms", float(|flow| flow.rtt_p95_ms), true),
        ("fct_s", float(|flow| flow.fct_s), true),
        ("converged", Arc::new(converged.map(|time| Some(time?.is_some())).collect::<BooleanArray>()), true),
        ("convergence_s", float(|flow| flow.converged?.map(seconds)), true),
        ("rwnd_limited_share", float(FlowSummary::rwnd_limited_share), true),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn of_links(rows: &[Of<'_, LinkSummary>]) -> Result<RecordBatch> {
    let number = |of: fn(&LinkSummary) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| of(row.row))))
    };
    let float = |of: fn(&LinkSummary) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| of(row.row)).collect::<Float64Array>())
    };
    let mut columns: Vec<(String, ArrayRef, bool)> = vec![
        ("run".into(), indices(rows), false),
        ("run_id".into(), ids(rows), false),
        ("link".into(), text(rows.iter().map(|row| Some(row.row.report.name.as_str()))), false),
        ("utilisation".into(), float(|link| link.utilisation), true),
        ("drops".into(), number(|link| link.report.dropped.values().sum()), false),
    ];
    for fate in link::Fate::DROPS {
        let counts = rows.iter().map(|row| row.row.report.dropped[fate.name()]);
        columns.push((fate.name().replace('-', "_"), Arc::new(UInt64Array::from_iter_values(counts)), false));
    }
    columns.extend([
        ("losses".into(), number(|link| link.report.lost_before + link.report.lost_after), false),
        ("marks".into(), number(|link| link.report.marked), false),
        ("marked_share".into(), float(|link| link.marked_share), true),
        ("duplicates".into(), number(|link| link.report.duplicated), false),
        ("reordered".into(), number(|link| link.report.reordered), false),
        ("corrupted".into(), number(|link| link.report.corrupted), false),
        ("arrived_packets".into(), number(|link| link.report.arrived_packets), false),
        ("delivered_packets".into(), number(|link| link.report.delivered_packets), false),
        ("delivered_bytes".into(), number(|link| link.report.delivered_bytes), false),
        ("queue_p50_ms".into(), float(|link| link.queue_p50_ms), true),
        ("queue_p95_ms".into(), float(|link| link.queue_p95_ms), true),
        ("queue_max_ms".into(), float(|link| link.queue_max_ms), true),
    ]);
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

fn indices<T>(rows: &[Of<'_, T>]) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.index)))
}

fn ids<T>(rows: &[Of<'_, T>]) -> ArrayRef {
    text(rows.iter().map(|row| Some(row.run.id.as_str())))
}

fn text<'a>(words: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(words.collect::<StringArray>())
}

fn since_origin(time: Time) -> f64 {
    seconds(time - Time::ZERO)
}
