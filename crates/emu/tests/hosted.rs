//! The links inside a kernel's process, driven by a clock of the test.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use emu::Port;
use emu::hosted::{Frame, Hosted, Outlet};
use serde_json::{Value, json};
use tempfile::TempDir;

const ORIGIN: i64 = 5_000_000_000;
const HEADERS: usize = 14 + 20 + 8;

/// The frames that left; and, in place of a full queue, a port that takes no more than one.
#[derive(Clone, Default)]
struct Wire(Rc<RefCell<Frames>>, Option<u16>);

/// Frames, each with the port that it left by.
type Frames = Vec<(u16, Vec<u8>)>;

impl Outlet for Wire {
    fn send(&mut self, port: u16, parts: &[libc::iovec], vnet: bool) -> std::io::Result<()> {
        assert!(!vnet, "the plan has the wire path");
        // SAFETY: the parts are valid during the call.
        let part = |part: &libc::iovec| unsafe {
            std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len).to_vec()
        };
        if self.1 == Some(port) && self.0.borrow().iter().any(|(other, _)| *other == port) {
            return Err(std::io::Error::from_raw_os_error(libc::ENOBUFS));
        }
        self.0.borrow_mut().push((port, parts.iter().flat_map(part).collect()));
        Ok(())
    }
}

fn link(name: &str, from: &str, to: &str) -> Value {
    json!({"name": name, "from": from, "to": to, "rate_bps": 100_000_000, "overhead_bytes": 0,
           "buffer": {"bytes": 3_000}, "delay_ns": 1_000_000})
}

