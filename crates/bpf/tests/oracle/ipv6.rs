//! Two namespaces, a pair of interfaces, and a token bucket: the emulator has no IPv6.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv6Addr, SocketAddrV6, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, setns};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

const TIME: Duration = Duration::from_secs(3);
const PORT: u16 = 5001;

/// Sends for some seconds by the congestion control `cc`, 50 Mbit/s.
pub fn run(cc: &str) -> Result<()> {
    let names = [format!("dbt_s{}", std::process::id()), format!("dbt_r{}", std::process::id())];
    let namespaces = Namespaces(names);
    let [s, r] = &namespaces.0;
    command(&format!("ip netns add {s}"))?;
    command(&format!("ip netns add {r}"))?;
    command(&format!("ip -n {s} link add eth0 type veth peer name eth0 netns {r}"))?;
    for (name, last) in [(s, 1), (r, 2)] {
        command(&format!("ip -n {name} address add fd00::{last}/64 dev eth0 nodad"))?;
        command(&format!("ip -n {name} link set eth0 up"))?;
    }
    command(&format!("tc -n {s} qdisc add dev eth0 root tbf rate 50mbit burst 15000 limit 125000"))?;
    let receiver = child(r, receive)?;
    let sender = child(s, || send(cc))?;
    for (name, pid) in [("sender", sender), ("receiver", receiver)] {
        let ended = waitpid(pid, None)?;
        ensure!(matches!(ended, WaitStatus::Exited(_, 0)), "the {name} failed");
    }
    Ok(())
}

struct Namespaces([String; 2]);

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = command(&format!("ip netns delete {name}"));
        }
    }
}

fn command(words: &str) -> Result<()> {
    let mut words = words.split(' ');
    let program = words.next().expect("a word");
    let ended = Command::new(program).args(words).output().with_context(|| format!("starting {program}"))?;
    ensure!(ended.status.success(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
    Ok(())
}

/// A process inside a namespace. It is killed if it stops responding.
fn child(netns: &str, f: impl FnOnce() -> Result<()>) -> Result<nix::unistd::Pid> {
    // SAFETY: this program has one thread.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            nix::unistd::alarm::set(20);
            let inside = || -> Result<()> {
                setns(File::open(format!("/run/netns/{netns}"))?, CloneFlags::CLONE_NEWNET)?;
                f()
            };
            let ended = inside();
            if let Err(error) = &ended {
                println!("IPv6: {error:#}");
            }
            // SAFETY: ends the process; what the parent registered to run at its end is the parent's.
            unsafe { libc::_exit(i32::from(ended.is_err())) }
        }
    }
}

fn receive() -> Result<()> {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT))?;
    let mut stream = listener.accept()?.0;
    let mut buffer = vec![0; 1 << 20];
    while stream.read(&mut buffer)? > 0 {}
    Ok(())
}

fn send(cc: &str) -> Result<()> {
    let address = SocketAddrV6::new("fd00::2".parse()?, PORT, 0, 0);
    let started = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if started.elapsed() > Duration::from_secs(5) => return Err(error).context("connecting"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    // SAFETY: the option's value is a name of that length.
    let rc = unsafe {
        let (value, length) = (cc.as_ptr().cast(), cc.len() as libc::socklen_t);
        libc::setsockopt(stream.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, value, length)
    };
    ensure!(rc == 0, "choosing {cc}: {}", std::io::Error::last_os_error());
    let data = vec![0; 1 << 16];
    let started = Instant::now();
    while started.elapsed() < TIME {
        stream.write_all(&data)?;
    }
    Ok(())
}
