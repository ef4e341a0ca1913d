//! Needs CAP_BPF and CAP_PERFMON; says so and passes without.

use std::fs;

use bpf::{Algorithm, Interface, available};

fn test_object(name: &str) -> Vec<u8> {
    fs::read(format!("{}/{name}.bpf.o", env!("TEST_OBJECTS"))).unwrap()
}

#[test]
fn an_algorithm_is_registered_as_long_as_it_is_held() {
    if !bpf::Privilege::now().missing().is_empty() {
        eprintln!("skipped: {:?} missing", bpf::Privilege::now().missing());
        return;
    }
    let name = "dbt_tiny_1".to_owned();
    let interface = Interface::of_running_kernel().unwrap();
    let algorithm = Algorithm::open("tiny", &test_object("tiny"), interface).unwrap();
    let registered = algorithm.load(&name).unwrap().register(&name).unwrap();
    assert_eq!(registered.name(), name);
    assert!(available().unwrap().contains(&name));
    drop(registered);
    assert!(!available().unwrap().contains(&name));
}
