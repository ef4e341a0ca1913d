//! Programs as flows, over loopback.

use crate::common::{MS, flow, plan, run};
use serde_json::{Value, json};

const SERVER: &str = r#"python3 -c '
import socket
server = socket.create_server(("127.0.0.2", PORT))
connection, _ = server.accept()
total = 0
while data := connection.recv(65536):
    total += len(data)
print("received", total)
'"#;

const CLIENT: &str = r#"python3 -c '
import socket, time
sock = socket.create_connection(("127.0.0.2", PORT), source_address=("127.0.0.1", 0))
for _ in range(30):
    sock.sendall(bytes(10_000))
    time.sleep(0.01)
time.sleep(0.1)
print("sent")
'"#;

/// A flow of a program; `PORT` in its command lines is the flow's port.
fn program(stop_ns: i64, command: &str, server_command: Option<&str>) -> Value {
    let mut flow = flow("f0", 0, stop_ns, Value::Null);
    let port = flow["port"].to_string();
    flow["workload"] = json!({
        "kind": "command",
        "command": command.replace("PORT", &port),
        "server_command": server_command.map(|line| line.replace("PORT", &port)),
    });
    flow
}

#[test]
fn a_program_and_its_server_run_and_their_sockets_are_sampled() {
    let ran = run(&plan(2_000 * MS, json!([program(2_000 * MS, CLIENT, Some(SERVER))])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    let command = f0.command.unwrap();
    assert_eq!((command.exit_code, command.server_exit_code), (Some(0), Some(0)), "{f0:?}");
    assert!(!command.ended_by_us && !command.server_ended_by_us, "{f0:?}");
    assert!(f0.completed && f0.error.is_none(), "{f0:?}");
    assert_eq!((ran.text("logs/f0.stdout"), ran.text("logs/f0.stderr")), ("sent\n".into(), "".into()));
    assert_eq!(ran.text("logs/f0.server.stdout"), "received 300000\n");

    assert_eq!((f0.sent_bytes, f0.received_bytes), (300_000, 300_000));
    assert!(f0.cc_actual.is_some() && f0.first_byte_ns < f0.end_ns, "{f0:?}");
    let rows = ran.samples(0);
    assert!(rows.len() >= 10, "{} rows", rows.len());
    assert!(rows.times().is_sorted());
    assert!(rows.column::<u32>("cwnd_packets").iter().all(Option::is_some));
    assert_eq!(rows.column::<u64>("received_bytes").last().copied().flatten(), Some(300_000));
}

#[test]
fn a_failing_program_is_reported_and_the_run_goes_on() {
    let ran = run(&plan(300 * MS, json!([program(300 * MS, "echo out; echo err >&2; exit 3", None)])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    let command = f0.command.unwrap();
    assert_eq!((command.exit_code, command.ended_by_us), (Some(3), false));
    assert_eq!(f0.error.as_deref(), Some("its command exited with 3; see logs/f0.stderr"));
    assert_eq!((ran.text("logs/f0.stdout"), ran.text("logs/f0.stderr")), ("out\n".into(), "err\n".into()));
    assert!(!f0.completed && ran.report.as_ref().unwrap().wall_s >= 0.3);
}

#[test]
fn a_program_that_is_still_running_ends_with_its_group() {
    let ran = run(&plan(200 * MS, json!([program(100 * MS, "sleep 60 & echo $!; sleep 60; exit 1", None)])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    assert_eq!(f0.command.unwrap().exit_code, Some(-15), "{f0:?}");
    assert!(f0.completed && f0.error.is_none(), "it ran until its stop: {f0:?}");
    let background: i32 = ran.text("logs/f0.stdout").trim().parse().unwrap();
    assert_ended(background);
}

#[test]
fn programs_that_answer_sigterm_with_an_exit_code_of_their_own_were_ended_by_us() {
    let until_told = |code| format!("trap 'exit {code}' TERM; while :; do sleep 0.01; done");
    let ran = run(&plan(400 * MS, json!([program(200 * MS, &until_told(1), Some(&until_told(2)))])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    let command = f0.command.unwrap();
    assert_eq!((command.exit_code, command.server_exit_code), (Some(1), Some(2)), "{f0:?}");
    assert!(command.ended_by_us && command.server_ended_by_us, "{f0:?}");
    assert!(f0.completed && f0.error.is_none(), "it ran until its stop: {f0:?}");
}

#[test]
fn a_program_that_ignores_sigterm_is_killed() {
    let ran =
        run(&plan(100 * MS, json!([program(100 * MS, "trap '' TERM; while :; do sleep 0.05; done", None)])), None);
    let command = ran.report.as_ref().unwrap().flows[0].command.unwrap();
    assert_eq!((command.exit_code, command.ended_by_us), (Some(-9), true));
}

#[test]
fn a_server_that_fails_fails_the_run() {
    let ran = run(&plan(100 * MS, json!([program(100 * MS, "true", Some("echo broken >&2; exit 5"))])), None);
    let failure = ran.failure();
    assert_eq!(failure.what, "flow f0: its server");
    assert_eq!(failure.why, "exited with 5 before the run began. It said: broken");
}

/// Gone, or a zombie that its new parent has yet to reap.
fn assert_ended(pid: i32) {
    for _ in 0..100 {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        match state.map(|stat| stat.rsplit(") ").next().unwrap_or_default().starts_with('Z')) {
            Err(_) | Ok(true) => return,
            Ok(false) => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
    panic!("process {pid} still runs");
}
