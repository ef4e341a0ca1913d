//! Labs of lab networks: several interfaces, routers, neighbours, own mounts and hostnames.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::Lab;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork, pipe};
use plan::Plan;
use serde_json::{Value, json};

use crate::packet::PacketSocket;
use crate::sandboxed::Case;

pub const ALL: &[(&str, Case)] = &[
    ("nodes_of_a_network_have_their_interfaces_and_routes", Case::Inside(nodes_have_their_interfaces_and_routes)),
    ("a_router_forwards", Case::Inside(a_router_forwards)),
    ("neighbours_are_asked_for_if_they_are_real", Case::Inside(neighbours_are_asked_for_if_they_are_real)),
    ("a_program_in_a_node_sees_its_hostname_and_own_mounts", Case::Inside(a_program_sees_its_hostname_and_own_mounts)),
    ("several_next_hops_share_the_traffic", Case::Inside(several_next_hops_share_the_traffic)),
    ("two_hundred_hosts_at_a_switch", Case::Inside(two_hundred_hosts_at_a_switch)),
];

/// A node with interfaces that have these addresses, several of one interface with a space between them.
fn node(kind: &str, name: &str, id: u8, address: &str, interfaces: &[&str]) -> Value {
    let interface = |(number, addresses): (usize, &&str)| {
        json!({"name": format!("eth{number}"), "mac": format!("02:00:00:00:{id:02x}:{number:02x}"),
            "addresses": addresses.split(' ').collect::<Vec<_>>()})
    };
    json!({"kind": kind, "name": name, "address": address, "sysctl": {},
        "interfaces": interfaces.iter().enumerate().map(interface).collect::<Vec<_>>()})
}

/// Both links of a plain cable between `node interface` and `node interface`; a switch has no interface.
fn cable(a: &str, b: &str) -> [Value; 2] {
    let link = |from: &str, to: &str| {
        let (from, to) = (from.split(' ').collect::<Vec<_>>(), to.split(' ').collect::<Vec<_>>());
        let mut link =
            serde_json::to_value(plan::Link::transparent(&format!("{from:?}-{to:?}"), from[0], to[0])).expect("a link");
        for (key, end) in [("from_interface", &from), ("to_interface", &to)] {
            if let Some(interface) = end.get(1) {
                link[key] = json!(interface);
            }
        }
        link
    };
    [link(a, b), link(b, a)]
}

