//! Tests of links from outside, in one program, which is compiled and linked once.

mod changes;
mod network;
mod next_passage;
mod properties;
