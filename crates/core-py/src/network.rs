//! Facts that follow from a plan's network, reckoned once for all that ask.

use anyhow::Context;
use plan::{Link, Plan};
use pyo3::prelude::*;

/// The course of a link over time, as events change it.
#[pyclass(frozen, get_all)]
pub(crate) struct LinkFacts {
    /// The link.
    name: String,
    /// Nothing can happen to a packet on it at any time: it is counted, not logged.
    is_transparent: bool,
    /// True if the link has a rate at all times.
    is_limited: bool,
    /// True if the link has the same rate at all times.
    is_steady: bool,
    /// The largest rate that it has by itself, in bit/s or None: at first, then after each of its events.
    peaks_bps: Vec<Option<u64>>,
}

/// The ways between two hosts, there and back.
#[pyclass(frozen, get_all)]
pub(crate) struct Path {
    /// Sending host.
    from_: String,
    /// Receiving host.
    to: String,
    /// Indices of the plan's links that data take.
    there: Vec<usize>,
    /// Indices of the plan's links that acknowledgements take.
    back: Vec<usize>,
    /// Propagation there and back in ns, without serialisation and queues: from when (ns), and how long. The first is at
    /// 0; events that change it add others.
    base_rtts_ns: Vec<(i64, i64)>,
    /// The least RTT at any time in ns, without serialisation and queues.
    least_rtt_ns: i64,
    /// The most bytes of an IP packet that all links there carry.
    mtu: u32,
    /// The router that drops packets there because their TTL has run out; None if it lasts.
    ttl_ends_there: Option<String>,
    /// The same for the way back.
    ttl_ends_back: Option<String>,
}

/// The paths of a plan's flows (JSON), each once, in the order of the flows; the place among them of each flow's path; and
/// what the plan's links do, in their order.
///
/// Raises RuntimeError if it is no plan.
#[pyfunction]
pub(crate) fn network(py: Python<'_>, plan: &str) -> PyResult<(Vec<Path>, Vec<usize>, Vec<LinkFacts>)> {
    let found = py.detach(|| Plan::parse(plan).and_then(|plan| plan.network())).map_err(crate::simulate::raised)?;
    let path = |path: plan::NetworkPath| Path {
        from_: path.from,
        to: path.to,
        there: path.there,
        back: path.back,
        base_rtts_ns: path.base_rtts.into_iter().map(|(at, rtt)| (at.as_nanos(), rtt.as_nanos())).collect(),
        least_rtt_ns: path.least_rtt.as_nanos(),
        mtu: path.mtu.bytes(),
        ttl_ends_there: path.ttl_ends_there,
        ttl_ends_back: path.ttl_ends_back,
    };
    let link = |link: plan::LinkFacts| LinkFacts {
        name: link.name,
        is_transparent: link.is_transparent,
        is_limited: link.is_limited,
        is_steady: link.is_steady,
        peaks_bps: link.peaks_bps,
    };
    Ok((found.paths.into_iter().map(path).collect(), found.path_of, found.links.into_iter().map(link).collect()))
}

/// The routes with which each node of a lab network's plan (JSON) sends packets along the paths of [`network`]: by node, in
/// the plan's order, a list of (destination's prefix, next hops). Routes that the plan has are passed over.
///
/// Raises RuntimeError if it is no plan, or if two nodes that follow each other on a path have no subnet in common.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn static_routes(py: Python<'_>, plan: &str) -> PyResult<Vec<(String, Vec<(String, Vec<String>)>)>> {
    let found = py.detach(|| {
        let plan = Plan::parse(plan)?;
        let routes = plan.static_routes()?;
        anyhow::Ok((plan, routes))
    });
    let (plan, routes) = found.map_err(crate::simulate::raised)?;
    let spelt = |route: plan::Route| (route.to.to_string(), route.via.iter().map(ToString::to_string).collect());
    let of = |(node, routes): (&plan::Node, Vec<plan::Route>)| {
        (node.name().to_owned(), routes.into_iter().map(spelt).collect())
    };
    Ok(plan.nodes.iter().zip(routes).map(of).collect())
}

/// The largest rate that a link (JSON, as in a plan) has by itself, in bit/s; None without a limit. That of a trace is
/// the rate of its best 100 ms, or of its period, if that is shorter.
///
/// Raises RuntimeError if it is no link.
#[pyfunction]
pub(crate) fn peak_bps(link: &str) -> PyResult<Option<u64>> {
    let link: Link = serde_json::from_str(link).context("reading a link").map_err(crate::simulate::raised)?;
    Ok(link.peak_bps())
}
