//! Flows over real sockets, and the sampler that watches them.
