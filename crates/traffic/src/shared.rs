use std::collections::HashMap;

use records::Files;
use records::kinds::KindTables;

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
    /// The tables of the plan's kinds of flow.
    pub kinds: KindTables<Files>,
    pub batch: Batch,
    /// Host -> its diagnosis socket; only hosts that run a program have one.
    pub diags: HashMap<String, SockDiag>,
}