fn plan(nodes: &[Value], cables: &[[Value; 2]], more: &[(&str, Value)]) -> Result<Plan> {
    let mut plan = json!({"name": "lab", "duration_ns": 1, "seed": 1, "nodes": nodes, "links": cables.as_flattened(),
        "flows": [], "record": {"sample_interval_ns": 1, "packets": false},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
    for (key, value) in more {
        plan[*key] = value.clone();
    }
    Plan::parse(&plan.to_string())
}

/// Hosts without interfaces and links: 10.0.0.1, 10.0.0.2, ...
pub fn bare_hosts(names: &[&str]) -> Plan {
    let host = |(number, name): (usize, &&str)| {
        json!({"kind": "host", "name": name, "sysctl": {},
        "address": format!("10.0.0.{}", number + 1)})
    };
    plan(&names.iter().enumerate().map(host).collect::<Vec<_>>(), &[], &[]).expect("a plan")
}

/// h1 - r1 - h2, with IPv4 and, but for h2, IPv6.
fn behind_a_router(more: &[(&str, Value)]) -> Result<Plan> {
    let mut nodes = vec![
        node("host", "h1", 1, "10.1.0.10", &["10.1.0.10/24 fd00:1::10/64"]),
        node("router", "r1", 2, "10.255.0.1", &["10.1.0.1/24 fd00:1::1/64", "10.2.0.1/24"]),
        node("host", "h2", 3, "10.2.0.10", &["10.2.0.10/24"]),
    ];
    nodes[0]["routes"] = json!([{"to": "0.0.0.0/0", "via": ["10.1.0.1"]}, {"to": "::/0", "via": ["fd00:1::1"]}]);
    nodes[2]["routes"] = json!([{"to": "0.0.0.0/0", "via": ["10.2.0.1"]}]);
    nodes[1]["sysctl"] = json!({"net.ipv4.conf.eth1.send_redirects": "0"});
    plan(&nodes, &[cable("h1 eth0", "r1 eth0"), cable("r1 eth1", "h2 eth0")], more)
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(file).with_context(|| file.to_owned())
}

fn nodes_have_their_interfaces_and_routes() -> Result<()> {
    let lab = Lab::build(&behind_a_router(&[])?)?;
    ensure!(lab.hosts().iter().map(|host| host.name.as_str()).eq(["h1", "r1", "h2"]));
    let index = |name: &str| lab.hosts().iter().position(|host| host.name == name).expect("a node");
    lab.in_host(index("r1"), || {
        let addresses: Vec<String> = nix::ifaddrs::getifaddrs()?
            .filter_map(|entry| Some(format!("{} {}", entry.interface_name, entry.address?.as_sockaddr_in()?.ip())))
            .collect();
        ensure!(addresses == ["lo 127.0.0.1", "lo 10.255.0.1", "eth0 10.1.0.1", "eth1 10.2.0.1"], "{addresses:?}");
        ensure!(read("/proc/sys/net/ipv4/ip_forward")?.trim() == "1");
        ensure!(read("/proc/sys/net/ipv6/conf/all/forwarding")?.trim() == "1");
        ensure!(read("/proc/sys/net/ipv4/conf/eth0/rp_filter")?.trim() == "0");
        ensure!(read("/proc/sys/net/ipv4/conf/eth1/send_redirects")?.trim() == "0");
        Ok(())
    })?;
    lab.in_host(index("h1"), || {
        let neighbours = read("/proc/thread-self/net/arp")?;
        // Flags: complete, permanent.
        let found = neighbours
            .lines()
            .any(|line| line.starts_with("10.1.0.1 ") && line.contains("0x6         02:00:00:00:02:00"));
        ensure!(found && !neighbours.contains("10.2.0"), "{neighbours}");
        let routes = read("/proc/thread-self/net/route")?;
        ensure!(routes.lines().any(|line| line.starts_with("eth0\t00000000\t0100010A")), "{routes}");
        let own = read("/proc/thread-self/net/if_inet6")?;
        ensure!(own.contains("fd000001000000000000000000000010") && own.contains("fe80"), "{own}");
        Ok(())
    })?;
    lab.in_host(index("h2"), || {
        let own = read("/proc/thread-self/net/if_inet6").unwrap_or_default();
        ensure!(own.is_empty(), "h2 has no IPv6 address in the plan: {own}");
        Ok(())
    })?;
    let counted: Vec<_> = lab.counters()?.into_iter().map(|one| (one.host, one.interface)).collect();
    ensure!(
        counted.len() == 8 && counted[2] == ("r1".into(), "eth0".into()) && counted[4] == ("r1".into(), "eth1".into())
    );
    ensure!(lab.sysctls()?["r1"].len() == 1 && lab.offloads()?["r1"].values().all(|on| !on));
    Ok(())
}

fn a_router_forwards() -> Result<()> {
    let lab = Lab::build(&behind_a_router(&[])?)?;
    let socket = |index| lab.in_host(index, || Ok(UdpSocket::bind("0.0.0.0:5001")?));
    let (sender, receiver) = (socket(0)?, socket(2)?);
    receiver.set_read_timeout(Some(Duration::from_secs(2)))?;
    // The sockets that carry are there before the frames.
    let bind =
        |(host, interface): (usize, usize)| PacketSocket::bind(lab.hosts()[host].interfaces[interface].core_ifindex);
    let ends = [(0, 0), (1, 0), (1, 1), (2, 0)].into_iter().map(bind).collect::<Result<Vec<_>>>()?;
    sender.send_to(b"hello", "10.2.0.10:5001")?;
    let frame = ends[0].receive()?.bytes;
    ensure!(frame[..12] == [2, 0, 0, 0, 2, 0, 2, 0, 0, 0, 1, 0], "{:?}", &frame[..12]);
    ends[1].send(&frame)?;
    let forwarded = ends[2].receive()?.bytes;
    ensure!(forwarded[..12] == [2, 0, 0, 0, 3, 0, 2, 0, 0, 0, 2, 1] && forwarded[22] == frame[22] - 1);
    ends[3].send(&forwarded)?;
    let mut bytes = [0; 16];
    let (length, from) = receiver.recv_from(&mut bytes)?;
    ensure!(&bytes[..length] == b"hello" && from == "10.1.0.10:5001".parse::<SocketAddr>()?);
    Ok(())
}

fn neighbours_are_asked_for_if_they_are_real() -> Result<()> {
    let lab = Lab::build(&behind_a_router(&[("neighbours", json!("real"))])?)?;
    lab.in_host(0, || {
        ensure!(read("/proc/thread-self/net/arp")?.lines().count() == 1);
        Ok(())
    })
}

/// The output of `work` in a child process inside a node.
fn in_node(lab: &Lab, name: &str, work: impl FnOnce() -> Result<String>) -> Result<String> {
    let (read, write) = pipe()?;
    // SAFETY: the test program has one thread.
    match unsafe { fork() }? {
        ForkResult::Child => {
            drop(read);
            let text =
                lab.node(name).expect("a node").doors().enter().map_err(anyhow::Error::from).and_then(|()| work());
            fs::File::from(write).write_all(text.unwrap_or_else(|error| format!("{error:#}")).as_bytes())?;
            std::process::exit(0)
        }
        ForkResult::Parent { child } => {
            drop(write);
            let mut text = String::new();
            fs::File::from(read).read_to_string(&mut text)?;
            ensure!(waitpid(child, None)? == WaitStatus::Exited(child, 0));
            Ok(text)
        }
    }
}

fn a_program_sees_its_hostname_and_own_mounts() -> Result<()> {
    let before = std::env::current_dir()?;
    let home = nix::unistd::gethostname()?;
    let interfaces = |node: &str, lab: &Lab| {
        in_node(lab, node, || {
            let all =
                fs::read_dir("/sys/class/net")?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
            let mut all = all.collect::<Result<Vec<_>>>()?;
            all.sort();
            // Each name is a link to the interface's directory.
            let kind = fs::read_to_string("/sys/class/net/eth0/type")?;
            Ok(format!("{} {}", all.join(" "), kind.trim()))
        })
    };
    let lab = Lab::build(&behind_a_router(&[])?)?;
    ensure!(interfaces("h1", &lab)? == "eth0 lo 1", "{}", interfaces("h1", &lab)?);
    ensure!(interfaces("r1", &lab)? == "eth0 eth1 lo 1", "{}", interfaces("r1", &lab)?);
    ensure!(std::env::current_dir()? == before && nix::unistd::gethostname()? == home, "building came home");
    let told = in_node(&lab, "r1", || {
        nix::mount::mount(Some("tmpfs"), "/mnt", Some("tmpfs"), nix::mount::MsFlags::empty(), None::<&str>)?;
        fs::write("/mnt/own", "r1")?;
        let run = |line: &str| -> Result<String> {
            Ok(String::from_utf8_lossy(&Command::new("/bin/sh").args(["-c", line]).output()?.stdout).into_owned())
        };
        run("uname -n; cat /mnt/own; echo; getent hosts h2 h1")
    })?;
    ensure!(told.starts_with("r1\nr1\n") && told.contains("10.2.0.10"), "{told}");
    ensure!(in_node(&lab, "h1", || Ok(format!("{}", std::path::Path::new("/mnt/own").exists())))? == "false");
    ensure!(!std::path::Path::new("/mnt/own").exists(), "a node's mount is seen outside");
    Ok(())
}

fn several_next_hops_share_the_traffic() -> Result<()> {
    let mut nodes = vec![
        node("router", "r1", 1, "10.255.0.1", &["10.0.1.1/24", "10.0.2.1/24"]),
        node("router", "r2", 2, "10.255.0.2", &["10.0.1.2/24"]),
        node("router", "r3", 3, "10.255.0.3", &["10.0.2.3/24"]),
    ];
    nodes[0]["routes"] = json!([{"to": "10.9.0.0/16", "via": ["10.0.1.2", "10.0.2.3"]}]);
    let lab = Lab::build(&plan(&nodes, &[cable("r1 eth0", "r2 eth0"), cable("r1 eth1", "r3 eth0")], &[])?)?;
    lab.in_host(0, || {
        for port in 0..200 {
            UdpSocket::bind("0.0.0.0:0")?.send_to(b"x", ("10.9.0.1", 2000 + port))?;
        }
        Ok(())
    })?;
    let sent: Vec<u64> =
        lab.counters()?.iter().filter(|one| one.host == "r1").step_by(2).map(|one| one.tx_packets).collect();
    // By a hash of the ports, of 200 flows: far from all at one.
    ensure!(sent.iter().sum::<u64>() == 200 && sent.iter().all(|&packets| packets > 50), "{sent:?}");
    Ok(())
}

fn two_hundred_hosts_at_a_switch() -> Result<()> {
    let mut nodes: Vec<Value> = (1..=200u8)
        .map(|id| node("host", &format!("h{id}"), id, &format!("10.0.0.{id}"), &[&format!("10.0.0.{id}/24")]))
        .collect();
    nodes.push(json!({"kind": "switch", "name": "s1"}));
    let cables: Vec<_> = (1..=200).map(|id| cable(&format!("h{id} eth0"), "s1")).collect();
    let lab = Lab::build(&plan(&nodes, &cables, &[])?)?;
    lab.in_host(199, || {
        let neighbours = read("/proc/thread-self/net/arp")?;
        ensure!(neighbours.lines().count() == 201, "{} neighbours", neighbours.lines().count() - 1);
        Ok(())
    })
}
