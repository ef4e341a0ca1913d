//! Runs of small plans over loopback.

#![allow(dead_code)]

use std::fs::File;
use std::io::{self, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use bpf::Names;
use lab::Doors;
use messages::{Failure, FlowCounts, Order};
use plan::Plan;
use realtime::Gauges;
use records::reader;
use serde_json::{Value, json};
use tempfile::TempDir;
use traffic::TrafficReport;

pub const MS: i64 = 1_000_000;

/// A plan whose hosts are loopback addresses, sampled every 10 ms.
pub fn plan(duration_ns: i64, flows: Value) -> Plan {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    Plan::of(json!({
        "name": "test", "duration_ns": duration_ns, "seed": 1,
        "nodes": [host("h1", "127.0.0.1"), host("h2", "127.0.0.2"), host("lonely", "127.0.0.3")],
        "links": [], "flows": flows,
        "record": {"sample_interval_ns": 10 * MS, "packets": false},
        "emulate": {"ring_bytes": 0, "spin_ns": 20000, "arena_bytes": 0},
    }))
    .unwrap()
}

/// A flow from h1 to h2 on a port that is free.
pub fn flow(id: &str, start_ns: i64, stop_ns: i64, workload: Value) -> Value {
    json!({"id": id, "from": "h1", "to": "h2", "start_ns": start_ns, "stop_ns": stop_ns,
           "port": free_port(), "workload": workload})
}

pub fn tcp(cc: &str, bytes: Option<u64>) -> Value {
    json!({"kind": "tcp", "cc": cc, "bytes": bytes, "ecn": false})
}

/// Below the range from which the kernel picks ports, and given out once: tests run side by side.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 10_000 + (std::process::id() % 10) as u16 * 2_000;
    loop {
        let port = start + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.2", port)).is_ok() && UdpSocket::bind(("127.0.0.2", port)).is_ok() {
            return port;
        }
    }
}

/// Plays the process that watches a run: starts it when it is ready.
struct Watcher {
    control: File,
    events: Vec<Value>,
    on_ready: Option<Box<dyn FnOnce()>>,
}

impl Write for Watcher {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let event: Value = serde_json::from_slice(line).expect("one event per write");
        if event["event"] == "ready" {
            if let Some(on_ready) = self.on_ready.take() {
                on_ready();
            }
            let start = Order::Start { origin_ns: realtime::monotonic_ns() + 2 * MS };
            self.control.write_all(&start.line().unwrap())?;
        }
        self.events.push(event);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The results of a run.
pub struct Ran {
    pub report: Result<TrafficReport>,
    pub events: Vec<Value>,
    /// The progress of each flow at the end, as another process sees it.
    pub live: Vec<Option<FlowCounts>>,
    pub dir: TempDir,
}

/// Run in the current namespace.
pub fn run(plan: &Plan, stop_at_ns: Option<i64>) -> Ran {
    let netns = File::open("/proc/thread-self/ns/net").unwrap();
    watch(plan, netns.as_fd(), stop_at_ns, None)
}

/// Run all hosts in `netns`; `on_ready` is called between the event `ready` and the start.
pub fn run_in(plan: &Plan, netns: BorrowedFd, on_ready: Option<Box<dyn FnOnce()>>) -> Ran {
    watch(plan, netns, None, on_ready)
}

fn watch(plan: &Plan, netns: BorrowedFd, stop_at_ns: Option<i64>, on_ready: Option<Box<dyn FnOnce()>>) -> Ran {
    let dir = TempDir::new().unwrap();
    let (read, write): (OwnedFd, OwnedFd) = nix::unistd::pipe().unwrap();
    let stop = File::from(write.try_clone().unwrap());
    let mut watcher = Watcher { control: File::from(write), events: Vec::new(), on_ready };
    let gauges = Gauges::new(plan.flows.len()).unwrap();
    let over = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        scope.spawn(|| stop_at(stop_at_ns, &gauges, &over, stop));
        let report = traffic::run(
            plan,
            &|_| Ok(Doors::to_network(netns)),
            &Names::default(),
            dir.path(),
            read,
            &mut watcher,
            Some(&gauges),
        );
        over.store(true, Ordering::Relaxed);
        report
    });
    let live = gauges.iter().map(|gauge| gauge.read().map(FlowCounts::from)).collect();
    Ran { report, events: watcher.events, live, dir }
}

/// Order a stop once the first flow says that it is so late.
fn stop_at(time_ns: Option<i64>, gauges: &traffic::FlowGauges, over: &AtomicBool, mut control: File) {
    let Some(time_ns) = time_ns else { return };
    while !over.load(Ordering::Relaxed) {
        if gauges[0].read().is_some_and(|words| FlowCounts::from(words).time_ns >= time_ns) {
            control.write_all(&Order::Stop.line().unwrap()).unwrap();
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Ran {
    /// The rows of one flow.
    pub fn samples(&self, flow: usize) -> Rows {
        Rows::read(self.dir.path().join("samples.parquet"), flow as u16)
    }

    /// The rows of the first flow in a table.
    pub fn table(&self, name: &str) -> Rows {
        Rows::read(self.dir.path().join(name).with_extension("parquet"), 0)
    }

    pub fn events_named(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == name).collect()
    }

    /// Why the run failed.
    pub fn failure(&self) -> Failure {
        Failure::of(self.report.as_ref().unwrap_err())
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(path)).unwrap()
    }
}

/// One flow's rows of a table.
pub struct Rows {
    table: PathBuf,
    flow: String,
}

impl Rows {
    fn read(table: PathBuf, flow: u16) -> Rows {
        Rows { table, flow: format!("f{flow}") }
    }

    pub fn len(&self) -> usize {
        self.column::<i64>("time_ns").len()
    }

    /// A column of numbers; `None` is null.
    pub fn column<T: reader::Value>(&self, name: &str) -> Vec<Option<T>> {
        let mut found = Vec::new();
        reader::read(&self.table, &["flow", name], |rows| {
            let (flows, values) = (rows.texts(0)?, rows.values(1)?);
            let is_its = |&at: &usize| flows.get(at) == Some(self.flow.as_str());
            found.extend((0..rows.len()).filter(is_its).map(|at| values.get(at)));
            Ok(())
        })
        .unwrap();
        found
    }

    pub fn times(&self) -> Vec<i64> {
        self.column("time_ns").into_iter().flatten().collect()
    }
}
