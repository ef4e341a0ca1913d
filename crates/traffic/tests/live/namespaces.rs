//! Flows in a network namespace that is not the caller's, as root or as an ordinary user.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::common::{MS, flow, plan, run_in, tcp};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_sys::{Socket, protocols::NETLINK_ROUTE};
use nix::sched::{CloneFlags, setns, unshare};
use serde_json::json;

const RTAX_CC_ALGO: u32 = 16;

/// Entering a namespace needs CAP_SYS_ADMIN. A process of one thread can get that right over its new namespaces; a test
/// runner has several threads, so the tests below run in a child that becomes root of a user namespace first.
#[test]
fn flows_in_another_namespace() {
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let maps = [("setgroups", "deny".to_owned()), ("uid_map", format!("0 {uid} 1")), ("gid_map", format!("0 {gid} 1"))]
        .map(|(file, text)| (std::ffi::CString::new(format!("/proc/self/{file}")).unwrap(), text));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--test-threads=1", "--nocapture"]);
    // SAFETY: only system calls between fork and exec.
    unsafe {
        child.pre_exec(move || {
            if uid.is_root() {
                return Ok(unshare(CloneFlags::CLONE_NEWNET)?);
            }
            unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
            for (path, text) in &maps {
                let fd = libc::open(path.as_ptr(), libc::O_WRONLY);
                if fd < 0 || libc::write(fd, text.as_ptr().cast(), text.len()) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    let output = child.output().expect("a user namespace for the test; see `dumbbell doctor`");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("4 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "run by flows_in_another_namespace"]
fn the_kernel_answers_icmp() {
    let netns = Netns::new();
    let ping = json!({"kind": "ping", "echo": "icmp", "interval_ns": 20 * MS, "payload_bytes": 56});
    let other = json!({"kind": "ping", "echo": "icmp", "interval_ns": 50 * MS, "payload_bytes": 16});
    let flows = json!([flow("f0", 0, 380 * MS, ping), flow("f1", 0, 380 * MS, other)]);
    let ran = run_in(&plan(400 * MS, flows), netns.0.as_fd(), None);
    let flows = &ran.report.as_ref().unwrap().flows;
    let counts =
        |flow: usize| flows[flow].ping.map(|ping| (ping.sent_packets, ping.answered_packets, ping.lost_packets));
    // Both flows are between the same hosts: each takes only the answers to its requests.
    assert_eq!((counts(0), counts(1)), (Some((19, 19, 0)), Some((8, 8, 0))));
    assert_eq!(ran.table("pings").len(), 19);
}

#[test]
#[ignore = "run by flows_in_another_namespace"]
fn sockets_are_opened_there_and_the_thread_comes_back() {
    let netns = Netns::new();
    let home = inode("/proc/thread-self/ns/net");
    let server = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.2\", PORT)); s.accept()[0].recv(9)'";
    let client = "python3 -c 'import socket; socket.create_connection((\"127.0.0.2\", PORT)).send(bytes(9))'";
    let udp = json!({"kind": "udp", "rate_bps": 10_000_000, "payload_bytes": 1472, "bytes": 14_720});
    let mut program = flow("f2", 0, 1_500 * MS, json!(null));
    let port = program["port"].to_string();
    let (client, server) = (client.replace("PORT", &port), server.replace("PORT", &port));
    program["workload"] = json!({"kind": "command", "command": client, "server_command": server});
    let flows = [flow("f0", 0, 1_500 * MS, tcp("reno", Some(500_000))), flow("f1", 0, 1_500 * MS, udp), program];
    // The same ports are taken here, which is no matter there.
    let port = |flow: &serde_json::Value| flow["port"].as_u64().unwrap() as u16;
    let _taken: Vec<TcpListener> = flows.iter().map(|f| TcpListener::bind(("0.0.0.0", port(f))).unwrap()).collect();

    let ran = run_in(&plan(1_500 * MS, json!(flows)), netns.0.as_fd(), None);
    let flows = &ran.report.as_ref().unwrap().flows;
    assert!(flows.iter().all(|f| f.completed && f.error.is_none()), "{flows:?}");
    assert_eq!((flows[0].received_bytes, flows[1].received_bytes), (500_000, 14_720));
    assert_eq!(flows[2].command.unwrap().server_exit_code, Some(0), "{flows:?}");
    assert_eq!(inode("/proc/thread-self/ns/net"), home);
}

#[test]
#[ignore = "run by flows_in_another_namespace"]
fn an_algorithm_that_the_kernel_replaced_fails_the_run() {
    let netns = Netns::new();
    // `congctl lock reno`
    let metrics = vec![RouteMetric::Lock(1 << RTAX_CC_ALGO), RouteMetric::CcAlgo("reno".to_owned())];
    netns.within(|| replace_route(Ipv4Addr::new(127, 0, 0, 3), RouteType::Local, metrics));
    let mut flow = flow("f0", 0, 100 * MS, tcp("cubic", None));
    flow["to"] = json!("lonely");
    let ran = run_in(&plan(100 * MS, json!([flow])), netns.0.as_fd(), None);
    let failure = ran.failure();
    assert!(failure.what.starts_with("flow f0: congestion control of its "), "{failure}");
    assert_eq!(failure.why, "asked for cubic, got reno");
}

#[test]
#[ignore = "run by flows_in_another_namespace"]
fn a_flow_without_a_network_fails_and_others_go_on() {
    let netns = Netns::new();
    let other = netns.0.try_clone().unwrap();
    let cut = move || replace_route(Ipv4Addr::new(127, 0, 0, 3), RouteType::Unreachable, Vec::new());
    let cut = Box::new(move || Netns(other).within(cut));
    let program = json!({"kind": "command", "command": "echo fine", "server_command": null});
    let mut flows = json!([flow("f0", 0, 100 * MS, tcp("reno", None)), flow("f1", 0, 100 * MS, program)]);
    flows[0]["to"] = json!("lonely");
    let ran = run_in(&plan(100 * MS, flows), netns.0.as_fd(), Some(cut));
    let flows = &ran.report.as_ref().unwrap().flows;
    assert_eq!(flows[0].error.as_deref(), Some("connecting: No route to host"));
    assert!(!flows[0].completed && flows[1].completed, "{flows:?}");
}

/// A network namespace with loopback up.
struct Netns(File);

impl Netns {
    fn new() -> Netns {
        let made = std::thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            set_loopback_up();
            Netns(File::open("/proc/thread-self/ns/net").unwrap())
        });
        made.join().unwrap()
    }

    fn within(&self, work: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                work();
            });
        });
    }
}

