//! Flows over loopback and in a namespace, against the wall clock.

mod command;
mod common;
mod namespaces;
mod on_off;
mod ping;
mod tcp;
mod udp;
