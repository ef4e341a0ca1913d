use std::collections::HashMap;

use crate::poller::Poller;
use crate::sampler::Sampler;
use crate::sock_diag::SockDiag;
use crate::udp_receiver::Batch;
use realtime::Clock;

/// Resources that every agent needs.
pub struct Shared {
    pub clock: Clock,
    pub poller: Poller,
    pub sampler: Sampler,
    pub batch: Batch,
    /// Host -> its diagnosis socket; only hosts that run a program have one.
    pub diags: HashMap<String, SockDiag>,
}
