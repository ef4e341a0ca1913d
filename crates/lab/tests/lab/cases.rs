//! A lab, seen from inside.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::{GATEWAY, Lab};
use plan::{EmulatePath, Node};

use crate::networks::bare_hosts;
use crate::packet::{Frame, PacketSocket};
use crate::sandboxed::Case;

pub const ALL: &[(&str, Case)] = &[
    ("hosts_have_addresses_routes_and_neighbours", Case::Inside(hosts_have_addresses_routes_and_neighbours)),
    ("core_has_no_ip", Case::Inside(core_has_no_ip)),
    ("frames_pass_and_nothing_counts_as_dropped", Case::Inside(frames_pass_and_nothing_counts_as_dropped)),
    ("offloads_are_off", Case::Inside(offloads_are_off)),
    ("offloads_stay_on_if_asked", Case::Inside(offloads_stay_on_if_asked)),
    ("sysctls_are_pinned_and_read_back", Case::Inside(sysctls_are_pinned_and_read_back)),
    ("unknown_sysctl_is_refused", Case::Inside(|| refused_sysctl("net.ipv4.nothing", "1", "no such sysctl"))),
    ("bad_value_is_refused", Case::Inside(|| refused_sysctl("net.ipv4.tcp_syn_retries", "1000", "refuses this value"))),
    (
        "changed_value_is_refused",
        Case::Inside(|| refused_sysctl("net.ipv4.tcp_syn_retries", "0x5", "the kernel keeps 5")),
    ),
    ("sysctl_of_the_machine_is_refused", Case::Inside(|| refused_sysctl("kernel.hostname", "x", "start with `net.`"))),
    ("a_second_lab_is_refused", Case::Inside(a_second_lab_is_refused)),
    ("a_visit_ends_at_home", Case::Inside(a_visit_ends_at_home)),
    ("ip_netns_exec_works", Case::Inside(ip_netns_exec_works)),
    ("hosts_have_names_and_nothing_else_has", Case::Inside(hosts_have_names_and_nothing_else_has)),
    ("many_hosts", Case::Inside(many_hosts)),
];

fn hosts_have_names_and_nothing_else_has() -> Result<()> {
    let lab = pair()?;
    let sent = || -> Result<u64> { Ok(lab.counters()?.iter().map(|end| end.tx_packets).sum()) };
    let before = sent()?;
    lab.in_host(0, || {
        let found = ("r1", 80).to_socket_addrs()?.map(|address| address.to_string()).collect::<Vec<_>>();
        ensure!(found.iter().all(|address| address == "10.0.0.2:80") && !found.is_empty(), "r1 is {found:?}");
        ensure!(("dumbbell.invalid", 80).to_socket_addrs().is_err(), "there is no such host");
        Ok(())
    })?;
    let asked = sent()? - before;
    ensure!(asked == 0, "{asked} packets asked for a name");
    Ok(())
}

fn pair() -> Result<Lab> {
    Lab::build(&bare_hosts(&["s1", "r1"]))
}

fn gateway_mac(host: &lab::Host) -> [u8; 6] {
    host.interfaces[0].gateway_mac.expect("a core network's host has a gateway")
}

fn colons(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(file).with_context(|| file.to_owned())
}

/// `interface address` of each IPv4 address in the thread's namespace.
fn addresses() -> Result<Vec<String>> {
    let ipv4 = |entry: nix::ifaddrs::InterfaceAddress| {
        let address = entry.address?.as_sockaddr_in()?.ip();
        let mask = entry.netmask?.as_sockaddr_in()?.ip();
        Some(format!("{} {address}/{}", entry.interface_name, u32::from(mask).count_ones()))
    };
    Ok(nix::ifaddrs::getifaddrs()?.filter_map(ipv4).collect())
}

/// A file of the interface in /sys cannot be used: /sys shows the namespace in which it was mounted.
fn interface(name: &str) -> Result<nix::net::if_::InterfaceFlags> {
    let found = nix::ifaddrs::getifaddrs()?.find(|entry| entry.interface_name == name);
    Ok(found.with_context(|| format!("no interface {name}"))?.flags)
}

fn hosts_have_addresses_routes_and_neighbours() -> Result<()> {
    let lab = pair()?;
    for (index, host) in lab.hosts().iter().enumerate() {
        lab.in_host(index, || {
            ensure!(
                addresses()?
                    == ["lo 127.0.0.1/8".to_owned(), format!("eth0 {}/32", host.address.expect("a host has one"))],
                "{:?}",
                addresses()?
            );
            let routes = read("/proc/thread-self/net/route")?;
            let rows: Vec<Vec<&str>> = routes.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
            let gateway = format!("{:08X}", u32::from_ne_bytes(GATEWAY.octets()));
            // Interface, destination, gateway, flags (up, gateway), mask.
            ensure!(rows.len() == 1, "{routes}");
            ensure!(rows[0][..4] == ["eth0", "00000000", &gateway, "0003"] && rows[0][7] == "00000000", "{routes}");
            let neighbours = read("/proc/thread-self/net/arp")?;
            let rows: Vec<Vec<&str>> =
                neighbours.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
            // Address, hardware type, flags (complete, permanent), hardware address, mask, interface.
            let expected = [&GATEWAY.to_string(), "0x1", "0x6", &colons(gateway_mac(host)), "*", "eth0"];
            ensure!(rows == [expected], "{neighbours}");
            ensure!(
                !Path::new("/proc/thread-self/net/if_inet6").exists()
                    || read("/proc/thread-self/net/if_inet6")?.is_empty()
            );
            ensure!(hardware_address("eth0")? == colons(host.interfaces[0].mac));
            Ok(())
        })?;
    }
    ensure!(lab.hosts()[0].name == "s1" && lab.hosts()[1].address == Some(Ipv4Addr::new(10, 0, 0, 2)));
    Ok(())
}

