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
mod request;
mod serve;

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use bpf::Names;
use lab::{Host, Lab};
use messages::{Event, Failure};
use plan::Plan;
use records::found::DatagramGauges;
use units::Ip;

pub use request::{Answer, Request};

/// The lab of an agent.
pub struct Setting<'a> {
    /// The plan of the lab.
    pub plan: &'a Plan,
    /// The nodes.
    pub lab: &'a Lab,
    /// The kernel's names of the plan's congestion controls.
    pub names: &'a Names,
    /// The lab's directory.
    pub dir: &'a Path,
    /// Datagrams that links count while the lab is recorded.
    pub datagrams: &'a DatagramGauges,
    /// The links as they are now; `None` if nothing has changed since the call before.
    pub progress: Box<dyn FnMut() -> Option<Event> + 'a>,
}

impl<'a> Setting<'a> {
    /// A node in which programs run.
    fn node(&self, name: &str) -> Result<&'a Host> {
        self.lab.node(name).with_context(|| format!("the lab has no node {name} with programs"))
    }

    /// Its address.
    fn address(&self, name: &str, ip: Ip) -> Result<IpAddr> {
        let node = self.plan.nodes.iter().find(|node| node.name() == name);
        let address = node.and_then(|node| node.address_of(ip));
        Ok(address.ok_or_else(|| {
            let failure = Failure::new(format!("{name} has no address of IPv{}", u8::from(ip)), "the network has none");
            failure.hint("write ipv6 = true in [topology]")
        })?)
    }
}

/// Serve the clients of `listener` until `control` says stop, or is closed.
///
/// Says on `events` that it is ready, waits on `control` for the start, and passes orders on by `events`.
pub fn run(setting: Setting<'_>, listener: OwnedFd, control: OwnedFd, events: &mut File) -> Result<()> {
    serve::serve(setting, listener, control, events)
}
