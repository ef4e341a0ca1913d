//! An algorithm that comes as a BPF program and its simulated twin take the same parameters, with the same defaults.

use std::path::Path;

use cc::Setting;
use plan::Parameter;

#[test]
fn names_types_and_defaults_are_those_of_the_programs() {
    let labels = bpf::bundled_labels();
    assert!(labels.len() >= 5, "{labels:?}");
    for label in labels {
        let source = plan::Source::Bundled { name: label.to_owned() };
        let algorithm =
            plan::Algorithm { label: label.to_owned(), source, parameters: Default::default(), sha256: None };
        let program = bpf::inspect(&algorithm, Path::new(".")).unwrap().parameters;
        let ours = cc::parameters(cc::twin_of(label).unwrap()).unwrap();
        let names = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>();
        assert_eq!(
            names(&mut ours.iter().map(|one| one.name.to_owned())),
            names(&mut program.iter().map(|one| one.name.clone())),
            "{label}"
        );
        for (ours, theirs) in ours.iter().zip(&program) {
            let default = match ours.default {
                Setting::Flag(flag) => Parameter::Bool(flag),
                Setting::Number(number) => Parameter::Integer(number),
            };
            assert_eq!(default, theirs.default, "{label}: {}", ours.name);
            assert_eq!(ours.limits.is_none(), theirs.bits == 1, "{label}: {}", ours.name);
            if let Some((least, most)) = ours.limits {
                let room = 0..=(1i64 << theirs.bits) - 1;
                assert!(!theirs.signed && room.contains(&least) && room.contains(&most), "{label}: {}", ours.name);
            }
        }
    }
}
