//! The window of each algorithm over time, as a file that a change of behaviour changes. `UPDATE_CURVES=1` writes them.
//!
//! Each line is 100 ms of the test path (50 Mbit/s, 40 ms, a buffer of one BDP): time, window and what is in flight in
//! packets, smoothed RTT in us, and the state of BBR.

use std::fmt::Write;
use std::path::Path as File;

use crate::path::{MS, Path};

fn curve(name: &str) -> String {
    let mut path = Path::new(name, 50, 40, 165);
    if name == "dctcp" {
        path.bottleneck.mark_above = 65;
    }
    let mut lines = String::from("ms,cwnd,in_flight,srtt_us,state\n");
    for _ in 0..120 {
        path.run(100 * MS);
        let state = if name.starts_with("bbr") { path.state() } else { "" };
        let (cwnd, in_flight, srtt) = (path.sk.snd_cwnd, path.sk.packets_in_flight(), path.sk.srtt_us >> 3);
        writeln!(lines, "{},{cwnd},{in_flight},{srtt},{state}", path.now / MS).unwrap();
    }
    lines
}

#[test]
fn the_windows_are_what_they_were() {
    for name in cc::NAMES {
        let file = File::new(env!("CARGO_MANIFEST_DIR")).join("tests/flows/snapshots").join(format!("{name}.csv"));
        let new = curve(name);
        if std::env::var_os("UPDATE_CURVES").is_some() {
            std::fs::write(&file, &new).unwrap();
        }
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = new.lines().zip(old.lines()).find(|(new, old)| new != old);
        assert!(new == old, "{name} behaves differently; the first line, new and old: {differs:?}");
    }
}
