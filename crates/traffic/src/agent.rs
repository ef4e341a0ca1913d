use std::net::IpAddr;

use anyhow::Result;
use lab::Doors;
use units::Time;

use crate::poller::Source;
use crate::report::FlowReport;
use crate::shared::Shared;

/// Both ends of a flow, as the event loop drives them. The crate's `kinds` implement it, one a module.
pub trait Agent {
    /// Opens the receiving end. Call in the receiving host's namespace.
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()>;

    /// Opens the sending end, whose packets come from this address. Call in the sending host's namespace.
    fn open_sender(&mut self, from: IpAddr, shared: &mut Shared) -> Result<()>;

    /// Starts a server of the user's at the receiving host, if the flow has one.
    fn start_server<'d>(&mut self, _node: &dyn Fn() -> Result<Doors<'d>>, _shared: &Shared) -> Result<()> {
        Ok(())
    }

    /// True if that server is up, or there is none. An error if it has failed.
    fn is_served(&self, _shared: &mut Shared) -> Result<bool> {
        Ok(true)
    }

    /// Begins. Returns when the first datagram is due, of a flow that sends them on a schedule.
    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>>;

    /// Sends the datagram that is due. Returns when the next one is.
    fn send(&mut self, _shared: &Shared) -> Option<Time> {
        None
    }

    /// A descriptor of the flow is ready.
    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()>;

    /// The time at which the application goes from a burst to a pause or back, if that is not known yet.
    fn take_next_turn(&mut self) -> Option<Time> {
        None
    }

    /// The application goes from a burst to a pause, or back.
    fn turn(&mut self, _shared: &mut Shared) -> Result<()> {
        Ok(())
    }

    /// True if the kernel can write its rows.
    fn may_be_sampled_by_the_kernel(&self) -> bool {
        false
    }

    /// Writes a row per live socket, unless the kernel does.
    fn sample(&mut self, shared: &mut Shared) -> Result<()>;

    /// Counts what has arrived by now, takes a last sample, and sends no more. `on_time`: the flow's own stop has come.
    fn settle(&mut self, shared: &mut Shared, on_time: bool) -> Result<()>;

    /// Writes down what the run's end leaves open.
    fn finish(&self, _ended: Time, _shared: &mut Shared) {}

    /// Discards what is unsent or unread.
    fn close(&mut self, _shared: &mut Shared) -> Result<()> {
        Ok(())
    }

    /// True if programs of the flow still run.
    fn is_running(&self) -> bool {
        false
    }

    /// Ends them at once.
    fn kill(&self) {}

    /// Takes what programs of the flow have written until they ended.
    fn collect(&mut self, _shared: &mut Shared) -> Result<()> {
        Ok(())
    }

    /// Application bytes at the receiver so far.
    fn received_bytes(&self) -> u64;

    /// The account of the flow, in a run that ended then.
    fn report(&self, ended: Time) -> FlowReport;
}
