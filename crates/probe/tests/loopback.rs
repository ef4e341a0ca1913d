//! Real connections over loopback, and the rows from these. Needs CAP_BPF and CAP_PERFMON; says so and passes without.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;

use bpf::Session;
use messages::Order;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::TcpCongestion;
use plan::Plan;
use probe::{Probe, ProbeReport, Programs, Source};
use records::reader;
use serde_json::json;
use tempfile::TempDir;

const RING: u32 = 1 << 20;
const BYTES: usize = 4 << 20;

struct Row {
    time_ns: i64,
    socket: u16,
    moment: String,
    delivered: u32,
    snd_una: u64,
    snd_nxt: u64,
    state: Option<String>,
    cubic_delay_min_us: Option<u32>,
    cubic_hystart_found: Option<bool>,
    own: [Option<u32>; 4],
}

/// One flow to `port` on this host.
fn plan(port: u16, cc: &str) -> Plan {
    let host = |name: &str| json!({"kind": "host", "name": name, "address": "127.0.0.1", "sysctl": {}});
    let algorithms: Vec<_> = bpf::bundled(cc)
        .map(|_| json!({"label": cc, "source": {"kind": "bundled", "name": cc}, "parameters": {}, "sha256": null}))
        .into_iter()
        .collect();
    Plan::of(json!({
        "name": "test", "duration_ns": 1, "seed": 1, "links": [], "nodes": [host("a"), host("b")],
        "algorithms": algorithms,
        "flows": [{"id": "f1", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": port,
                   "workload": {"kind": "tcp", "cc": cc, "bytes": null, "ecn": false}}],
        "record": {"sample_interval_ns": 1, "packets": false},
        "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 0},
    }))
    .unwrap()
}

/// Says so where it is seen even if the test passes: the harness keeps what `eprintln` says.
fn may_not() -> bool {
    let missing = bpf::Privilege::now().missing();
    if !missing.is_empty() {
        let _ = writeln!(std::io::stderr(), "loopback: SKIPPED, nothing was checked: {missing:?} missing");
    }
    !missing.is_empty()
}

fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Send so many bytes with `cc`, and read them at the other end. Returns the sender's port.
fn transfer(listener: &TcpListener, cc: &str, bytes: usize) -> u16 {
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr().unwrap().port());
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut sink = [0; 65536];
            while stream.read(&mut sink).unwrap() > 0 {}
        });
        let mut stream = TcpStream::connect(to).unwrap();
        setsockopt(&stream, TcpCongestion, &OsString::from(cc)).unwrap();
        let piece = [0; 16384];
        for _ in 0..bytes / piece.len() {
            stream.write_all(&piece).unwrap();
        }
        let port = stream.local_addr().unwrap().port();
        drop(stream);
        reader.join().unwrap();
        port
    })
}

/// Record while `work` runs, in the calling thread's network namespace.
fn record(plan: &Plan, probe: &Probe, session: &Session, dir: &Path, work: impl FnOnce()) -> ProbeReport {
    let (control_read, control_write) = nix::unistd::pipe().unwrap();
    let (events_read, events_write) = nix::unistd::pipe().unwrap();
    let inode = File::open("/proc/thread-self/ns/net").unwrap().metadata().unwrap().ino() as u32;
    thread::scope(|scope| {
        let recorder = scope.spawn(move || {
            let mut events = File::from(events_write);
            let source = Source::Programs(probe, Programs::of(session));
            probe::run(plan, &source, &|_| Ok(inode), dir, control_read, &mut events).unwrap()
        });
        let (mut ready, mut said) = ([0; 64], File::from(events_read));
        assert!(said.read(&mut ready).unwrap() > 0, "it ended before it was ready");
        let mut control = File::from(control_write);
        let start = Order::Start { origin_ns: realtime::monotonic_ns() };
        control.write_all(&start.line().unwrap()).unwrap();
        work();
        drop(control);
        recorder.join().unwrap()
    })
}