fn inode(path: &str) -> u64 {
    std::fs::metadata(path).unwrap().ino()
}

fn set_loopback_up() {
    let mut link = LinkMessage::default();
    link.header.index = 1;
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    request(RouteNetlinkMessage::SetLink(link), 0);
}

/// `ip route replace KIND ADDRESS dev lo table local METRICS`
fn replace_route(address: Ipv4Addr, kind: RouteType, metrics: Vec<RouteMetric>) {
    const LOCAL_TABLE: u8 = 255;
    let mut route = RouteMessage::default();
    route.header.address_family = netlink_packet_route::AddressFamily::Inet;
    route.header.destination_prefix_length = 32;
    route.header.table = LOCAL_TABLE;
    route.header.protocol = RouteProtocol::Boot;
    route.header.scope = RouteScope::Host;
    route.header.kind = kind;
    route.attributes = vec![RouteAttribute::Destination(RouteAddress::Inet(address)), RouteAttribute::Metrics(metrics)];
    if kind == RouteType::Local {
        route.attributes.push(RouteAttribute::Oif(1));
    }
    request(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_REPLACE);
}

fn request(message: RouteNetlinkMessage, flags: u16) {
    let mut message = NetlinkMessage::from(message);
    message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    let socket = Socket::new(NETLINK_ROUTE).unwrap();
    socket.send(&bytes, 0).unwrap();
    let (answer, _) = socket.recv_from_full().unwrap();
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).unwrap();
    match answer.payload {
        NetlinkPayload::Error(error) => assert!(error.code.is_none(), "{error:?}"),
        other => panic!("{other:?}"),
    }
}
