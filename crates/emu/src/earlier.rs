//! The network before time 0: it carries frames while routing converges. Nothing of it is recorded.

use link::{Fate, Network, Packet, Passage, Sink};
use plan::Plan;
use units::{Duration, Time};

use anyhow::Result;

use crate::driver::Driver;

/// Time after time 0 by which frames that came before it have been read.
const READ: Duration = Duration::from_secs(1);
/// Until the run's origin is known, it lies so far ahead.
const AHEAD: Duration = Duration::from_secs(1_000_000);

/// Links of their own for the frames that come before time 0. Those that are still on them at time 0 arrive after it, beside
/// the run's: the run's links begin empty, with nothing counted, and nothing drawn of their random streams.
///
/// Its own time begins with it, so a rate that changes by itself is then that of the run's beginning. Callers speak of the
/// run's time.
pub(crate) struct Earlier {
    network: Network,
    /// Its time when the run's is 0.
    origin: Duration,
    /// Time 0 is over.
    pub is_over: bool,
}

impl Earlier {
    /// Empty links. Until [`Earlier::set_origin`] the run's clock is to show [`Earlier::BEGIN`] now.
    pub(crate) fn new(plan: &Plan) -> Result<Earlier> {
        // Its events belong to the run.
        let network = Network::new(&Plan { events: Vec::new(), ..plan.clone() })?;
        Ok(Earlier { network, origin: AHEAD, is_over: false })
    }

    /// The links of a lab whose records begin `after` its own time 0: what is on them arrives beside the run's.
    pub(crate) fn taken_over(network: Network, after: Duration) -> Earlier {
        Earlier { network, origin: after, is_over: true }
    }

    /// The run's time begins anew, so long after it began before.
    pub(crate) fn shift(&mut self, by: Duration) {
        self.origin = self.origin + by;
    }

    /// The run's time at its beginning.
    pub(crate) const BEGIN: Time = Time(-AHEAD.0);

    /// The run's time 0 comes so long after its beginning.
    pub(crate) fn set_origin(&mut self, after: Duration) {
        self.origin = after;
    }

    pub(crate) fn next_event(&mut self) -> Time {
        match self.network.next_event() {
            Time::NEVER => Time::NEVER,
            at => at - self.origin,
        }
    }

    pub(crate) fn enter<T>(&mut self, packet: Packet, link: usize, arrival: Time, driver: &mut Driver<T>) -> bool {
        driver.store.get_mut(packet.handle).earlier = true;
        let sink = &mut Unrecorded { driver, origin: self.origin };
        self.network.enter(packet, link as u32, arrival + self.origin, sink)
    }

    pub(crate) fn advance<T>(&mut self, now: Time, driver: &mut Driver<T>) {
        self.network.advance(now + self.origin, &mut Unrecorded { driver, origin: self.origin });
    }

    /// Hand over to the run's links, which know the stations that these have learned.
    pub(crate) fn end(&mut self, run: &mut Network) {
        self.is_over = true;
        run.learn_from(&self.network, self.origin);
    }

    /// Nothing will come out of it any more.
    pub(crate) fn is_empty(&mut self, now: Time) -> bool {
        now > Time::ZERO + READ && self.next_event() == Time::NEVER
    }
}

/// Delivers what comes out, and counts nothing.
struct Unrecorded<'a, T> {
    driver: &'a mut Driver<T>,
    origin: Duration,
}

impl<T> Sink for Unrecorded<'_, T> {
    fn passed(&mut self, _link: u32, passage: &Passage, _last: bool) {
        self.driver.affect(passage);
        if passage.fate != Fate::Delivered {
            self.driver.store.release(passage.packet.handle);
        }
    }

    fn delivered(&mut self, packet: Packet, link: u32, at: Time) {
        self.driver.hand_to_the_end_of(link, packet.handle, at - self.origin);
    }

    fn copied(&mut self, packet: Packet) -> Option<Packet> {
        self.driver.store.copy(packet.handle).map(|handle| Packet { handle, ..packet })
    }

    fn flooded(&mut self, packet: Packet) -> Option<Packet> {
        self.copied(packet)
    }

    fn filtered(&mut self, packet: Packet) {
        self.driver.store.release(packet.handle);
    }
}
