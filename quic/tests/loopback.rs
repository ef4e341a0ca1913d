//! Every stack with every algorithm carries data over loopback, by the program itself.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use quic_lines::{Line, Order, Received, Sent, Stack, Write as Writing, line, parse};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dumbbell-quic");
const BYTES: u64 = 300_000;
const INTERVAL_NS: &str = "10000000";

struct End {
    child: Child,
    orders: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl End {
    fn start(arguments: &[&str]) -> End {
        let mut command = Command::new(PROGRAM);
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        assert!(matches!(parse(&first), Ok(Line::Ready(_))), "{arguments:?}: {first:?}");
        End { child, orders, lines }
    }

    fn begin(&mut self) {
        self.order(Order::Start { zero_monotonic_ns: 0 });
    }

    fn order(&mut self, order: Order) {
        self.orders.write_all(line(&order).as_bytes()).unwrap();
    }

    /// Reads the lines that it writes until its end.
    fn rest(mut self) -> Vec<Line> {
        let lines = self.lines.lines().map(|one| parse(&one.unwrap()).unwrap()).collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

fn stacks() -> Vec<Stack> {
    let listed = Command::new(PROGRAM).arg("stacks").output().unwrap();
    serde_json::from_slice(&listed.stdout).unwrap()
}

/// A port of loopback that nobody had a moment ago.
fn port() -> u16 {
    std::net::UdpSocket::bind("127.0.0.3:0").unwrap().local_addr().unwrap().port()
}

fn last<T>(lines: &[Line], of: impl Fn(&Line) -> Option<T>) -> T {
    lines.iter().rev().find_map(of).expect("a sample")
}

#[test]
fn every_algorithm_carries_all_bytes_and_tells_of_its_path() {
    let all = stacks();
    assert!(all.len() > 1);
    for Stack { name, algorithms, .. } in all {
        for cc in algorithms {
            let to = format!("127.0.0.3:{}", port());
            let mut receiver = End::start(&["receive", &name, &to, INTERVAL_NS]);
            let mut sender = End::start(&["send", &name, &cc, "127.0.0.2", &to, INTERVAL_NS]);
            receiver.begin();
            sender.begin();
            sender.order(Order::Write(Writing { bytes: Some(BYTES), is_last: true, ..Writing::default() }));
            let (sent, received) = (sender.rest(), receiver.rest());
            let received: Received = last(&received, |one| match one {
                Line::Received(row) => Some(*row),
                _ => None,
            });
            assert_eq!((received.bytes, received.complete, received.socket_drops), (BYTES, true, 0), "{name} {cc}");
            let sent: Sent = last(&sent, |one| match one {
                Line::Sent(row) => Some(*row),
                _ => None,
            });
            assert_eq!((sent.written_bytes, sent.complete), (BYTES, true), "{name} {cc}");
            assert!(sent.sent_bytes > BYTES && sent.cwnd_bytes > 2 * 1200, "{name} {cc}: {sent:?}");
            let (least, smoothed) = (sent.min_rtt_us.unwrap(), sent.srtt_us.unwrap());
            assert!(0 < least && least <= smoothed, "{name} {cc}: {sent:?}");
            // All is acknowledged but, perhaps, the last packets without data.
            assert!(sent.bytes_in_flight.unwrap() < 2 * 1500, "{name} {cc}: {sent:?}");
        }
    }
}

#[test]
fn stacks_with_a_qlog_write_it_and_others_refuse() {
    let folder = std::env::temp_dir().join(format!("dumbbell-quic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["quinn", "noq", "quiche"] {
        let files = ["receiver", "sender"].map(|end| folder.join(format!("{name}.{end}")).display().to_string());
        let to = format!("127.0.0.3:{}", port());
        let mut receiver = End::start(&["receive", name, &to, INTERVAL_NS, &files[0]]);
        let mut sender = End::start(&["send", name, "cubic", "127.0.0.2", &to, INTERVAL_NS, &files[1]]);
        receiver.begin();
        sender.begin();
        sender.order(Order::Write(Writing { bytes: Some(BYTES), is_last: true, ..Writing::default() }));
        (sender.rest(), receiver.rest());
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            let records: Vec<serde_json::Value> =
                text.lines().map(|line| serde_json::from_str(line.trim_start_matches('\u{1e}')).unwrap()).collect();
            assert!(
                records[0].get("qlog_version").or(records[0].get("file_schema")).is_some(),
                "{file}: {}",
                records[0]
            );
            assert!(records.len() > 100 && records[1..].iter().all(|one| one["name"].is_string()), "{file}");
            assert!((0.0..60_000.0).contains(&records[1]["time"].as_f64().unwrap()), "{file}: {}", records[1]);
        }
    }
    let file = folder.join("s2n").display().to_string();
    let output = Command::new(PROGRAM).args(["receive", "s2n", "127.0.0.3:1", INTERVAL_NS, &file]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("s2n-quic writes no qlog"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_unknown_stack_or_algorithm_is_refused_with_those_there_are() {
    let refused = |arguments: &[&str]| {
        let output = Command::new(PROGRAM).args(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&["send", "quinn", "vegas", "127.0.0.2", "127.0.0.3:1", INTERVAL_NS]);
    assert!(said.contains("no congestion control vegas") && said.contains("cubic"), "{said}");
    let said = refused(&["receive", "quic", "127.0.0.3:1", INTERVAL_NS]);
    assert!(said.contains("no stack quic") && said.contains("quinn"), "{said}");
}
