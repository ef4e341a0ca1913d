//! Labs seen from outside: what they need, and that nothing of one is left, whatever ends it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use lab::Lab;
use lab::sandbox::{self, Fact};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{ForkResult, fork};

use crate::networks::bare_hosts;
use crate::sandboxed::{Case, Sandbox, User, in_child};

pub const ALL: &[(&str, Case)] = &[
    ("nothing_is_left_after_an_exit", Case::Outside(|user| nothing_is_left(user, false))),
    ("nothing_is_left_after_kill_9", Case::Outside(|user| nothing_is_left(user, true))),
    ("the_check_tells_facts", Case::Outside(the_check_tells_facts)),
    ("a_refusal_names_its_cause", Case::Outside(a_refusal_names_its_cause)),
];

/// A lab of three hosts with a process inside one host ends, or its pid 1 is killed.
fn nothing_is_left(user: User, killed: bool) -> Result<()> {
    let before = Outside::look()?;
    let mut sandbox = Sandbox::start(user, |mut report, mut order| {
        let lab = Lab::build(&bare_hosts(&["left-a", "left-b", "left-c"]))?;
        lab.in_host(1, || {
            let _socket = UdpSocket::bind("0.0.0.0:7")?;
            // SAFETY: one thread.
            if let ForkResult::Child = unsafe { fork() }? {
                loop {
                    sleep(Duration::from_secs(60));
                }
            }
            Ok(())
        })?;
        let inodes: Vec<String> = lab.hosts().iter().map(netns_inode).collect::<Result<_>>()?;
        report.write_all(inodes.join(" ").as_bytes())?;
        order.read_to_end(&mut Vec::new())?;
        Ok(())
    })?;
    let reported = sandbox.hear()?;
    let hosts: BTreeSet<String> = reported.split(' ').map(str::to_owned).collect();
    ensure!(hosts.len() == 3 && hosts.iter().all(|name| name.starts_with("net:[")), "hosts: {reported}");
    let during = Outside::look()?;
    ensure!(during.interfaces.is_empty(), "a lab shows interfaces outside: {during:?}");
    ensure!(during.mounts == before.mounts, "a lab shows mounts outside: {during:?}, before: {before:?}");
    let lives_in = |host: &String| during.namespaces.contains(host);
    ensure!(hosts.iter().filter(|host| lives_in(host)).count() == 1, "only left-b has a process: {during:?}");

    let init = sandbox.init()?;
    let started = Instant::now();
    if killed {
        kill(init, Signal::SIGKILL)?;
    }
    let rest = sandbox.wait()?;
    ensure!(rest.is_empty(), "{rest}");
    // The process in left-b sleeps for 60 s: nobody waits for it.
    ensure!(started.elapsed() < Duration::from_secs(30), "it took {:?} to end", started.elapsed());
    ensure!(!PathBuf::from(format!("/proc/{init}")).exists(), "pid 1 of the sandbox lives");
    let after = Outside::look()?;
    ensure!(after.interfaces.is_empty() && after.mounts == before.mounts, "left: {after:?}, before: {before:?}");
    ensure!(hosts.is_disjoint(&after.namespaces), "processes are left in a host: {:?}", after.namespaces);
    Ok(())
}

/// The facts of a child that becomes `user` and makes the preparation.
fn facts_as(user: User, prepare: fn() -> Result<()>) -> Result<Vec<Fact>> {
    let text = in_child(user, || {
        prepare()?;
        let facts = sandbox::check()?;
        Ok(serde_json::to_string(&facts)?)
    })?;
    serde_json::from_str(&text).with_context(|| text)
}

fn the_check_tells_facts(user: User) -> Result<()> {
    let facts = facts_as(user, || Ok(()))?;
    let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    ensure!(names == ["privileges", "namespaces", "mounts", "hosts", "offloads", "packet sockets"], "{facts:?}");
    ensure!(facts.iter().all(|fact| fact.ok && fact.fix.is_empty() && !fact.detail.is_empty()), "{facts:?}");
    ensure!(facts[0].detail.starts_with("root") == (user == User::Root), "{facts:?}");
    Ok(())
}

/// A seccomp filter answers EPERM to unshare(2), as in a service that may not make namespaces.
fn a_refusal_names_its_cause(user: User) -> Result<()> {
    let facts = facts_as(user, forbid_unshare)?;
    let last = facts.last().context("no facts")?;
    ensure!(last.name == "namespaces" && !last.ok, "{facts:?}");
    ensure!(last.detail.contains("namespace") && last.detail.contains("not permitted"), "{last:?}");
    ensure!(last.fix.contains("seccomp"), "{last:?}");
    Ok(())
}

fn forbid_unshare() -> Result<()> {
    let statement = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        // The system call's number is the first word of struct seccomp_data.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_unshare as u32, 0, 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    nix::sys::prctl::set_no_new_privs()?;
    // SAFETY: the filter lives through the call, which copies it.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    nix::Error::result(result)?;
    Ok(())
}

fn netns_inode(host: &lab::Host) -> Result<String> {
    use std::os::fd::AsRawFd;
    Ok(fs::read_link(format!("/proc/self/fd/{}", host.netns.as_raw_fd()))?.to_string_lossy().into_owned())
}

/// The parts of a lab that the test program's namespaces hold. Other work on this machine comes and goes, and is not
/// counted.
#[derive(Debug)]
struct Outside {
    interfaces: Vec<String>,
    mounts: Vec<String>,
    /// Network namespaces that some process is in.
    namespaces: BTreeSet<String>,
}

impl Outside {
    fn look() -> Result<Outside> {
        let named = |path: fs::DirEntry| path.file_name().to_string_lossy().into_owned();
        let interfaces: Vec<String> =
            fs::read_dir("/sys/class/net")?.map(|entry| Ok(named(entry?))).collect::<Result<_>>()?;
        let of_a_lab = |line: &&str| {
            let point = line.split(' ').nth(4).unwrap_or_default();
            ["/", "/proc", "/run"].contains(&point) || point.contains("left-")
        };
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let namespace = |entry: fs::DirEntry| fs::read_link(entry.path().join("ns/net")).ok();
        let namespaces = fs::read_dir("/proc")?.filter_map(|entry| namespace(entry.ok()?));
        Ok(Outside {
            interfaces: interfaces.into_iter().filter(|name| name.starts_with("left-")).collect(),
            mounts: mounts.lines().filter(of_a_lab).map(str::to_owned).collect(),
            namespaces: namespaces.map(|link| link.to_string_lossy().into_owned()).collect(),
        })
    }
}
