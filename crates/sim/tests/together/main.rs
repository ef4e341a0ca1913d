//! Tests of runs, of parts of TCP, and of what is simulated beside it, in one program, which is compiled and linked once.

#[path = "../common/mod.rs"]
mod common;
mod duplex;
mod kernel;
mod mtu;
mod on_off;
mod pings;
mod quic;
mod rpc;
mod runs;
mod theory;
mod traces;