fn rows(dir: &Path) -> Vec<Row> {
    let columns = [
        "time_ns",
        "socket",
        "moment",
        "delivered_packets",
        "snd_una_bytes",
        "snd_nxt_bytes",
        "bbr_state",
        "cubic_delay_min_us",
        "cubic_hystart_found",
        "flow",
        "own_value_1",
        "own_value_2",
        "own_value_3",
        "own_value_4",
    ];
    let mut found = Vec::new();
    reader::read(&dir.join("acks.parquet"), &columns, |rows| {
        let (times, sockets, moments) = (rows.values(0)?, rows.values(1)?, rows.texts(2)?);
        let (delivered, una, next) = (rows.values(3)?, rows.values(4)?, rows.values(5)?);
        let (states, delays, hystart) = (rows.texts(6)?, rows.values(7)?, rows.values(8)?);
        let flows = rows.texts(9)?;
        let own = [rows.values(10)?, rows.values(11)?, rows.values(12)?, rows.values(13)?];
        for at in 0..rows.len() {
            assert_eq!(flows.get(at), Some("f1"));
            found.push(Row {
                time_ns: times.get(at).unwrap(),
                socket: sockets.get(at).unwrap(),
                moment: moments.get(at).unwrap().to_owned(),
                delivered: delivered.get(at).unwrap(),
                snd_una: una.get(at).unwrap(),
                snd_nxt: next.get(at).unwrap(),
                state: states.get(at).map(str::to_owned),
                cubic_delay_min_us: delays.get(at),
                cubic_hystart_found: hystart.get(at),
                own: own.each_ref().map(|own| own.get(at)),
            });
        }
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn a_sender_has_a_row_per_ack_and_a_receiver_none() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    // A receiver that is late acknowledges much at a time: a busy machine had 10 ACKs of 4 MiB.
    let bytes = 8 * BYTES;
    let (plan, dir) = (plan(port, "reno"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    let mut sender = 0;
    let report = record(&plan, &probe, &Session::default(), dir.path(), || {
        sender = transfer(&listener, "reno", bytes);
    });
    let rows = rows(dir.path());
    assert_eq!((report.rows, report.lost_rows, report.foreign_rows), (rows.len() as u64, 0, 0));
    assert!(rows.iter().filter(|row| row.moment == "before").count() > 10, "{report:?}");
    assert!(rows.iter().all(|row| row.socket == sender), "the receiver's port is {port}");
    assert!(rows.is_sorted_by_key(|row| row.delivered) && rows.is_sorted_by_key(|row| row.snd_una));
    assert!(rows.is_sorted_by_key(|row| row.time_ns) && rows[0].time_ns > 0);
    assert!(rows.iter().all(|row| row.snd_una <= row.snd_nxt && row.state.is_none()));
    let last = rows.last().unwrap();
    // The count covers all bytes, and the FIN.
    assert_eq!((last.moment.as_str(), last.snd_una), ("close", bytes as u64 + 1));
}

#[test]
fn rows_of_an_algorithm_of_ours_are_its_own() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "bbr3"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    let session = Session::load(&plan, dir.path(), Some(probe.ring().as_fd())).unwrap();
    let kernel = session.names().kernel("bbr3").to_owned();
    let report = record(&plan, &probe, &session, dir.path(), || {
        transfer(&listener, &kernel, BYTES);
    });
    let rows = rows(dir.path());
    assert_eq!((report.rows, report.lost_rows), (rows.len() as u64, 0));
    let (after, others): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.moment == "after");
    assert!(after.len() > 10 && after.iter().all(|row| row.state.is_some()), "{report:?}");
    assert_eq!(after[0].state.as_deref(), Some("startup"));
    assert!((1..=2).contains(&others.len()) && others.iter().all(|row| row.moment == "close"));
    // Unlike the tracepoint's, they go on while the connection closes.
    assert!(after.last().unwrap().snd_una >= BYTES as u64);
}

#[test]
fn the_kernels_bbr_shows_its_state() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "bbr"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    record(&plan, &probe, &Session::default(), dir.path(), || {
        transfer(&listener, "bbr", BYTES);
    });
    let rows = rows(dir.path());
    assert!(rows.len() > 10);
    assert_eq!(rows[0].state.as_deref(), Some("startup"));
    assert!(rows.iter().all(|row| row.state.is_some()));
}

/// Every row shows what CUBIC publishes, and nothing of others.
fn shows_cubic(rows: &[Row]) {
    assert!(rows.len() > 10);
    assert!(rows.iter().all(|row| row.cubic_hystart_found.is_some() && row.state.is_none() && row.own == [None; 4]));
    assert!(rows.last().unwrap().cubic_delay_min_us.is_some_and(|us| us < 1_000_000));
}

#[test]
fn the_kernels_cubic_shows_its_state() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "cubic"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    record(&plan, &probe, &Session::default(), dir.path(), || {
        transfer(&listener, "cubic", BYTES);
    });
    shows_cubic(&rows(dir.path()));
}

#[test]
fn a_program_that_publishes_shows_its_state() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "bpf_cubic"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    let session = Session::load(&plan, dir.path(), Some(probe.ring().as_fd())).unwrap();
    let kernel = session.names().kernel("bpf_cubic").to_owned();
    record(&plan, &probe, &session, dir.path(), || {
        transfer(&listener, &kernel, BYTES);
    });
    let rows = rows(dir.path());
    shows_cubic(&rows);
    assert!(rows[0].moment == "before");
}

