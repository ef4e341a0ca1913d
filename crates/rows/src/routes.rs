//! The `routes` table: each change of a router's main routing table, as its kernel tells it.

use units::Time;

use crate::Values::{I64, Text, U32, Word};
use crate::{Column, Row};

/// A route's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There was none of this prefix and metric.
    Added,
    /// Route that has other next hops.
    Replaced,
    /// Route that is gone.
    Removed,
}

/// One next hop of a route that changed.
#[derive(Clone, Debug)]
pub struct RouteRow {
    /// The time at which the kernel's message was read.
    pub time: Time,
    /// The router's name.
    pub router: String,
    /// The destination.
    pub prefix: String,
    /// Address of the next hop; `None` of a subnet of the router's own.
    pub via: Option<String>,
    /// The interface that leads there.
    pub interface: Option<String>,
    /// The kernel's metric: less is better.
    pub metric: u32,
    /// Protocol that installed the route.
    pub protocol: String,
    /// The route's change.
    pub change: Change,
}

impl Row for RouteRow {
    const TABLE: &'static str = "routes";
    const COLUMNS: &'static [Column<RouteRow>] = &[
        Column::required(
            "time_ns",
            I64(|row| Some(row.time.as_nanos())),
            "when the kernel told it; negative before the run's start, while routing converges",
        ),
        Column::required("router", Text(|row| Some(&row.router)), "name of the router"),
        Column::required("prefix", Text(|row| Some(&row.prefix)), "destination of the route"),
        Column::optional(
            "via",
            Text(|row| row.via.as_deref()),
            "address of the next hop, one row for each; null of a subnet of the router's own",
        ),
        Column::optional("interface", Text(|row| row.interface.as_deref()), "interface of the router that leads there"),
        Column::required("metric", U32(|row| Some(row.metric)), "the kernel's metric: less is better"),
        Column::required(
            "protocol",
            Text(|row| Some(&row.protocol)),
            "who put the route there: `bgp`, `ospf` (OSPFv3, too), `isis`, `rip`, `ripng`, `static`, `kernel`, ...",
        ),
        Column::required(
            "change",
            Word(|row| Some(row.change as u16), &["added", "replaced", "removed"]),
            "whether the route is new, has other next hops, or is gone",
        ),
    ];
}
