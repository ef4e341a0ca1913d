//! Reads bytes as a capture, follows its connections, and writes their tables.
#![no_main]

use std::fs;

use capture::{Capture, DecodeAs};
use connections::rows::{ConnectionRow, DirectionRow, EventRow, GapRow, IntervalRow, RttRow, SackRow, SegmentRow};
use connections::{Analysis, At, Every, Limits, Part, Sink, Table, Wanted, analyse, detail};
use libfuzzer_sys::fuzz_target;

/// One of this many inputs also becomes files.
const WRITTEN: u64 = 64;

/// Counts rows.
#[derive(Default)]
struct Counts {
    connections: u64,
    rows: u64,
    packets: u64,
    payload: u64,
    delivered: u64,
}

impl Sink for Counts {
    fn connection(&mut self, _: ConnectionRow) {
        self.connections += 1;
    }
    fn direction(&mut self, row: DirectionRow) {
        self.payload += row.counters.payload_bytes;
        self.delivered += row.stream.unique_bytes.unwrap_or(0) + row.stream.repeated_bytes.unwrap_or(0);
    }
    fn interval(&mut self, _: IntervalRow) {
        self.rows += 1;
    }
    fn rtt(&mut self, _: RttRow) {
        self.rows += 1;
    }
    fn event(&mut self, _: EventRow) {
        self.rows += 1;
    }
    fn gap(&mut self, _: GapRow) {
        self.rows += 1;
    }
    fn wants(&self, _: u64, _: i64) -> bool {
        true
    }
    fn segment(&mut self, _: SegmentRow) {
        self.packets += 1;
    }
    fn sack(&mut self, _: SackRow) {}
}

fuzz_target!(|bytes: &[u8]| {
    // The same input is read in the same way each time, and inputs in different ways.
    let choice = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    let at = [None, Some(At::Sender), Some(At::Middle), Some(At::Receiver)][(choice / WRITTEN % 4) as usize];
    let as_said = ["udp:1=vxlan", "udp:2=geneve", "udp:3=gtp", "link:147=1", "link:148=101"].map(str::to_owned);
    let as_said = DecodeAs::parse(&as_said).expect("they are well-formed");
    let limits = Limits::of(1 + (choice / WRITTEN / 4 % 16) as usize);

    let Ok(capture) = Capture::from_bytes(bytes.to_vec()) else { return };
    let mut capture = capture.decoding(as_said.clone());
    let (mut table, mut counts) = (Table::new(limits).seen_at(at), Counts::default());
    while let Some(mut segment) = capture.next_segment().expect("there is no other file") {
        table.take(&mut segment, &mut counts);
    }
    table.finish(&mut counts);
    assert_eq!(counts.connections, table.connections);
    assert!(counts.packets <= table.segments);
    assert!(counts.rows <= 8 * table.segments, "{} rows of {} segments", counts.rows, table.segments);
    assert!(counts.delivered <= counts.payload);
    if choice % WRITTEN == 0 {
        write(bytes, &as_said, limits, at);
    }
});

/// Analyses the capture as a file.
fn write(bytes: &[u8], as_said: &DecodeAs, limits: Limits, at: Option<At>) {
    let directory = tempfile::tempdir().expect("a directory");
    let (captures, directory) = ([directory.path().join("capture")], directory.path());
    fs::write(&captures[0], bytes).expect("a file");
    let every = Every::Top(2);
    let analysis = Analysis { captures: &captures, interfaces: &[], as_said, directory, limits, every, at };
    let Ok(summary) = analyse(&analysis, |_| Ok(())) else { return };
    let parts = [Part { connection: 0, from_ns: 0, to_ns: summary.end_ns }];
    let (captures, most) = (&captures[..], 1_000);
    let wanted = Wanted { captures, interfaces: &[], as_said, directory, limits, parts: &parts, most };
    detail(&wanted, |_| Ok(())).expect("it was read before");
}
