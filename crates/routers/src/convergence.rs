//! Whether all routers know what they are to know, and nothing changes any more.

use std::time::Duration;

use ipnet::IpNet;
use messages::Failure;

use crate::launch::Router;
use crate::monitor::Monitor;

/// The prefixes of one router that an error names.
const NAMED: usize = 3;

/// The prefixes that routers lack, by router, in their order; empty if they have all.
pub(crate) fn missing<'a>(routers: &'a [Router<'_>], monitors: &[Monitor]) -> Vec<(&'a str, Vec<IpNet>)> {
    let lacks = |(router, monitor): (&'a Router<'_>, &Monitor)| {
        let expected = router.seat.routing.expect.iter();
        let lacking: Vec<IpNet> = expected.filter(|prefix| !monitor.table().holds(prefix)).copied().collect();
        (!lacking.is_empty()).then_some((&*router.seat.name, lacking))
    };
    routers.iter().zip(monitors).filter_map(lacks).collect()
}

/// Failure of routing to converge in time.
pub(crate) fn late(limit: Duration, missing: &[(&str, Vec<IpNet>)]) -> Failure {
    let of = |(router, prefixes): &(&str, Vec<IpNet>)| {
        let named: Vec<String> = prefixes.iter().take(NAMED).map(IpNet::to_string).collect();
        let named = named.join(", ");
        let others = prefixes.len().saturating_sub(NAMED);
        if others == 0 {
            format!("{router} has no route to {named}")
        } else {
            format!("{router} has no route to {named} and {others} more")
        }
    };
    let why = match missing {
        [] => "routes still change".to_owned(),
        some => some.iter().map(of).collect::<Vec<_>>().join("; "),
    };
    Failure::new(format!("routing has not converged within {} s", limit.as_secs_f64()), why).hint(
        "logs/ROUTER/ in the run's directory has what its daemons say; raise topology.wait if it only takes longer",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lacks_what_is_named() {
        let many: Vec<IpNet> = (0..5).map(|i| format!("10.0.{i}.0/24").parse().unwrap()).collect();
        let one = vec!["10.9.0.0/16".parse().unwrap()];
        let said = late(Duration::from_secs(20), &[("r1", many), ("r2", one)]).to_string();
        let wanted = "routing has not converged within 20 s: r1 has no route to 10.0.0.0/24, 10.0.1.0/24, 10.0.2.0/24 and \
                      2 more; r2 has no route to 10.9.0.0/16";
        assert!(said.starts_with(wanted), "{said}");
        assert!(late(Duration::from_secs(20), &[]).to_string().contains("routes still change"));
    }
}
