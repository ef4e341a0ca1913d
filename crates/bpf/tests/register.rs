//! Needs CAP_BPF and CAP_PERFMON; says so and passes without.

mod support;

use bpf::{Algorithm, Interface, available};
use support::test_object;

#[test]
fn an_algorithm_is_registered_as_long_as_it_is_held() {
    if !support::is_allowed("register") {
        return;
    }
    let interface = Interface::of_running_kernel().unwrap();
    // One in `.struct_ops.link`, one in `.struct_ops`, as old programs have it.
    for (object, name) in [("tiny", "dbt_tiny_1"), ("tiny_old", "dbt_tiny_2")] {
        let name = name.to_owned();
        let algorithm = Algorithm::open(object, &test_object(object).unwrap(), interface).unwrap();
        let registered = algorithm.load(&name).unwrap().register(&name).unwrap();
        assert_eq!(registered.name(), name);
        assert!(available().unwrap().contains(&name));
        drop(registered);
        assert!(!available().unwrap().contains(&name));
    }
}
