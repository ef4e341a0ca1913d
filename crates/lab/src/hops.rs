//! Links of the kernel's own: pairs of interfaces in the core, each with a queueing discipline at one end's root.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use messages::Failure;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use plan::{Plan, Qdisc};

use crate::Lab;
use crate::host::{self, Role};
use crate::netlink::{Batch, Netlink};
use crate::requests::{self, End};

/// Where one part of a link is carried.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// The link's index among the plan's.
    pub link: u32,
    /// The part's index among the link's.
    pub part: usize,
    /// Index in the core of the interface with the queueing discipline.
    pub into: i32,
    /// Index in the core of its peer.
    pub out_of: i32,
}

/// The index of the first of these interfaces: above those of any network's hosts.
const FIRST: i32 = 1_000_000;
/// The folders of tc, wherever the caller's PATH leads.
const FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

impl Lab {
    /// Adds what the plan wants the kernel's links to be. The calling thread must be in the core's namespace.
    pub fn add_hops(&mut self, plan: &Plan) -> Result<()> {
        let qdiscs =
            plan.qdiscs().map_err(|what| Failure::new("building the kernel's links", format!("none has {what}")))?;
        let (mut batch, mut words) = (Batch::default(), String::new());
        for (link, parts) in (0..).zip(&qdiscs) {
            for (part, Qdisc { root, class, child, .. }) in parts.iter().enumerate() {
                let number = self.hops.len();
                let into = FIRST + 2 * number as i32;
                let hop = Hop { link, part, into, out_of: into + 1 };
                let name = format!("part{number}");
                self.push_pair(hop, &name, plan, &mut batch);
                words += &format!("qdisc add dev {name} root handle 1: {root}\n");
                words.extend(class.iter().map(|class| format!("class add dev {name} parent 1: classid 1:1 {class}\n")));
                words.extend(child.iter().map(|child| format!("qdisc add dev {name} parent 1:1 {child}\n")));
                self.hops.push(hop);
            }
        }
        if self.hops.is_empty() {
            return Ok(());
        }
        Netlink::open()?.execute(batch)?;
        tc(&words)
    }

    /// The end that packets are sent into comes up last: with its carrier there it has its queue at once.
    fn push_pair(&self, hop: Hop, name: &str, plan: &Plan, batch: &mut Batch) {
        let mtu = plan.largest_mtu().bytes();
        let number = self.hops.len();
        let peer = format!("{name}end");
        let mac = |place| host::mac(Role::Part, 2 * number + place);
        let near = End { ifindex: hop.out_of, name: &peer, mac: mac(1), mtu };
        let far = End { ifindex: hop.into, name, mac: mac(0), mtu };
        let pair = requests::new_veth(&near, &far, self.core.as_raw_fd());
        batch.push(format!("creating the veth pair {peer} - {name}"), pair, NLM_F_CREATE | NLM_F_EXCL);
        batch.push(format!("bringing {name} up"), requests::set_up(hop.into), 0);
    }

    /// The links of the kernel's own, in the order of the plan's links.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }
}

/// Carry out commands of tc(8), one a line.
fn tc(words: &str) -> Result<()> {
    let failed = |why: String| Failure::new("adding the kernel's queueing disciplines", why);
    let mut tc = Command::new("tc");
    tc.args(["-batch", "-"]).env("PATH", FOLDERS).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let hint = "install iproute2, which has tc";
    let mut child = tc.spawn().map_err(|error| failed(format!("starting tc: {error}")).hint(hint))?;
    child.stdin.take().expect("it is piped").write_all(words.as_bytes()).context("writing to tc")?;
    let output = child.wait_with_output().context("waiting for tc")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(format!("tc: {}", said.trim())).hint("see `tc qdisc help`; the kernel may lack a discipline").into())
}