fn hardware_address(name: &str) -> Result<String> {
    let link = nix::ifaddrs::getifaddrs()?
        .filter(|entry| entry.interface_name == name)
        .find_map(|entry| entry.address?.as_link_addr()?.addr());
    Ok(colons(link.with_context(|| format!("{name} has no hardware address"))?))
}

fn core_has_no_ip() -> Result<()> {
    use nix::net::if_::{InterfaceFlags, if_nametoindex};
    let lab = pair()?;
    ensure!(addresses()? == ["lo 127.0.0.1/8"], "{:?}", addresses()?);
    ensure!(read("/proc/thread-self/net/route")?.lines().count() == 1);
    for host in lab.hosts() {
        let flags = interface(&host.name)?;
        let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING | InterfaceFlags::IFF_NOARP;
        ensure!(flags.contains(wanted), "{}: {flags:?}", host.name);
        ensure!(if_nametoindex(host.name.as_str())? as i32 == host.interfaces[0].core_ifindex);
        let mac = hardware_address(&host.name)?;
        ensure!(mac != colons(host.interfaces[0].mac) && mac != colons(gateway_mac(host)), "{} has {mac}", host.name);
    }
    Ok(())
}

/// Carries frames as the emulator does, for a datagram and for a TCP connection.
fn frames_pass_and_nothing_counts_as_dropped() -> Result<()> {
    let lab = pair()?;
    let ends = lab
        .hosts()
        .iter()
        .map(|host| PacketSocket::bind(host.interfaces[0].core_ifindex))
        .collect::<Result<Vec<_>>>()?;
    let [sender, receiver] = [0, 1].map(|index| lab.in_host(index, || Ok(UdpSocket::bind("0.0.0.0:5001")?)));
    let (sender, receiver) = (sender?, receiver?);
    sender.send_to(b"hello", "10.0.0.2:5001")?;
    let frame = ends[0].receive()?;
    ensure!(frame.packet_type == libc::PACKET_OTHERHOST, "the core takes the frame for its own");
    ensure!(frame.bytes[..6] == gateway_mac(&lab.hosts()[0]) && frame.bytes[6..12] == lab.hosts()[0].interfaces[0].mac);
    ends[1].send(&frame.to(&lab.hosts()[1]))?;
    receiver.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut bytes = [0; 16];
    let (length, from) = receiver.recv_from(&mut bytes)?;
    ensure!(&bytes[..length] == b"hello" && from.to_string() == "10.0.0.1:5001");

    let listener = lab.in_host(1, || Ok(TcpListener::bind("0.0.0.0:5002")?))?;
    let client = lab.in_host(0, || {
        let socket = nix::sys::socket::socket(
            nix::sys::socket::AddressFamily::Inet,
            nix::sys::socket::SockType::Stream,
            nix::sys::socket::SockFlag::SOCK_NONBLOCK,
            None,
        )?;
        let address = nix::sys::socket::SockaddrIn::new(10, 0, 0, 2, 5002);
        match nix::sys::socket::connect(socket.as_raw_fd(), &address) {
            Err(nix::Error::EINPROGRESS) => Ok(TcpStream::from(socket)),
            other => anyhow::bail!("connect: {other:?}"),
        }
    })?;
    // SYN, SYN-ACK, ACK.
    for (from, to) in [(0, 1), (1, 0), (0, 1)] {
        let frame: Frame = ends[from].receive()?;
        ends[to].send(&frame.to(&lab.hosts()[to]))?;
    }
    ensure!(listener.accept()?.1 == client.local_addr()?);

    for counter in lab.counters()? {
        let lost = counter.rx_dropped + counter.tx_dropped + counter.rx_errors + counter.tx_errors;
        ensure!(lost == 0 && counter.rx_packets > 0 && counter.tx_packets > 0, "{counter:?}");
    }
    Ok(())
}

fn offloads_are_off() -> Result<()> {
    let offloads = pair()?.offloads()?;
    ensure!(offloads.keys().eq(["r1", "s1"]));
    for (host, features) in offloads {
        for name in
            ["tx-checksum-ip-generic", "tx-tcp-segmentation", "tx-generic-segmentation", "tx-scatter-gather", "rx-gro"]
        {
            ensure!(features.get(name) == Some(&false), "{host}: {name} in {features:?}");
        }
        ensure!(features.values().all(|on| !on), "{host}: {features:?}");
    }
    Ok(())
}

