//! Needs CAP_BPF and CAP_PERFMON; says so and passes without.

use std::fs;

use bpf::{Algorithm, Interface};

fn available() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    names.split_whitespace().map(str::to_owned).collect()
}

fn test_object(name: &str) -> Vec<u8> {
    fs::read(format!("{}/{name}.bpf.o", env!("TEST_OBJECTS"))).unwrap()
}

#[test]
fn an_algorithm_is_registered_as_long_as_it_is_held() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return;
    }
    let name = "dbt_tiny_1";
    let interface = Interface::of_running_kernel().unwrap();
    let algorithm = Algorithm::open("tiny", &test_object("tiny"), interface).unwrap();
    let registered = algorithm.register("tiny", name).unwrap();
    assert_eq!(registered.name(), name);
    assert!(available().contains(&name.to_owned()));
    drop(registered);
    assert!(!available().contains(&name.to_owned()));
}
