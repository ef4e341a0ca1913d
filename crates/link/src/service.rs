use units::{Serializer, Time};

use crate::variation::{Opportunities, Steps, Varying};

/// The service that lets packets leave, one after another.
#[derive(Clone, Debug)]
pub(crate) enum Service {
    /// Packets leave at once: there is no limit.
    Immediate,
    /// Packets leave at a rate.
    Wire(Wire),
    /// Packets leave at the moments of a trace.
    Trace(Trace),
}

/// A serializer whose rate may follow steps.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub serializer: Serializer,
    pub steps: Option<Steps<u64>>,
}

/// Opportunities, and the part that the packet in service still needs.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub opportunities: Opportunities,
    pub left: u64,
}

impl Service {
    /// The service at `now`.
    pub(crate) fn new(spec: &plan::Link, now: Time) -> Service {
        let Some(rate) = spec.rate_bps else { return Service::Immediate };
        match spec.variation.as_ref().map(Varying::from) {
            None => Service::Wire(Wire { serializer: Serializer::new(rate.as_bps()), steps: None }),
            Some(Varying::Steps(steps)) => {
                let mut wire = Wire { serializer: Serializer::new(0), steps: Some(steps) };
                while wire.next_change() <= now {
                    wire.change();
                }
                Service::Wire(wire)
            }
            Some(Varying::Opportunities(mut opportunities)) => {
                opportunities.skip_until(now);
                Service::Trace(Trace { opportunities, left: 0 })
            }
        }
    }

    /// Bytes still to be sent of the packet in service at `now`; a partial byte counts as a whole one.
    pub(crate) fn left_bytes(&self, now: Time) -> u32 {
        match self {
            Service::Immediate => 0,
            Service::Wire(wire) => wire.serializer.left_bytes(now) as u32,
            Service::Trace(trace) => trace.left as u32,
        }
    }

    /// Bytes that could have left since the origin, had it always been this service; `None` without a limit.
    pub(crate) fn capacity_bytes(&mut self, now: Time) -> Option<u64> {
        match self {
            Service::Immediate => None,
            Service::Wire(wire) => Some(wire.serializer.capacity_bytes(now)),
            Service::Trace(trace) => {
                let mut seen = trace.opportunities.clone();
                seen.skip_until(now);
                Some(seen.capacity_bytes())
            }
        }
    }
}

impl Wire {
    /// The time at which the rate changes by itself; [`Time::NEVER`] if it doesn't.
    pub(crate) fn next_change(&self) -> Time {
        self.steps.as_ref().map_or(Time::NEVER, Steps::next)
    }

    /// Takes the rate of `other` from `now` on.
    pub(crate) fn become_as(&mut self, other: Wire, now: Time) {
        self.serializer.set_rate(other.serializer.rate(), now);
        self.steps = other.steps;
    }

    /// Take the rate of the step at [`Wire::next_change`].
    #[cold]
    pub(crate) fn change(&mut self) {
        if let Some(steps) = &mut self.steps {
            let at = steps.next();
            self.serializer.set_rate(steps.take(), at);
        }
    }
}
