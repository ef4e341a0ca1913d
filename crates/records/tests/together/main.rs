//! Tests of files of records, in one program, which is compiled and linked once.

mod acks;
mod reader;
mod writer;
