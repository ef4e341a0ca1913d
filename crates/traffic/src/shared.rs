use std::collections::HashMap;

use crate::poller::Poller;
use crate::sampler::Sampler;
use crate::sock_diag::SockDiag;
use crate::udp_receiver::Batch;
use realtime::Clock;

/// What every agent needs to do its work.
pub struct Shared {
    pub clock: Clock,
    pub poller: Poller,
    pub sampler: Sampler,
    pub batch: Batch,
    /// By host: those that run a program.
    pub diags: HashMap<String, SockDiag>,
}
