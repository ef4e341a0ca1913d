//! Routing daemons (FRRouting) in the namespaces of a lab's routers.
//!
//! Each router is a network, a mount and a UTS namespace. Its daemons see folders of their own where FRR has its sockets and
//! configurations, so `vtysh` in a router speaks with that router's daemons, and nothing of the machine's FRR is touched:
//!
//! ```text
//!   in the lab                  in the router r1
//!   /run/routers/r1/frr         /var/run/frr         sockets
//!   /run/routers/r1/etc         /etc/frr             frr.conf, vtysh.conf
//!   /run/routers/r1/lib         /var/lib/frr
//!   /run/routers/r1/tmp         /var/tmp
//!   /run/routers/passwd, group  /etc/passwd, group   the users `frr` and `frrvty` are the one who runs the lab
//! ```
//!
//! The daemons are children of one process of the lab and end with the lab's first process, whatever ends that.

mod convergence;
mod folders;
mod launch;
mod monitor;
mod namespaces;
mod program;
mod run;
mod table;

pub use namespaces::{Entrance, Seat};
pub use program::daemon;
pub use run::run;
