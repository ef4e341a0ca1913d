//! Sockets, which a simulation does not have: each flow has a separate local port, as the kernel would give it one.

/// `net.ipv4.ip_local_port_range`.
const FIRST: u16 = 32_768;
const PORTS: u16 = 60_999 - FIRST + 1;

/// The local port of a flow's sender. Unique unless there are more flows than ports.
pub(crate) fn local_port(flow: u16) -> u16 {
    FIRST + flow % PORTS
}
