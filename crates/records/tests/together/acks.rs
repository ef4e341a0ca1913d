//! A reader of the acks table finds what was written to it.

use cc::State;
use cc::state::{BbrState, CubicState, bbr_ack_phase, bbr_state};
use records::acks::{Ack, Moment};
use records::reader::{self, Rows};
use records::samples::CaState;
use records::{Column, Names, Row, Writer};
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
        state: if i.is_multiple_of(2) { cubic(i) } else { bbr(i) },
    }
}

/// Bandwidths are packets per microsecond << 24, gains of 256.
fn bbr(i: u32) -> State {
    BbrState {
        state: bbr_state::PROBE_BW_UP,
        ack_phase: bbr_ack_phase::PROBE_FEEDBACK,
        bw: 0,
        bw_hi: (1 << 24) / 1000,
        min_rtt: 30_000,
        pacing_gain: 320,
        cwnd_gain: 512,
        inflight_hi: i,
        round: i,
        ..BbrState::default()
    }
    .into()
}

fn cubic(i: u32) -> State {
    CubicState { w_max: i, k: 1536, hystart_found: 1, ..CubicState::default() }.into()
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

    let columns: Vec<&str> = Ack::COLUMNS.iter().map(|column| column.name).collect();
    let mut i = 0;
    reader::read(&path, &columns, |rows| {
        for at in 0..rows.len() {
            compare(rows, at, i);
            i += 1;
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(i, ROWS);
}

fn compare(rows: &Rows, at: usize, i: u32) {
    let row = row(i);
    let place = |name: &str| Ack::COLUMNS.iter().position(|column: &Column<Ack>| column.name == name).unwrap();
    let u32 = |name: &str| rows.values::<u32>(place(name)).unwrap().get(at);
    let u64 = |name: &str| rows.values::<u64>(place(name)).unwrap().get(at);
    let f32 = |name: &str| rows.values::<f32>(place(name)).unwrap().get(at);
    let flag = |name: &str| rows.values::<bool>(place(name)).unwrap().get(at);
    let word = |name: &str| rows.texts(place(name)).unwrap().get(at).map(str::to_owned);
    assert_eq!(rows.values::<i64>(place("time_ns")).unwrap().get(at), Some(row.time.as_nanos()));
    assert_eq!(word("flow").unwrap(), ["f1", "f2"][usize::from(row.flow)]);
    assert_eq!((word("moment").unwrap(), word("ca_state").unwrap()), ("after".into(), "recovery".into()));
    assert_eq!((u32("srtt_us"), u32("rtt_us")), (row.srtt_us, row.rtt_us));
    assert_eq!((u32("cwnd_packets"), u32("ssthresh_packets")), (Some(row.cwnd_packets), None));
    assert_eq!(u32("delivered_packets"), Some(row.delivered_packets));
    assert_eq!((u64("bytes_in_flight"), u64("delivery_rate_bps")), (Some(row.bytes_in_flight), row.delivery_rate_bps));
    assert_eq!((u64("snd_una_bytes"), u64("snd_nxt_bytes")), (Some(row.snd_una_bytes), Some(row.snd_nxt_bytes)));
    assert_eq!(flag("delivery_rate_app_limited"), row.delivery_rate_app_limited);
    let found = flag("cubic_hystart_found");
    if i.is_multiple_of(2) {
        assert_eq!((word("bbr_state"), u32("bbr_round"), f32("bbr_pacing_gain")), (None, None, None));
        // A window of 0 is none.
        assert_eq!((u32("cubic_w_max_packets"), u32("cubic_origin_packets")), ((i > 0).then_some(i), None));
        assert_eq!((f32("cubic_k_s"), found), (Some(1.5), Some(true)));
        return;
    }
    assert_eq!(
        (word("bbr_state").unwrap(), word("bbr_ack_phase").unwrap()),
        ("probe_bw_up".into(), "probe_feedback".into())
    );
    assert_eq!((u64("bbr_bw_bps"), u64("bbr_bw_lo_bps")), (None, None));
    let bw_hi = u64("bbr_bw_hi_bps").unwrap();
    assert!((11_583_000..=11_584_000).contains(&bw_hi), "a packet of 1448 bytes per ms: {bw_hi}");
    assert_eq!((u32("bbr_inflight_hi_packets"), u32("bbr_inflight_lo_packets")), (Some(i), None));
    assert_eq!((u32("bbr_min_rtt_us"), u32("bbr_round"), u32("bbr_cycle")), (Some(30_000), Some(i), None));
    assert_eq!((f32("bbr_pacing_gain"), f32("bbr_cwnd_gain")), (Some(1.25), Some(2.0)));
    assert_eq!((u32("cubic_w_max_packets"), f32("cubic_k_s"), found), (None, None, None));
}
