//! Cables that are pulled and plugged in again: interfaces at the ends of a link lose their carrier while it is down.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use lab::Carriers;
use plan::{Carrier, Link, Plan};
use realtime::Clock;
use units::Time;

use crate::Port;
use crate::ports::Ports;

/// The carriers of all interfaces. Links themselves drop packets by the run's time; carriers follow within the milliseconds that
/// the kernel takes.
#[derive(Clone)]
pub(crate) struct Plugs(Arc<Mutex<State>>);

struct State {
    carriers: Carriers,
    /// The core's ends of the interfaces at both ends of each link.
    ends: Vec<Vec<i32>>,
    /// The links that leave their interfaces without carrier.
    pulled: Vec<bool>,
}

/// True if interfaces at this link's ends have no carrier.
fn is_pulled(link: &Link) -> bool {
    !link.up && link.carrier == Carrier::Lost
}

impl Plugs {
    /// Cables are as the plan's links say. The calling thread is in the namespace of the ports.
    pub(crate) fn new(plan: &Plan, ports: &[Port]) -> Result<Plugs> {
        let places = Ports::new(ports);
        let ends = |link: &Link| {
            let at = [places.at_the_start_of(link), places.at_the_end_of(link)];
            at.into_iter().flatten().map(|place| ports[place].ifindex).collect()
        };
        let ends: Vec<Vec<i32>> = plan.links.iter().map(ends).collect();
        let pulled = plan.links.iter().map(is_pulled).collect();
        Ok(Plugs(Arc::new(Mutex::new(State { carriers: Carriers::here()?, ends, pulled }))))
    }

    /// A link of the plan is another: its interfaces have the carrier that follows. Returns once they do.
    pub(crate) fn follow(&self, link: usize, spec: &Link) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).follow(link, spec)
    }

    /// Follow the plan's events as their times come, in a thread of its own, if one of them is about carriers.
    pub(crate) fn follow_events(&self, plan: &Plan, origin_ns: i64) -> Result<()> {
        if !plan.events.iter().any(|event| is_pulled(&event.link)) {
            return Ok(());
        }
        let (plugs, links, events) = (self.clone(), plan.links.clone(), plan.events.clone());
        let follow = move || {
            let clock = Clock::new(origin_ns);
            for event in events {
                std::thread::sleep(until(&clock, event.at_ns));
                let index = links.iter().position(|link| link.name == event.link.name);
                // Its links do what the plan says; the next of its events may succeed.
                let _ = index.map(|index| plugs.follow(index, &event.link));
            }
        };
        let spawned = std::thread::Builder::new().name("db-carriers".into()).spawn(follow);
        spawned.map(drop).context("starting the thread that takes carriers from interfaces")
    }
}

fn until(clock: &Clock, at: Time) -> std::time::Duration {
    std::time::Duration::from_nanos((at - clock.now()).as_nanos().max(0) as u64)
}

impl State {
    fn follow(&mut self, link: usize, spec: &Link) -> Result<()> {
        let pulled = is_pulled(spec);
        if self.pulled[link] == pulled {
            return Ok(());
        }
        self.pulled[link] = pulled;
        for &end in &self.ends[link] {
            // The link of the other direction has the same interfaces.
            let is_without = self.pulled.iter().zip(&self.ends).any(|(pulled, ends)| *pulled && ends.contains(&end));
            self.carriers.set(end, !is_without)?;
        }
        Ok(())
    }
}