fn offloads_stay_on_if_asked() -> Result<()> {
    let mut plan = bare_hosts(&["s1", "r1"]);
    plan.emulate.path = EmulatePath::Gso;
    for (host, features) in Lab::build(&plan)?.offloads()? {
        for name in ["tx-checksum-ip-generic", "tx-tcp-segmentation", "tx-generic-segmentation"] {
            ensure!(features.get(name) == Some(&true), "{host}: {name} in {features:?}");
        }
    }
    Ok(())
}

fn sysctls_are_pinned_and_read_back() -> Result<()> {
    let own = BTreeMap::from(
        [
            ("net.ipv4.tcp_rmem", "4096 131072 8388608"),
            ("net.ipv4.tcp_no_metrics_save", "1"),
            ("net.ipv4.conf.eth0.rp_filter", "2"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    let mut plan = bare_hosts(&["s1", "r1"]);
    set(&mut plan.nodes[0], own.clone());
    let lab = Lab::build(&plan)?;
    let found = lab.sysctls()?;
    ensure!(found == BTreeMap::from([("s1".to_owned(), own), ("r1".to_owned(), BTreeMap::new())]), "{found:?}");
    // The neighbour keeps the kernel's value.
    let rmem = lab.in_host(1, || read("/proc/sys/net/ipv4/tcp_rmem"))?;
    ensure!(!rmem.contains("8388608"), "{rmem}");
    Ok(())
}

fn set(node: &mut Node, sysctls: BTreeMap<String, String>) {
    let Node::Host { sysctl, .. } = node else { unreachable!("all are hosts") };
    *sysctl = sysctls;
}

fn refused_sysctl(key: &str, value: &str, why: &str) -> Result<()> {
    let mut plan = bare_hosts(&["s1"]);
    set(&mut plan.nodes[0], BTreeMap::from([(key.to_owned(), value.to_owned())]));
    let text = format!("{:#}", Lab::build(&plan).err().with_context(|| format!("{key} was accepted"))?);
    for part in ["building s1", key, value, why] {
        ensure!(text.contains(part), "{part:?} is missing in {text:?}");
    }
    ensure!(addresses()? == ["lo 127.0.0.1/8"], "the failed build left the thread in a host");
    Ok(())
}

fn a_second_lab_is_refused() -> Result<()> {
    let _first = pair()?;
    let text = format!("{:#}", Lab::build(&bare_hosts(&["s1"])).err().context("a second s1 was accepted")?);
    ensure!(text.contains("building s1") && text.contains("File exists"), "{text}");
    nix::mount::umount("/run/netns/s1")?;
    fs::remove_file("/run/netns/s1")?;
    // Now only the interface is in the way: the kernel's refusal names the request.
    let text = format!("{:#}", Lab::build(&bare_hosts(&["s1"])).err().context("a second s1 was accepted")?);
    ensure!(text.contains("creating the veth pair s1 - eth0") && text.contains("hint: "), "{text}");
    Ok(())
}

fn a_visit_ends_at_home() -> Result<()> {
    let lab = pair()?;
    let here = || Ok(fs::read_link("/proc/thread-self/ns/net")?);
    let home = here()?;
    ensure!(lab.in_host(0, here)? != home && lab.in_host(0, here)? != lab.in_host(1, here)?);
    let error = lab.in_host(1, || -> Result<()> { anyhow::bail!("on purpose") }).expect_err("should fail");
    ensure!(format!("{error:#}") == "in host r1: on purpose" && here()? == home);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        lab.in_host(1, || -> Result<()> { std::panic::resume_unwind(Box::new("on purpose")) })
    }));
    ensure!(panicked.is_err() && here()? == home);
    Ok(())
}

fn ip_netns_exec_works() -> Result<()> {
    let _lab = pair()?;
    if Command::new("ip").arg("-V").output().is_err() {
        println!("  (iproute2 is not installed: its commands were not tried)");
        return Ok(());
    }
    let output =
        Command::new("ip").args(["netns", "exec", "r1", "ip", "-j", "address", "show", "dev", "eth0"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(text.contains(r#""local":"10.0.0.2","prefixlen":32"#), "{output:?}");
    ensure!(text.contains(r#""mtu":1500"#) && text.contains(r#""operstate":"UP""#), "{output:?}");
    Ok(())
}

/// More than the kernel's limit of 100 link events at a time, and more than one netlink answer holds.
fn many_hosts() -> Result<()> {
    let names: Vec<String> = (1..=150).map(|number| format!("h{number}")).collect();
    let lab = Lab::build(&bare_hosts(&names.iter().map(String::as_str).collect::<Vec<_>>()))?;
    ensure!(lab.counters()?.len() == 300);
    for host in lab.hosts() {
        ensure!(interface(&host.name)?.contains(nix::net::if_::InterfaceFlags::IFF_RUNNING), "{} is down", host.name);
    }
    Ok(())
}
