//! The kinds of flow, one a module: a line in [`new_agent`] for each.

mod command;
mod ping;
mod quic;
mod rpc;
mod tcp;
mod udp;

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use bpf::Names;
use lab::Doors;
use plan::{Bursts, Flow, Ideal, Plan, Workload};
use units::Mtu;

use crate::agent::Agent;
use crate::sockets::Algorithm;
use command::{CommandFlow, with_cc};
use ping::PingFlow;
use quic::QuicFlow;
use quic_lines::Writer;
use rpc::RpcFlow;
use tcp::TcpFlow;
use udp::UdpFlow;

/// The agent of a flow.
///
/// # Errors
/// A workload that no agent can carry out, or logs that can't be created.
pub fn new_agent<'a>(
    index: u32,
    (flow, mtu, ideal): (&Flow, Mtu, Option<Ideal>),
    plan: &Plan,
    doors: &dyn Fn(&str) -> Result<Doors<'a>>,
    names: &Names,
    dir: &Path,
) -> Result<Box<dyn Agent + 'a>> {
    let (from, to) = plan.ends_of(flow)?;
    let to = SocketAddr::new(to, flow.port);
    Ok(match &flow.workload {
        Workload::Tcp { cc, bytes, on_off, .. } => {
            let cc = Algorithm { label: cc.clone(), kernel: names.kernel(cc).to_owned() };
            let bursts = on_off.map(|pattern| Bursts::new(pattern, flow.start_ns));
            Box::new(TcpFlow::new(index, &flow.id, cc, *bytes, bursts, to))
        }
        Workload::Udp { rate_bps, payload_bytes, bytes, ecn, on_off } => {
            Box::new(UdpFlow::new(index, flow, mtu, *rate_bps, *payload_bytes, *bytes, *ecn, *on_off, to)?)
        }
        Workload::Ping { echo, interval_ns, payload_bytes } => {
            Box::new(PingFlow::new(index, flow, *echo, *interval_ns, *payload_bytes, to))
        }
        Workload::Rpc { cc, requests, .. } => {
            let cc = Algorithm { label: cc.clone(), kernel: names.kernel(cc).to_owned() };
            Box::new(RpcFlow::new(index, flow, cc, requests.is_none(), plan.seed, ideal, to))
        }
        Workload::Quic { stack, cc, bytes, rate_bps, on_off, qlog } => {
            let every = plan.record.sample_interval_ns;
            let writer = Writer::new(*bytes, *rate_bps, on_off.map(|pattern| Bursts::new(pattern, flow.start_ns)));
            Box::new(QuicFlow::new(
                index,
                flow,
                (stack, cc, *qlog),
                writer,
                (from, to, doors(&flow.from)?),
                every,
                dir,
            )?)
        }
        Workload::Command { command, server_command, cc } => {
            let fill = |line: &String| cc.as_ref().map_or(line.clone(), |cc| with_cc(line, names.kernel(cc)));
            let lines = (fill(command), server_command.as_ref().map(fill));
            Box::new(CommandFlow::new(index, flow, lines, (from, to), doors(&flow.from)?, names, dir)?)
        }
    })
}
