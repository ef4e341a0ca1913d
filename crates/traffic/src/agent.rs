use anyhow::Result;
use units::Time;

use crate::command::CommandFlow;
use crate::ping::PingFlow;
use crate::report::FlowReport;
use crate::shared::Shared;
use crate::tcp::TcpFlow;
use crate::udp::UdpFlow;

/// Both ends of a flow.
pub enum Agent<'a> {
    Tcp(TcpFlow),
    Udp(UdpFlow),
    Ping(PingFlow),
    Command(CommandFlow<'a>),
}

impl Agent<'_> {
    /// True if the kernel can write its rows.
    pub fn may_be_sampled_by_the_kernel(&self) -> bool {
        matches!(self, Agent::Tcp(flow) if flow.may_be_sampled_by_the_kernel())
    }

    /// Write a row per live socket, unless the kernel does.
    pub fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        let sample = match self {
            Agent::Tcp(flow) if flow.is_sampled_by_the_kernel() => return Ok(()),
            Agent::Tcp(flow) => flow.sample(shared),
            Agent::Udp(flow) => flow.sample(shared),
            Agent::Ping(flow) => flow.sample(shared),
            Agent::Command(flow) => return flow.sample(shared),
        };
        if let Some(sample) = sample {
            shared.sampler.push(sample);
        }
        Ok(())
    }

    /// Count what has arrived by now, take a last sample, send no more. `on_time`: the flow's own stop has come.
    pub fn settle(&mut self, shared: &mut Shared, on_time: bool) -> Result<()> {
        match self {
            Agent::Tcp(flow) => flow.settle(shared, on_time),
            Agent::Udp(flow) => {
                flow.settle(shared);
                Ok(())
            }
            Agent::Ping(flow) => {
                flow.settle(shared);
                Ok(())
            }
            Agent::Command(flow) => flow.settle(shared, on_time),
        }
    }

    /// Application bytes at the receiver so far.
    pub fn received_bytes(&self) -> u64 {
        match self {
            Agent::Tcp(flow) => flow.received_bytes(),
            Agent::Udp(flow) => flow.received_bytes(),
            Agent::Ping(flow) => flow.answered_bytes(),
            Agent::Command(flow) => flow.received_bytes(),
        }
    }

    pub fn report(&self, ended: Time) -> FlowReport {
        match self {
            Agent::Tcp(flow) => flow.report(),
            Agent::Udp(flow) => flow.report(ended),
            Agent::Ping(flow) => flow.report(ended),
            Agent::Command(flow) => flow.report(),
        }
    }
}
