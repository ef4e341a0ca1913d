use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use messages::{Event, Order};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, pipe};
use plan::Routing;
use routers::Seat;

use crate::nodes::{Node, cable};
use crate::sandboxed::Case;

pub const ALL: &[(&str, Case)] = &[
    ("two_autonomous_systems", Case::Inside(two_autonomous_systems)),
    ("a_cut_link_is_routed_around", Case::Inside(a_cut_link_is_routed_around)),
    ("what_is_missing_is_named", Case::Inside(what_is_missing_is_named)),
    ("a_refused_line_is_named", Case::Inside(a_refused_line_is_named)),
    ("a_daemon_that_dies_is_named", Case::Inside(a_daemon_that_dies_is_named)),
    ("a_daemon_is_killed_and_started_again", Case::Inside(a_daemon_is_killed_and_started_again)),
];

fn routing(daemon: &str, config: &str, expect: &[&str]) -> Routing {
    let expect = expect.iter().map(|prefix| prefix.parse().expect("a prefix")).collect();
    Routing { config: format!("frr defaults traditional\n{config}"), daemons: vec![daemon.to_owned()], expect }
}

fn bgp(asn: u32, id: &str, peer: (&str, u32), network: &str) -> String {
    format!(
        "router bgp {asn}\n bgp router-id {id}\n no bgp ebgp-requires-policy\n no bgp network import-check\n \
         timers bgp 1 3\n coalesce-time 0\n neighbor {0} remote-as {1}\n neighbor {0} timers connect 1\n \
         neighbor {0} advertisement-interval 0\n address-family ipv4 unicast\n  network {network}\n exit-address-family\nexit\n",
        peer.0, peer.1
    )
}

/// The process that has the daemons, and the lines that it says.
struct Service {
    pid: Pid,
    control: Option<File>,
    events: BufReader<File>,
    dir: PathBuf,
}

impl Service {
    fn start(seats: Vec<Seat<'_>>, limit_s: u64) -> Result<Service> {
        let dir = PathBuf::from("/run/records");
        fs::create_dir_all(&dir)?;
        let (ordered, control) = pipe()?;
        let (events, saying) = pipe()?;
        // SAFETY: the test program has one thread.
        match unsafe { fork() }? {
            ForkResult::Child => {
                drop((control, events));
                let mut saying = File::from(saying);
                if let Err(error) =
                    routers::run(seats, &[], Some(Duration::from_secs(limit_s)), None, &dir, ordered, &mut saying)
                {
                    Event::failed(messages::Process::Routers, &error).emit(&mut saying)?;
                }
                std::process::exit(0)
            }
            ForkResult::Parent { child } => {
                let (control, events) = (Some(File::from(control)), BufReader::new(File::from(events)));
                Ok(Service { pid: child, control, events, dir })
            }
        }
    }

    fn hear(&mut self) -> Result<Event> {
        loop {
            let mut line = String::new();
            ensure!(self.events.read_line(&mut line)? > 0, "the service is gone");
            match serde_json::from_str(&line)? {
                Event::Converging { .. } => {}
                event => return Ok(event),
            }
        }
    }

    fn ready(&mut self) -> Result<()> {
        match self.hear()? {
            Event::Ready { .. } => self.tell(&Order::Start { origin_ns: realtime::monotonic_ns() }),
            Event::Failed { failure, .. } => bail!("{failure}"),
            other => bail!("{other:?}"),
        }
    }

    fn tell(&mut self, order: &Order) -> Result<()> {
        Ok(self.control.as_mut().context("it was told to stop")?.write_all(&order.line()?)?)
    }

    /// The failure that it reports.
    fn failure(&mut self) -> Result<String> {
        match self.hear()? {
            Event::Failed { failure, .. } => Ok(failure.to_string()),
            other => bail!("{other:?}"),
        }
    }

