//! Tests of captures, in one program, which is compiled and linked once.

mod lists;
mod others;
mod reading;
