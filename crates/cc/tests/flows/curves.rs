//! The window of each algorithm over time, as a file that a change of behaviour changes.
//!
//! Each line is 100 ms of the test path with a buffer of one BDP: time, window and what is in flight in packets, smoothed
//! RTT in us, and the state of BBR. `UPDATE_CURVES=1` writes the files, `DRAW_CURVES=directory` draws them as SVG.

use std::fmt::Write;
use std::path::Path as File;

use crate::path::{MS, Path};

/// The path's state at a time.
struct Point {
    ms: u64,
    cwnd: u32,
    in_flight: u32,
    srtt_us: u32,
    state: &'static str,
}

fn curve(name: &str) -> Vec<Point> {
    let mut path = Path::new(name, 50, 40, 165);
    if name == "dctcp" {
        path.bottleneck.mark_above = 65;
    }
    let mut point = || {
        path.run(100 * MS);
        let state = if name.starts_with("bbr") { path.state() } else { "" };
        let (cwnd, in_flight) = (path.sk.snd_cwnd, path.sk.packets_in_flight());
        Point { ms: path.now / MS, cwnd, in_flight, srtt_us: path.sk.srtt_us >> 3, state }
    };
    (0..120).map(|_| point()).collect()
}

fn as_csv(curve: &[Point]) -> String {
    let mut csv = String::from("ms,cwnd,in_flight,srtt_us,state\n");
    for Point { ms, cwnd, in_flight, srtt_us, state } in curve {
        writeln!(csv, "{ms},{cwnd},{in_flight},{srtt_us},{state}").unwrap();
    }
    csv
}

/// The window in black, what is in flight in red: a pixel for 10 ms and for a packet.
fn as_svg(name: &str, curve: &[Point]) -> String {
    let height = curve.iter().map(|point| point.cwnd).max().unwrap_or(0) + 20;
    let line = |colour, packets: fn(&Point) -> u32| {
        let points: String =
            curve.iter().map(|p| format!("{},{} ", p.ms / 10, height - packets(p).min(height))).collect();
        format!("<polyline fill='none' stroke='{colour}' points='{points}'/>")
    };
    let (cwnd, in_flight) = (line("black", |point| point.cwnd), line("red", |point| point.in_flight));
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1200 {height}'>\
         <text x='5' y='15'>{name}: cwnd (black), in flight (red), packets in 12 s</text>{cwnd}{in_flight}</svg>"
    )
}

#[test]
fn the_windows_are_what_they_were() {
    for name in cc::NAMES {
        let curve = curve(name);
        if let Some(directory) = std::env::var_os("DRAW_CURVES") {
            std::fs::write(File::new(&directory).join(format!("{name}.svg")), as_svg(name, &curve)).unwrap();
        }
        let file = File::new(env!("CARGO_MANIFEST_DIR")).join("tests/flows/snapshots").join(format!("{name}.csv"));
        let new = as_csv(&curve);
        if std::env::var_os("UPDATE_CURVES").is_some() {
            std::fs::write(&file, &new).unwrap();
        }
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = new.lines().zip(old.lines()).find(|(new, old)| new != old);
        assert!(new == old, "{name} behaves differently; the first line, new and old: {differs:?}");
    }
}
