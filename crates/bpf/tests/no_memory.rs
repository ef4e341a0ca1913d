//! A connection that the kernel has no memory for is counted. Needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN.

use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread;

use bpf::Session;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use serde_json::json;

mod support;

/// The memory that a socket may have besides its data: less than BBR's state, and as much as every kernel takes.
const OPTMEM_BYTES: &str = "2048";

#[test]
fn a_flow_without_memory_is_counted() {
    if !support::is_allowed("a_flow_without_memory_is_counted") {
        return;
    }
    let plan = plan::Plan::of(json!({
        "name": "test", "duration_ns": 1, "seed": 1, "links": [], "nodes": [], "flows": [],
        "algorithms": [{"label": "bbr3", "source": {"kind": "bundled", "name": "bbr3"}, "parameters": {}, "sha256": null}],
        "record": {"sample_interval_ns": 1, "packets": false},
        "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 0},
    }))
    .unwrap();
    let session = Session::load(&plan, Path::new("."), None).unwrap();
    let cc = OsString::from(session.names().kernel("bbr3"));
    let counted = || session.facts().unwrap()[0].stateless_flows;
    assert_eq!(counted(), Some(0));
    let connect = |optmem: Option<&'static str>| {
        let cc = cc.clone();
        let connected = thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            loopback_up();
            if let Some(bytes) = optmem {
                // A file of the namespace that the thread is in.
                fs::write("/proc/sys/net/core/optmem_max", bytes).unwrap();
            }
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            setsockopt(&stream, TcpCongestion, &cc).unwrap();
        });
        connected.join().unwrap();
    };
    connect(None);
    assert_eq!(counted(), Some(0));
    connect(Some(OPTMEM_BYTES));
    assert_eq!(counted(), Some(1));
}

fn loopback_up() {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // SAFETY: zeros are a valid ifreq, and the ioctl reads no further than it.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        assert_eq!(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request), 0);
    }
}
