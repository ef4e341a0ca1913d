//! Congestion controls in BPF, run as the kernel runs them, without a kernel.
//!
//! [`Program::parse`] reads the object that clang makes for the kernel: its code, its types, and where it reads and writes fields of the
//! kernel's structures (CO-RE). Fields get their places in a model of the socket, whose values come from [`cc::Socket`]; an object that
//! may reach a field that is not modelled is refused, with the field's name and the line of the source. [`Flow`] is a connection's
//! algorithm: each callback is a call of its program by an interpreter that checks each access to memory. A [`Tracer`] sees the calls.
//!
//! So a program can read and write nothing but its connection, cannot run for ever, and gives the same integers on every machine. The
//! instructions are those of RFC 9669; division by zero gives zero, as there.

mod btf;
mod callbacks;
mod code;
mod fault;
mod flow;
mod fold;
mod interpreter;
mod memory;
mod model;
mod object;
mod program;
mod reach;
mod relocations;
mod storage;
mod trace;

pub use flow::Flow;
pub use program::Program;
pub use trace::{Call, Tracer};
