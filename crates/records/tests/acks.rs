//! A reader of the acks table finds what was written to it.

use std::fs::File;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use records::acks::{Ack, BbrAck, BbrAckPhase, BbrState, Moment};
use records::samples::CaState;
use records::{Names, Writer};
use units::Time;

fn row(i: u32) -> Ack {
    Ack {
        time: Time(i64::from(i) * 12_345 - 1_000_000),
        flow: (i % 2) as u16,
        socket: 40_000,
        moment: Moment::After,
        cwnd_packets: 10 + i % 1000,
        ssthresh_packets: None,
        snd_mss_bytes: 1448,
        srtt_us: (i > 0).then_some(u32::MAX - i),
        rtt_us: (!i.is_multiple_of(3)).then_some(i),
        min_rtt_us: Some(7),
        bytes_in_flight: u64::from(i) << 20,
        pacing_rate_bps: None,
        delivery_rate_bps: (i > 0).then_some(u64::MAX - u64::from(i % 5)),
        delivery_rate_app_limited: (i > 0).then_some(i.is_multiple_of(2)),
        delivered_packets: u32::MAX - 1000 + i % 1000,
        delivered_ce_packets: 0,
        lost_packets: 0,
        lost_total_packets: i / 100,
        retransmitted_segments: i / 100,
        ca_state: CaState::Recovery,
        snd_una_bytes: 1448 * u64::from(i),
        snd_nxt_bytes: 1448 * u64::from(i) + (1 << 40),
        bbr: (!i.is_multiple_of(2)).then_some(BbrAck {
            state: BbrState::ProbeBwUp,
            ack_phase: Some(BbrAckPhase::ProbeFeedback),
            bw_bps: Some(1_000_000),
            bw_lo_bps: None,
            bw_hi_bps: Some(2_000_000),
            min_rtt_us: Some(30_000),
            pacing_gain: 1.25,
            cwnd_gain: 2.0,
            inflight_lo_packets: None,
            inflight_hi_packets: Some(i),
            round: i,
            cycle: None,
        }),
    }
}

#[test]
fn rows_survive_their_encoding() {
    // More than a chunk of the writer's, and more than a block of differences.
    const ROWS: u32 = 20_000;
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("acks.parquet");
    let names = Names { flows: vec!["f1".into(), "f2".into()], links: Vec::new() };
    let mut table = Writer::create(&path, names).unwrap();
    (0..ROWS).for_each(|i| table.push(row(i)));
    assert_eq!(table.finish().unwrap().rows, u64::from(ROWS));

    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap().build().unwrap();
    let mut i = 0;
    for batch in reader {
        let batch = batch.unwrap();
        for at in 0..batch.num_rows() {
            compare(&batch, at, &row(i));
            i += 1;
        }
    }
    assert_eq!(i, ROWS);
}

fn compare(batch: &RecordBatch, at: usize, row: &Ack) {
    let column = |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}")).clone();
    let u32 = |name: &str| {
        let column = column(name);
        column.is_valid(at).then(|| column.as_primitive::<UInt32Type>().value(at))
    };
    let u64 = |name: &str| {
        let column = column(name);
        column.is_valid(at).then(|| column.as_primitive::<UInt64Type>().value(at))
    };
    let word = |name: &str| {
        let column = column(name);
        let column = column.as_dictionary::<UInt16Type>();
        column.is_valid(at).then(|| {
            let key = usize::from(column.keys().value(at));
            column.values().as_string::<i32>().value(key).to_owned()
        })
    };
    assert_eq!(column("time_ns").as_primitive::<Int64Type>().value(at), row.time.as_nanos());
    assert_eq!(word("flow").unwrap(), ["f1", "f2"][usize::from(row.flow)]);
    assert_eq!((word("moment").unwrap(), word("ca_state").unwrap()), ("after".into(), "recovery".into()));
    assert_eq!((u32("srtt_us"), u32("rtt_us")), (row.srtt_us, row.rtt_us));
    assert_eq!((u32("cwnd_packets"), u32("ssthresh_packets")), (Some(row.cwnd_packets), None));
    assert_eq!(u32("delivered_packets"), Some(row.delivered_packets));
    assert_eq!((u64("bytes_in_flight"), u64("delivery_rate_bps")), (Some(row.bytes_in_flight), row.delivery_rate_bps));
    assert_eq!((u64("snd_una_bytes"), u64("snd_nxt_bytes")), (Some(row.snd_una_bytes), Some(row.snd_nxt_bytes)));
    let limited = column("delivery_rate_app_limited");
    assert_eq!(limited.is_valid(at).then(|| limited.as_boolean().value(at)), row.delivery_rate_app_limited);
    let state = row.bbr.map(|_| "probe_bw_up".to_owned());
    assert_eq!((word("bbr_state"), word("bbr_ack_phase").is_some()), (state, row.bbr.is_some()));
    let (hi, lo) = (u32("bbr_inflight_hi_packets"), u32("bbr_inflight_lo_packets"));
    assert_eq!((hi, lo), (row.bbr.and_then(|bbr| bbr.inflight_hi_packets), None));
    let gain = column("bbr_pacing_gain");
    let gain = gain.is_valid(at).then(|| gain.as_primitive::<Float32Type>().value(at));
    assert_eq!(gain, row.bbr.map(|bbr| bbr.pacing_gain));
}