    fn stop(mut self) -> Result<PathBuf> {
        self.tell(&Order::Stop)?;
        self.control = None;
        let said = self.hear()?;
        ensure!(matches!(said, Event::Done { .. }), "{said:?}");
        waitpid(self.pid, None)?;
        Ok(self.dir)
    }
}

/// h1 - r1 - r2 - h2, as an exercise has it.
fn two_autonomous_systems() -> Result<()> {
    let (h1, r1, r2, h2) = (Node::new("h1")?, Node::new("r1")?, Node::new("r2")?, Node::new("h2")?);
    cable((&h1, "eth0", "10.0.0.10/16"), (&r1, "eth0", "10.0.0.1/16"))?;
    cable((&r1, "eth1", "10.9.0.1/16"), (&r2, "eth0", "10.9.0.2/16"))?;
    cable((&r2, "eth1", "10.1.0.1/16"), (&h2, "eth0", "10.1.0.10/16"))?;
    h1.run("ip route add default via 10.0.0.1")?;
    h2.run("ip route add default via 10.1.0.1")?;
    let one = routing("bgpd", &bgp(100, "1.1.1.1", ("10.9.0.2", 200), "10.0.0.0/16"), &["10.1.0.0/16"]);
    let two = routing("bgpd", &bgp(200, "2.2.2.2", ("10.9.0.1", 100), "10.1.0.0/16"), &["10.0.0.0/16"]);
    let began = Instant::now();
    let mut service = Service::start(vec![r1.seat(&one), r2.seat(&two)], 20)?;
    service.ready()?;
    println!("converged after {:.2} s", began.elapsed().as_secs_f64());
    // It is ready, so the first packet arrives.
    h1.reaches("10.1.0.10")?;
    let said = r1.run("vtysh -c 'show ip route bgp'")?;
    ensure!(said.contains("B>* 10.1.0.0/16"), "{said}");
    ensure!(r1.run("vtysh -c 'show running-config'")?.contains("hostname r1"), "vtysh speaks with another router");
    let dir = service.stop()?;
    ensure!(dir.join("routes.parquet").exists() && dir.join("routers.json").exists());
    let log = fs::metadata(dir.join("logs/r1/bgpd.log"))?;
    ensure!(log.is_file());
    Ok(())
}

fn ospf(id: &str, interfaces: usize) -> String {
    let mut config =
        format!("router ospf\n ospf router-id {id}\n timers throttle spf 0 10 100\n timers throttle lsa all 0\nexit\n");
    for i in 0..interfaces {
        config += &format!(
            "interface eth{i}\n ip ospf area 0\n ip ospf network point-to-point\n ip ospf hello-interval 1\n ip ospf dead-interval 3\nexit\n"
        );
    }
    config
}

fn a_cut_link_is_routed_around() -> Result<()> {
    let (r1, r2, r3) = (Node::new("r1")?, Node::new("r2")?, Node::new("r3")?);
    cable((&r1, "eth0", "10.0.12.1/24"), (&r2, "eth0", "10.0.12.2/24"))?;
    cable((&r2, "eth1", "10.0.23.2/24"), (&r3, "eth0", "10.0.23.3/24"))?;
    cable((&r1, "eth1", "10.0.13.1/24"), (&r3, "eth1", "10.0.13.3/24"))?;
    let configured = [
        routing("ospfd", &ospf("1.1.1.1", 2), &["10.0.23.0/24"]),
        routing("ospfd", &ospf("2.2.2.2", 2), &["10.0.13.0/24"]),
        routing("ospfd", &ospf("3.3.3.3", 2), &["10.0.12.0/24"]),
    ];
    let nodes = [&r1, &r2, &r3];
    let seats: Vec<Seat<'_>> = nodes.iter().zip(&configured).map(|(node, one)| node.seat(one)).collect();
    let mut service = Service::start(seats, 20)?;
    service.ready()?;
    ensure!(r1.run("ip route get 10.0.23.2")?.contains("via 10.0.1"), "no route from r1 to r2's far side");
    r1.run("ip link set eth0 down")?;
    let limit = Instant::now() + Duration::from_secs(60);
    // In between there may be no route at all, which `ip` calls an error.
    while !r1.run("ip route get 10.0.23.2").is_ok_and(|said| said.contains("via 10.0.13.3")) {
        ensure!(Instant::now() < limit, "r1 never goes round: {}", r1.run("ip route")?);
        sleep(Duration::from_millis(10));
    }
    // The way back may come later than the way there.
    while let Err(error) = r1.reaches("10.0.23.2") {
        ensure!(Instant::now() < limit, "{error:#}");
    }
    let text = fs::read_to_string(service.stop()?.join("routers.json"))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    ensure!(report["changes"].as_u64().context("no count")? >= 6, "{report}");
    Ok(())
}

