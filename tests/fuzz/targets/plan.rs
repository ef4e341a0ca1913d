//! Reads bytes as a plan, and works out all that is asked of a plan before it runs.
#![no_main]

mod random;

mod json;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use plan::Plan;
use sim::{Options, Simulation};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(plan) = Plan::parse(text) else { return };
    let _ = plan.network();
    let _ = plan.static_routes();
    let _ = plan.least_delays();
    let _ = plan.flow_mtus();
    let _ = plan.qdiscs();
    plan.transparent_links();
    plan.link_facts();
    for link in &plan.links {
        link.peak_bps();
    }
    let problems = sim::check(&plan, Options::default());
    let simulation = Simulation::new(&plan, Options::default(), ());
    assert_eq!(problems.is_empty(), simulation.is_ok(), "{problems:?}");
    let again = Plan::parse(&serde_json::to_string(&plan).expect("a plan is plain data"));
    again.expect("a plan that was written can be read");
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { json::mutate(data, size, max_size, seed) });
