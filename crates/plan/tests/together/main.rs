//! Tests of plans of networks, in one program, which is compiled and linked once.

mod bridges;
#[path = "../common/mod.rs"]
mod common;
mod networks;