fn what_is_missing_is_named() -> Result<()> {
    let (r1, r2) = (Node::new("r1")?, Node::new("r2")?);
    cable((&r1, "eth0", "10.9.0.1/16"), (&r2, "eth0", "10.9.0.2/16"))?;
    let one = routing("bgpd", &bgp(100, "1.1.1.1", ("10.9.0.2", 201), "10.0.0.0/16"), &["10.1.0.0/16"]);
    let two = routing("bgpd", &bgp(200, "2.2.2.2", ("10.9.0.1", 100), "10.1.0.0/16"), &[]);
    let mut service = Service::start(vec![r1.seat(&one), r2.seat(&two)], 3)?;
    let said = service.failure()?;
    ensure!(said.starts_with("routing has not converged within 3 s: r1 has no route to 10.1.0.0/16"), "{said}");
    Ok(())
}

fn a_refused_line_is_named() -> Result<()> {
    let r1 = Node::new("r1")?;
    let one = routing("bgpd", "router bgp 100\n neighbour 10.9.0.2 remote-as 200\n", &[]);
    let said = Service::start(vec![r1.seat(&one)], 3)?.failure()?;
    ensure!(said.contains("router r1: vtysh") && said.contains("neighbour 10.9.0.2 remote-as 200"), "{said}");
    Ok(())
}

fn a_daemon_that_dies_is_named() -> Result<()> {
    let r1 = Node::new("r1")?;
    let one = routing("ospfd", &ospf("1.1.1.1", 0), &[]);
    let mut service = Service::start(vec![r1.seat(&one)], 3)?;
    service.ready()?;
    // Its pid is in the file that the daemon wrote.
    r1.run("kill -9 $(cat /var/run/frr/ospfd.pid)")?;
    let said = service.failure()?;
    ensure!(said.contains("router r1: ospfd") && said.contains("signal: 9"), "{said}");
    Ok(())
}

fn a_daemon_is_killed_and_started_again() -> Result<()> {
    let (r1, r2) = (Node::new("r1")?, Node::new("r2")?);
    cable((&r1, "eth0", "10.9.0.1/16"), (&r2, "eth0", "10.9.0.2/16"))?;
    let one = routing("bgpd", &bgp(100, "1.1.1.1", ("10.9.0.2", 200), "10.0.0.0/16"), &["10.1.0.0/16"]);
    let two = routing("bgpd", &bgp(200, "2.2.2.2", ("10.9.0.1", 100), "10.1.0.0/16"), &["10.0.0.0/16"]);
    let mut service = Service::start(vec![r1.seat(&one), r2.seat(&two)], 30)?;
    service.ready()?;
    for up in [false, true] {
        service.tell(&Order::ChangeDaemon { router: "r2".into(), daemon: "bgpd".into(), up })?;
        let said = service.hear()?;
        ensure!(matches!(&said, Event::DaemonChanged { change } if change.up == up), "{said:?}");
        let limit = Instant::now() + Duration::from_secs(30);
        while r1.run("ip route show 10.1.0.0/16")?.is_empty() == up {
            ensure!(Instant::now() < limit, "r1's route to 10.1.0.0/16 is {}", if up { "missing" } else { "there" });
            sleep(Duration::from_millis(10));
        }
    }
    service.stop()?;
    Ok(())
}
