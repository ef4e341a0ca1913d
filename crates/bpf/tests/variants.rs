//! The variants of an algorithm that are not for the running kernel.
//!
//! They can't be registered here. The tests show that each bundled object has all variants, that the kernel's verifier
//! accepts the programs that only they contain (`bpf/tests/variants.h`), and that their types have the members that
//! such a kernel has. Unit tests show which variant is chosen, for kernels that are described.

mod support;

use std::ffi::OsStr;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::{AsRawLibbpf, MapType, ObjectBuilder, OpenObject};

fn btf(open: &OpenObject) -> Btf<'_> {
    // SAFETY: the object lives as long as the borrow.
    let object = unsafe { open.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(object).unwrap().unwrap()
}

/// The number of arguments of the member, if there is such a member, by the type's name.
fn arguments(btf: &Btf<'_>, ops: &str, member: &str) -> Option<usize> {
    let ops: Struct<'_> = btf.type_by_name(ops)?;
    let of = (0..ops.len()).filter_map(|i| ops.get(i)).find(|m| m.name == Some(OsStr::new(member)))?.ty;
    let pointer: Ptr<'_> = btf.type_by_id(of)?;
    let function = FuncProto::try_from(pointer_target(&pointer)).ok()?;
    Some(function.len())
}

fn pointer_target<'a>(pointer: &Ptr<'a>) -> libbpf_rs::btf::BtfType<'a> {
    use libbpf_rs::btf::ReferencesType;
    pointer.referenced_type().skip_mods_and_typedefs()
}

#[test]
fn every_bundled_algorithm_has_every_variant() {
    for bundled in bpf::algorithms() {
        let open = ObjectBuilder::default().open_memory(bundled.object).unwrap();
        let maps = open.maps().filter(|map| map.map_type() == MapType::StructOps);
        let mut names: Vec<String> = maps.map(|map| map.name().to_string_lossy().into_owned()).collect();
        names.sort();
        let label = bundled.label;
        assert_eq!(names, ["v610", "v64", "v71"].map(|variant| format!("{label}_{variant}")));
    }
}

#[test]
fn the_variants_have_the_members_of_their_kernels() {
    let open = ObjectBuilder::default().open_memory(bpf::find("bpf_dctcp").unwrap().object).unwrap();
    let btf = btf(&open);
    for (variant, cong_control, tx_start) in [("v64", 2, None), ("v610", 4, None), ("v71", 4, Some(1))] {
        let ops = format!("tcp_congestion_ops___{variant}");
        assert_eq!(arguments(&btf, &ops, "cong_control"), Some(cong_control), "{variant}");
        assert_eq!(arguments(&btf, &ops, "cwnd_event_tx_start"), tx_start, "{variant}");
    }
}

#[test]
fn what_only_other_kernels_call_passes_the_verifier() {
    if !support::is_allowed("variants") {
        return;
    }
    for name in ["bbr2", "bbr3", "cubic", "dctcp"] {
        let object = support::test_object(&format!("variants_{name}")).unwrap();
        let looked_at = support::complexity(&object).unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let names: Vec<&str> = looked_at.iter().map(|(program, _)| program.as_str()).collect();
        let is_there = |end: &str| names.iter().any(|program| program.ends_with(end));
        assert!(is_there("_op_cwnd_event_tx_start"), "{name}: {names:?}");
        assert!(is_there("_op_cong_control_v64") || ["cubic", "dctcp"].contains(&name), "{name}: {names:?}");
    }
}