#[test]
fn a_users_own_program_shows_the_numbers_that_it_publishes() {
    const MINE: &str = r#"
#include <dumbbell/congestion_control.h>
#include <dumbbell/window.h>

PUBLISHES(DB_STATE_OWN)

struct mine {
    struct db_own_state state;
    __u32 secret;
};

static void mine_init(struct sock *sk)
{
    struct mine *mine = inet_csk_ca(sk);

    mine->state.value_1 = 42;
    mine->state.value_2 = 0;
    mine->state.value_3 = DB_NONE;
    mine->state.value_4 = DB_NONE;
    mine->secret = 7;
}

static void mine_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
    struct mine *mine = inet_csk_ca(sk);

    mine->state.value_2++;
}

CONGESTION_CONTROL(mine, (init, mine_init), (pkts_acked, mine_pkts_acked), (cong_avoid, reno_cong_avoid),
                   (ssthresh, reno_ssthresh), (undo_cwnd, reno_undo_cwnd));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
"#;
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let dir = TempDir::new().unwrap();
    let (source, object) = (dir.path().join("mine.bpf.c"), dir.path().join("mine.bpf.o"));
    std::fs::write(&source, MINE).unwrap();
    let built = bpf::build(&source, &object).unwrap();
    assert!(built.ok, "{}", built.text);
    let mut plan = plan(port, "mine");
    let algorithm =
        json!({"label": "mine", "source": {"kind": "object", "path": "mine.bpf.o"}, "parameters": {}, "sha256": null});
    plan.algorithms = vec![serde_json::from_value(algorithm).unwrap()];
    let probe = Probe::load(&plan, RING).unwrap();
    let session = Session::load(&plan, dir.path(), Some(probe.ring().as_fd())).unwrap();
    let kernel = session.names().kernel("mine").to_owned();
    record(&plan, &probe, &session, dir.path(), || {
        transfer(&listener, &kernel, BYTES);
    });
    let rows = rows(dir.path());
    assert!(rows.iter().all(|row| row.own[0] == Some(42) && row.own[2..] == [None; 2]));
    assert!(rows.is_sorted_by_key(|row| row.own[1]) && rows.last().unwrap().own[1] > Some(10));
    assert!(rows.iter().all(|row| row.state.is_none() && row.cubic_hystart_found.is_none()));
}

#[test]
fn a_full_ring_is_counted() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "reno"), TempDir::new().unwrap());
    // Room for 25 rows.
    let probe = Probe::load(&plan, 4096).unwrap();
    let report = record(&plan, &probe, &Session::default(), dir.path(), || {
        transfer(&listener, "reno", 16 * BYTES);
    });
    assert!(report.lost_rows > 0, "{report:?}");
    assert_eq!(rows(dir.path()).len() as u64, report.rows);
}

#[test]
fn other_namespaces_and_other_ports_have_no_rows() {
    if may_not() {
        return;
    }
    let (listener, port) = listener();
    let (plan, dir) = (plan(port, "bbr3"), TempDir::new().unwrap());
    let probe = Probe::load(&plan, RING).unwrap();
    let session = Session::load(&plan, dir.path(), Some(probe.ring().as_fd())).unwrap();
    let kernel = session.names().kernel("bbr3").to_owned();
    drop(listener);
    let report = record(&plan, &probe, &session, dir.path(), || {
        let (other, _) = self::listener();
        transfer(&other, "reno", BYTES);
        let elsewhere = thread::spawn(move || {
            if unshare(CloneFlags::CLONE_NEWNET).is_err() {
                eprintln!("no namespace of its own without CAP_SYS_ADMIN");
                return false;
            }
            loopback_up();
            let same = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
            transfer(&same, "reno", BYTES);
            // Everybody may choose the run's algorithm: it writes no rows for such sockets, which could fill the run's
            // ring.
            transfer(&same, &kernel, BYTES);
            true
        });
        assert!(elsewhere.join().unwrap());
    });
    assert_eq!((report.rows, report.foreign_rows, report.lost_rows, report.ring_peak_bytes), (0, 0, 0, 0));
}

fn loopback_up() {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // SAFETY: zeros are a valid ifreq, and the ioctl reads no further than it.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let fd = std::os::fd::AsRawFd::as_raw_fd(&socket);
        assert_eq!(libc::ioctl(fd, libc::SIOCSIFFLAGS, &raw const request), 0);
    }
}
