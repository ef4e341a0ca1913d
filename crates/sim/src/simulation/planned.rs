//! Events whose times the plan knows: changes of links, and samples of flows and links.

use units::Time;

use super::Simulation;
use crate::observer::{FlowRow, LinkRow, Observer};

/// Whether there is an interface at the link's end, and it has no carrier.
pub(super) fn unplugs(link: &plan::Link) -> bool {
    link.carrier == plan::Carrier::Lost && link.to_interface.is_some()
}

impl<O: Observer> Simulation<O> {
    pub(super) fn schedule_change(&mut self) {
        let at = self.changes.front().map_or(Time::NEVER, |change| change.0);
        self.event_queue.set(self.changing(), at);
    }

    #[cold]
    pub(super) fn change_link(&mut self) {
        if let Some((_, link, spec)) = self.changes.pop_front() {
            self.unplugged[link as usize] = unplugs(&spec);
            self.network.links[link as usize].configure(&spec, self.now);
            // A transparent one holds nothing.
            if self.network.is_opaque[link as usize] {
                self.settle(link);
            }
        }
        self.schedule_change();
    }

    #[cold]
    pub(super) fn sample(&mut self) {
        self.arrivals.fire(self.now);
        self.sample_flows();
        for index in 0..self.network.links.len() {
            if self.network.is_opaque[index] {
                self.settle(index as u32);
                let link = &mut self.network.links[index];
                self.observer.link(&LinkRow {
                    time: self.now,
                    link: index as u16,
                    counters: link.counters(),
                    backlog: link.backlog(),
                    queue_bytes_max: link.take_queue_bytes_max(),
                    capacity_bytes: link.capacity_bytes(self.now),
                });
            }
        }
        self.event_queue.set(self.sampling(), self.now + self.sample_interval);
    }

    /// Samples the flows that go on beyond now; each gets its last sample at its stop.
    pub(super) fn sample_flows(&mut self) {
        self.sampled = Some(self.now);
        for flow in 0..self.traffic.len() {
            if self.traffic[flow].lasts(self.now) {
                self.sample_flow(flow);
            }
        }
    }

    #[cold]
    fn sample_flow(&mut self, flow: usize) {
        self.traffic[flow].read_quic();
        let traffic = &self.traffic[flow];
        self.observer.flow(&FlowRow {
            time: self.now,
            flow: flow as u16,
            bytes_sent: traffic.sent_bytes(),
            received_bytes: traffic.received_bytes(),
            gaps: traffic.gaps(),
            sender: traffic.sender(),
            quic: traffic.last_quic(),
        });
    }

    /// A flow that ended just now gets its last sample.
    pub(super) fn note_end(&mut self, flow: usize, was_active: bool) {
        if O::SAMPLES && was_active && !self.traffic[flow].is_active() {
            self.sample_flow(flow);
        }
    }
}
