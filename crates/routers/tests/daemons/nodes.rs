//! Nodes by hand: a process each, which holds a network, a mount and a UTS namespace.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lab::{Doors, Own};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{ForkResult, Pid, fork, pause, pipe, sethostname};
use plan::Routing;
use routers::{Entrance, Seat};

pub struct Node {
    pub name: String,
    pid: Pid,
    net: File,
    own: Own,
}

impl Node {
    pub fn new(name: &str) -> Result<Node> {
        let (read, write) = pipe()?;
        // SAFETY: the test program has one thread.
        match unsafe { fork() }? {
            ForkResult::Child => {
                drop(read);
                unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS)?;
                sethostname(name)?;
                File::from(write).write_all(b"here")?;
                loop {
                    pause();
                }
            }
            ForkResult::Parent { child } => {
                drop(write);
                File::from(read).read_exact(&mut [0; 4]).context("a node did not start")?;
                let open = |kind: &str| File::open(format!("/proc/{child}/ns/{kind}"));
                let node = Node {
                    name: name.to_owned(),
                    pid: child,
                    net: open("net")?,
                    own: Own {
                        mounts: open("mnt")?.into(),
                        uts: open("uts")?.into(),
                        root: File::open(format!("/proc/{child}/root"))?.into(),
                    },
                };
                node.run("ip link set lo up")?;
                // Without duplicate address detection an IPv6 address is there at once.
                let settings = "net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv6.conf.all.forwarding=1 \
                                net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0";
                node.run(&format!("sysctl -qw {settings}"))?;
                Ok(node)
            }
        }
    }

    pub fn seat(&self, routing: &Routing) -> Seat<'_> {
        let entrance = Entrance::Lent(Doors::new(self.net.as_fd(), &self.own));
        Seat { name: self.name.clone(), routing: routing.clone(), entrance }
    }

    /// The output of a shell command in the node.
    pub fn run(&self, line: &str) -> Result<String> {
        let target = self.pid.to_string();
        let done = Command::new("nsenter")
            .args(["--target", &target, "--net", "--mount", "--uts", "sh", "-c", line])
            .output()
            .context("starting nsenter")?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        ensure!(done.status.success(), "{}: `{line}`: {said}{}", self.name, String::from_utf8_lossy(&done.stderr));
        Ok(said)
    }

    /// Whether packets get there and back: a port at which nobody listens answers with a refusal.
    pub fn reaches(&self, address: &str) -> Result<()> {
        let connect = format!("import socket; print(socket.socket().connect_ex(('{address}', 9)))");
        let errno = self.run(&format!("timeout 2 python3 -c \"{connect}\""))?;
        ensure!(
            errno.trim() == libc::ECONNREFUSED.to_string(),
            "{} does not reach {address}: errno {errno}",
            self.name
        );
        Ok(())
    }
}

/// A cable between two interfaces, each with its addresses, separated by spaces.
pub fn cable((a, at, own): (&Node, &str, &str), (b, there, other): (&Node, &str, &str)) -> Result<()> {
    let address = |interface: &str, addresses: &str| {
        let add = addresses.split(' ').map(|address| format!("ip addr add {address} dev {interface} && "));
        format!("{}ip link set {interface} up", add.collect::<String>())
    };
    a.run(&format!("ip link add {at} type veth peer name {there} netns {} && {}", b.pid, address(at, own)))?;
    b.run(&address(there, other))?;
    Ok(())
}