fn plan() -> Value {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    json!({"name": "hosted", "duration_ns": 1_000_000_000, "seed": 1,
        "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
        "links": [link("ab", "a", "b"), link("ba", "b", "a")], "flows": [],
        "record": {"sample_interval_ns": 10_000_000, "packets": true},
        "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 1 << 20}})
}

fn ports() -> Vec<Port> {
    let port = |host: &str, last: u8| Port {
        host: host.to_owned(),
        interface: "eth0".to_owned(),
        mac: [2, 0, 0, 0, 1, last],
        gateway_mac: Some([2, 0, 0, 0, 3, last]),
        ifindex: 1000 + i32::from(last),
    };
    vec![port("a", 1), port("b", 2)]
}

/// A UDP datagram from a to b that makes a frame of 1250 bytes: 100 us at 100 Mbit/s.
fn datagram() -> Vec<u8> {
    let mut frame = vec![0; 1250];
    frame[12..14].copy_from_slice(&0x0800u16.to_be_bytes());
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&1236u16.to_be_bytes());
    frame[23] = 17;
    frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
    frame[30..34].copy_from_slice(&[10, 0, 0, 2]);
    frame[HEADERS] = 7;
    frame
}

fn ask(hosted: &mut Hosted<Wire>, request: &Value, now: i64) -> Value {
    serde_json::from_slice(&hosted.order(request.to_string().as_bytes(), now).unwrap()).unwrap()
}

fn opened(dir: &Path) -> (Hosted<Wire>, Wire) {
    let wire = Wire::default();
    let mut hosted = Hosted::new(dir, wire.clone());
    let ports = serde_json::to_value(ports()).unwrap();
    ask(&mut hosted, &json!({"request": "open", "plan": plan(), "ports": ports, "hops": []}), ORIGIN - 10);
    (hosted, wire)
}

fn arrive(hosted: &mut Hosted<Wire>, now: i64) {
    let bytes = datagram();
    let length = bytes.len() as u32;
    hosted.arrived(&Frame { port: 0, bytes: &bytes, length, checksum_missing: false, vnet: [0; 10] }, now);
}

/// Run the kernel's timer until nothing is due; when frames left, since the origin.
fn run(hosted: &mut Hosted<Wire>, wire: &Wire) -> Vec<i64> {
    let mut left = Vec::new();
    while let Some(next) = hosted.next_due() {
        let before = wire.0.borrow().len();
        hosted.due(next);
        left.extend((before..wire.0.borrow().len()).map(|_| next - ORIGIN));
    }
    left
}

#[test]
fn frames_leave_when_the_link_says() {
    let dir = TempDir::new().unwrap();
    let (mut hosted, wire) = opened(dir.path());
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    arrive(&mut hosted, ORIGIN + 500);
    arrive(&mut hosted, ORIGIN + 500);
    assert_eq!(run(&mut hosted, &wire), [1_100_500, 1_200_500]);
    let sent = wire.0.borrow();
    assert!(sent.iter().all(|(port, bytes)| *port == 1 && bytes.len() == 1250 && bytes[HEADERS] == 7));
    // Addressed to the receiving host, from its gateway.
    assert_eq!(sent[0].1[..12], [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 3, 2]);
}

#[test]
fn every_packet_is_accounted_for() {
    let dir = TempDir::new().unwrap();
    let (mut hosted, wire) = opened(dir.path());
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    // One in service, two in the buffer, two dropped.
    (0..5).for_each(|_| arrive(&mut hosted, ORIGIN));
    hosted.due(ORIGIN + 1_100_000);
    assert_eq!(wire.0.borrow().len(), 1);
    let counted = ask(&mut hosted, &json!({"request": "count"}), ORIGIN + 1_100_000);
    assert_eq!((&counted[0]["link"], &counted[0]["words"][4]), (&json!(0), &json!(2)));
    ask(&mut hosted, &json!({"request": "finish"}), ORIGIN + 1_150_000);
    let text = std::fs::read_to_string(dir.path().join("emulator.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!((count("entered_packets"), count("left_packets")), (5, 1));
    assert_eq!((count("dropped_packets"), count("inside_packets")), (2, 2));
    assert!(dir.path().join("packets.parquet").is_file() && dir.path().join("links.parquet").is_file());
    assert_eq!(hosted.next_due(), None, "the links are gone");
}

#[test]
fn what_came_before_the_start_is_not_lost() {
    let dir = TempDir::new().unwrap();
    let (mut hosted, wire) = opened(dir.path());
    arrive(&mut hosted, ORIGIN - 5);
    assert_eq!(hosted.next_due(), None, "there is no time yet");
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    // Links begin at time 0.
    assert_eq!(run(&mut hosted, &wire), [1_100_000]);
}

#[test]
fn a_link_changes_when_it_is_told_to() {
    let dir = TempDir::new().unwrap();
    let (mut hosted, wire) = opened(dir.path());
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    let mut slower = link("ab", "a", "b");
    slower["rate_bps"] = json!(10_000_000);
    let changed = ask(&mut hosted, &json!({"request": "change", "link": 0, "spec": slower}), ORIGIN + 3);
    assert_eq!(changed, json!(3));
    arrive(&mut hosted, ORIGIN + 3);
    assert_eq!(run(&mut hosted, &wire), [2_000_003]);
}

#[test]
fn a_request_without_links_is_refused() {
    let dir = TempDir::new().unwrap();
    let mut hosted = Hosted::new(dir.path(), Wire::default());
    let error = hosted.order(br#"{"request": "count"}"#, 0).unwrap_err();
    assert_eq!(format!("{error:#}"), "the links are not open");
    assert!(hosted.order(b"{}", 0).is_err());
}

/// Links of the kernel's own: from a to b a queue (ports 2 and 3) and a delay line (4 and 5), from b to a likewise.
fn handed_out(dir: &Path, wire: Wire) -> Hosted<Wire> {
    let mut plan = plan();
    plan["emulate"]["links"] = json!("kernel");
    let hop = |link: u32, part: usize| json!({"link": link, "part": part, "into": 0, "out_of": 0});
    let hops = [hop(0, 0), hop(0, 1), hop(1, 0), hop(1, 1)];
    let mut hosted = Hosted::new(dir, wire);
    let ports = serde_json::to_value(ports()).unwrap();
    ask(&mut hosted, &json!({"request": "open", "plan": plan, "ports": ports, "hops": hops}), ORIGIN - 10);
    hosted
}

/// Delivers the frames that were sent last to the other end of their pair of interfaces.
fn come_out(hosted: &mut Hosted<Wire>, wire: &Wire, now: i64) {
    let (port, bytes) = wire.0.borrow().last().unwrap().clone();
    let (port, length) = (u32::from(port) + 1, bytes.len() as u32);
    hosted.arrived(&Frame { port, bytes: &bytes, length, checksum_missing: false, vnet: [0; 10] }, now);
}

#[test]
fn the_kernel_carries_packets_of_its_own_links() {
    let (dir, wire) = (TempDir::new().unwrap(), Wire::default());
    let mut hosted = handed_out(dir.path(), wire.clone());
    // It came early: an order must not send it.
    arrive(&mut hosted, ORIGIN - 5);
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    assert!(wire.0.borrow().is_empty());
    let at = hosted.next_due().unwrap();
    hosted.due(at);
    assert_eq!(hosted.next_due(), None, "the kernel says when it comes out");
    come_out(&mut hosted, &wire, ORIGIN + 100_000);
    come_out(&mut hosted, &wire, ORIGIN + 1_100_000);
    assert_eq!(run(&mut hosted, &wire), [1_100_000]);
    let ports: Vec<_> = wire.0.borrow().iter().map(|(port, _)| *port).collect();
    assert_eq!(ports, [2, 4, 1]);
    // The receiver sees nothing of the number that it travelled by.
    assert_eq!(wire.0.borrow()[2].1[..12], [2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 3, 2]);
}

#[test]
fn what_the_kernel_drops_is_accounted_for() {
    let dir = TempDir::new().unwrap();
    let wire = Wire(Rc::default(), Some(2));
    let mut hosted = handed_out(dir.path(), wire.clone());
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    (0..3).for_each(|_| arrive(&mut hosted, ORIGIN));
    let counted = ask(&mut hosted, &json!({"request": "count"}), ORIGIN);
    // Bytes and packets that wait, and packets that were dropped.
    assert_eq!(counted[0]["words"].as_array().unwrap()[2..], [json!(1250), json!(1), json!(2)]);
    come_out(&mut hosted, &wire, ORIGIN + 100_000);
    // A frame that nobody sent.
    let foreign = [0; 60];
    hosted.arrived(
        &Frame { port: 3, bytes: &foreign, length: 60, checksum_missing: false, vnet: [0; 10] },
        ORIGIN + 100_001,
    );
    ask(&mut hosted, &json!({"request": "finish"}), ORIGIN + 150_000);
    let text = std::fs::read_to_string(dir.path().join("emulator.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!((count("entered_packets"), count("left_packets")), (3, 0));
    assert_eq!((count("dropped_packets"), count("inside_packets"), count("unroutable_packets")), (2, 1, 1));
}

/// h1 and h2 at a switch, a cable of 1 ms between h3 and the switch.
fn wires() -> (Value, Vec<Port>) {
    let mac = |n: u8| [2, 0, 0, 0, 0, n];
    let host = |n: u8| {
        let eth0 =
            json!({"name": "eth0", "mac": format!("02:00:00:00:00:0{n}"), "addresses": [format!("10.0.0.{n}/24")]});
        json!({"kind": "host", "name": format!("h{n}"), "address": format!("10.0.0.{n}"), "sysctl": {}, "interfaces": [eth0]})
    };
    let cable = |n: u8, delay: i64| {
        let plain = json!({"rate_bps": null, "overhead_bytes": 0, "buffer": "unlimited", "delay_ns": delay});
        let host = format!("h{n}");
        [(host.as_str(), "s", "from_interface"), ("s", host.as_str(), "to_interface")].map(|(from, to, end)| {
            let mut link = plain.clone();
            (link["name"], link["from"], link["to"]) = (json!(format!("{from}-{to}")), json!(from), json!(to));
            link[end] = json!("eth0");
            link
        })
    };
    let mut plan = plan();
    plan["nodes"] = json!([host(1), host(2), host(3), {"kind": "switch", "name": "s"}]);
    plan["links"] = json!([cable(1, 0), cable(2, 0), cable(3, 1_000_000)].as_flattened());
    let port = |n: u8| Port {
        host: format!("h{n}"),
        interface: "eth0".to_owned(),
        mac: mac(n),
        gateway_mac: None,
        ifindex: 2000 + i32::from(n),
    };
    (plan, (1..4).map(port).collect())
}

/// A frame that is not IP, from station to station.
fn strange(to: [u8; 6], from: u8) -> Vec<u8> {
    [&to[..], &[2, 0, 0, 0, 0, from], &[0x88, 0xb5], b"anything at all"].concat()
}

#[test]
fn wires_carry_any_frame_as_it_is_and_flood_what_is_for_all() {
    let dir = TempDir::new().unwrap();
    let wire = Wire::default();
    let mut hosted = Hosted::new(dir.path(), wire.clone());
    let (plan, ports) = wires();
    ask(&mut hosted, &json!({"request": "open", "plan": plan, "ports": ports, "hops": []}), ORIGIN - 10);
    ask(&mut hosted, &json!({"request": "start", "origin_ns": ORIGIN}), ORIGIN);
    let mut send = |port: u32, bytes: &[u8], at: i64| {
        let length = bytes.len() as u32;
        hosted.arrived(&Frame { port, bytes, length, checksum_missing: false, vnet: [0; 10] }, ORIGIN + at);
        let left = run(&mut hosted, &wire);
        let frames: Frames = wire.0.borrow_mut().drain(..).collect();
        assert!(frames.iter().all(|(_, carried)| carried == bytes));
        frames.into_iter().zip(left).map(|((port, _), when)| (port, when - at)).collect::<Vec<_>>()
    };
    assert_eq!(send(0, &strange([0xff; 6], 1), 0), [(1, 0), (2, 1_000_000)]);
    assert_eq!(send(2, &strange([2, 0, 0, 0, 0, 1], 3), 10_000_000), [(0, 1_000_000)]);
    assert_eq!(send(0, &strange([2, 0, 0, 0, 0, 3], 1), 20_000_000), [(2, 1_000_000)]);
    ask(&mut hosted, &json!({"request": "finish"}), ORIGIN + 30_000_000);
    let text = std::fs::read_to_string(dir.path().join("emulator.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!((count("entered_packets"), count("flooded_packets"), count("left_packets")), (3, 1, 4));
    assert_eq!((count("unroutable_packets"), count("inside_packets")), (0, 0));
}
