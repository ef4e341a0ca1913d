//! Carries out what users ask of a lab: programs in its nodes, traffic, pings, changes of links, records.
//!
//! A client connects to the lab's Unix socket and sends one [`Request`] as a line of JSON, with the descriptors that it
//! needs beside the first byte. The agent answers by lines of JSON, each an [`Answer`], and closes the connection after the
//! last one. While a request is carried out the client may send [`Request::Signal`]; where it hangs up, the work ends.
//!
//! The agent is one thread. A program, a traffic or a round of pings is a child of it, so none outlives the lab; what a
//! program leaves behind in the background is adopted by the agent, too.

mod capture;
mod client;
mod flows;
mod pings;
mod program;
mod record;
mod removed;
mod request;
mod serve;

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use bpf::Names;
use lab::{Host, Lab};
use messages::{Event, Failure};
use plan::Plan;
use records::found::DatagramGauges;
use units::Ip;

pub use request::{Answer, Request};

/// Tells how the links are now; `None` if nothing has changed since the call before.
pub type Progress<'a> = Box<dyn FnMut() -> Option<Event> + 'a>;

/// The lab of an agent.
pub struct Setting<'a> {
    /// The plan of the lab.
    pub plan: Plan,
    /// The nodes.
    pub lab: &'a mut Lab,
    /// The kernel's names of the plan's congestion controls.
    pub names: &'a Names,
    /// The lab's directory.
    pub dir: &'a Path,
    /// Datagrams that links count while the lab is recorded.
    pub datagrams: &'a DatagramGauges,
    /// Brings the nodes that are added to the lab.
    pub ferry: OwnedFd,
    /// The progress of the links of a plan.
    pub progress: Box<dyn Fn(&Plan) -> Progress<'a> + 'a>,
}

impl Setting<'_> {
    /// A node in which programs run.
    fn node(&self, name: &str) -> Result<&Host> {
        self.lab.node(name).with_context(|| format!("the lab has no node {name} with programs"))
    }

    /// The address to which it is pinged: a router's is that of its first interface, as other networks may have no route
    /// to its id. `Network.address` of the Python package says the same.
    fn address(&self, name: &str, ip: Ip) -> Result<IpAddr> {
        let node = self.plan.nodes.iter().find(|node| node.name() == name);
        let first = |node: &plan::Node| {
            let mut own = node.interfaces().iter().flat_map(|interface| &interface.addresses).map(|own| own.addr());
            own.find(IpAddr::is_ipv4)
        };
        let address = node.and_then(|node| match node {
            plan::Node::Router { .. } if ip == Ip::V4 => first(node).or_else(|| node.address_of(ip)),
            _ => node.address_of(ip),
        });
        Ok(address.ok_or_else(|| {
            let failure = Failure::new(format!("{name} has no address of IPv{}", u8::from(ip)), "the network has none");
            failure.hint("write ipv6 = true in [topology]")
        })?)
    }

    /// The network is that of `plan`. The nodes that were `added` come by the ferry. Returns those that are gone.
    fn rewire(&mut self, plan: Plan, added: &[String]) -> Result<Vec<String>> {
        for name in added {
            let node = plan.nodes.iter().find(|node| node.name() == name);
            let node = node.with_context(|| format!("the plan has no node {name}"))?;
            self.lab.adopt(lab::ferry::receive(self.ferry.as_fd(), name, node.address(), node.cpus())?);
        }
        let now = plan.node_indices();
        let gone = self.plan.nodes.iter().map(plan::Node::name).filter(|name| !now.contains_key(name));
        let gone = gone.map(str::to_owned).collect();
        self.plan = plan;
        Ok(gone)
    }
}

/// Serve the clients of `listener` until `control` says stop, or is closed.
///
/// Says on `events` that it is ready, waits on `control` for the start, and passes orders on by `events`.
pub fn run(setting: Setting<'_>, listener: OwnedFd, control: OwnedFd, events: &mut File) -> Result<()> {
    serve::serve(setting, listener, control, events)
}
