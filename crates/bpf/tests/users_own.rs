//! Users' own algorithms: what is refused and how, what parameters do, and what stays. Loading needs CAP_BPF and
//! CAP_PERFMON; tests that need them say so and pass without.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bpf::{available, build, check, inspect};
use messages::Failure;
use nix::mount::{MsFlags, mount, umount};
use nix::sched::{CloneFlags, unshare};
use plan::{Algorithm, Parameter, Source};
use support::{is_allowed, is_root};
use tempfile::TempDir;

const GOOD: &str = r#"
#include <dumbbell/congestion_control.h>

enum { LEAST = 2 };
struct my_parameters {
    __u16 small; /* Packets: in a structure. */
    bool flag;
};
const volatile struct my_parameters params = { .small = 3 };
const volatile __s32 below = -7;
const volatile __u64 large = 1ULL << 40;
static const volatile __u32 table[4] = { 1, 2, 3, 4 };

static __u32 keep(struct sock *sk)
{
    __u32 at = tcp_sk(sk)->snd_cwnd & 3;

    return params.flag ? LEAST : params.small + below + (__u32)large + table[at];
}

static void hold(struct sock *sk, __u32 ack, __u32 acked)
{
    tcp_sk(sk)->snd_cwnd = 10;
}

CONGESTION_CONTROL(mine, (ssthresh, keep), (undo_cwnd, keep), (cong_avoid, hold));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
"#;

/// A program of the user's, compiled.
struct Mine {
    dir: TempDir,
    algorithm: Algorithm,
}

fn mine(label: &str, text: &str) -> Mine {
    let dir = tempfile::tempdir().unwrap();
    let (source, object) = (dir.path().join("mine.bpf.c"), dir.path().join("mine.bpf.o"));
    fs::write(&source, text).unwrap();
    let built = build(&source, &object).unwrap();
    assert!(built.ok, "{}", built.text);
    let source = Source::Object { path: "mine.bpf.o".into() };
    let algorithm = Algorithm { label: label.into(), source, parameters: BTreeMap::new(), sha256: None };
    Mine { dir, algorithm }
}

impl Mine {
    fn set(mut self, name: &str, value: Parameter) -> Mine {
        self.algorithm.parameters.insert(name.into(), value);
        self
    }

    fn inspect(&self) -> Result<bpf::Inspection, Failure> {
        inspect(&self.algorithm, self.dir.path()).map_err(|error| Failure::of(&error))
    }

    fn refused(&self) -> Failure {
        self.inspect().unwrap_err()
    }
}

#[test]
fn what_can_be_set_is_found_by_type() {
    let found = mine("mine", GOOD).inspect().unwrap();
    let of = |name: &str| {
        let parameter = found.parameters.iter().find(|parameter| parameter.name == name).unwrap();
        (parameter.bits, parameter.signed, parameter.default)
    };
    assert_eq!(found.parameters.len(), 4, "{:?}", found.parameters);
    assert_eq!(of("small"), (16, false, Parameter::Integer(3)));
    assert_eq!(of("flag"), (1, false, Parameter::Bool(false)));
    assert_eq!(of("below"), (32, true, Parameter::Integer(-7)));
    assert_eq!(of("large"), (64, false, Parameter::Integer(1 << 40)));
    assert_eq!(found.operations, ["ssthresh", "cong_avoid", "undo_cwnd"]);
    assert_eq!(found.licence, "Dual MIT/GPL");
    assert!(found.name.starts_with("mine_"), "{}", found.name);
}

#[test]
fn parameters_that_it_lacks_or_that_do_not_fit_are_refused() {
    let unknown = mine("mine", GOOD).set("smal", Parameter::Integer(1)).refused();
    assert_eq!((unknown.what.as_str(), unknown.why.as_str()), ("setting smal of mine", "it has no such parameter"));
    assert!(unknown.hint.contains("small") && !unknown.hint.contains("db_"), "{unknown}");
    let large = mine("mine", GOOD).set("small", Parameter::Integer(65536)).refused();
    assert_eq!(large.why, "expected an integer from 0 to 65535");
    let ours = mine("mine", GOOD).set("db_emit_acks", Parameter::Bool(true)).refused();
    assert_eq!(ours.why, "it has no such parameter");
}

#[test]
fn what_is_no_congestion_control_is_refused_before_it_is_loaded() {
    let two = "CONGESTION_CONTROL(yours, (ssthresh, keep), (undo_cwnd, keep), (cong_avoid, hold));\n\nchar LICENSE";
    for (text, why) in [
        (
            GOOD.replace("CONGESTION_CONTROL(mine", "#define IGNORE(...)\nIGNORE(mine"),
            "it defines no congestion control",
        ),
        (GOOD.replace("char LICENSE", two), "it defines several congestion controls: "),
        (GOOD.replace("(undo_cwnd, keep), ", ""), "it has no `undo_cwnd`"),
        (GOOD.replace(", (cong_avoid, hold)", ""), "it has neither `cong_avoid` nor `cong_control`"),
        (GOOD.replace("Dual MIT/GPL", "Proprietary"), "its licence is \"Proprietary\""),
        (GOOD.replace("char LICENSE[] SEC(\"license\") = \"Dual MIT/GPL\";", ""), "it states no licence"),
    ] {
        // Unused functions may stay in the source.
        let text = text.replace("static void hold", "__attribute__((unused)) static void hold");
        let text = text.replace("static __u32 keep", "__attribute__((unused)) static __u32 keep");
        let failure = mine("mine", &text).refused();
        assert!(failure.why.starts_with(why) && !failure.hint.is_empty(), "{why}: {failure}");
        assert_eq!(failure.what, "opening the BPF object of mine");
    }
    let nothing = tempfile::tempdir().unwrap();
    fs::write(nothing.path().join("mine.bpf.o"), "no object").unwrap();
    let algorithm = mine("mine", GOOD).algorithm;
    let failure = Failure::of(&inspect(&algorithm, nothing.path()).unwrap_err());
    assert_eq!(failure.what, "opening the BPF object of mine");
    let failure = Failure::of(&inspect(&algorithm, Path::new("/nowhere")).unwrap_err());
    assert!(failure.what.contains("/nowhere/mine.bpf.o"), "{failure}");
}

#[test]
fn the_verifier_is_quoted_with_program_line_and_advice() {
    if !is_allowed("the_verifier_is_quoted_with_program_line_and_advice") {
        return;
    }
    let refusal = |statement: &str| {
        let bad = mine("mine", &GOOD.replace("tcp_sk(sk)->snd_cwnd = 10;", statement));
        let unfit = check(&bad.algorithm, bad.dir.path()).unwrap_err();
        (unfit.failure, unfit.refused)
    };
    let (failure, parts) = refusal("*(volatile __u32 *)&tcp_sk(sk)->srtt_us = 3;");
    let parts = parts.unwrap();
    assert_eq!(parts.program, "mine_op_cong_avoid");
    assert!(parts.source_line.as_deref().is_some_and(|line| line.contains("srtt_us = 3")), "{parts:?}");
    assert!(failure.why.contains("mine_op_cong_avoid") && failure.why.contains("srtt_us = 3"), "{failure}");
    assert!(failure.hint.contains("may write few fields"), "{failure}");
    let (failure, _) = refusal("for (__u32 i = 0; i < tcp_sk(sk)->snd_cwnd; i += 0) barrier_value(acked);");
    assert!(failure.hint.contains("constant bound") || failure.hint.contains("million"), "{failure}");
    let (failure, _) = refusal("tcp_sk(sk)->snd_cwnd = *(__u32 *)((__u64)acked << 3);");
    assert!(failure.hint.contains("a pointer came out of arithmetic"), "{failure}");
}

#[test]
fn the_verifier_tells_what_it_has_processed() {
    if !is_allowed("the_verifier_tells_what_it_has_processed") {
        return;
    }
    let good = mine("mine", GOOD).set("flag", Parameter::Bool(true));
    let before = available().unwrap();
    let found = check(&good.algorithm, good.dir.path()).unwrap();
    let operations: Vec<&str> = found.programs.iter().map(|program| program.operation.as_str()).collect();
    assert_eq!(operations.len(), 3, "{operations:?}");
    for program in &found.programs {
        assert!((1..1000).contains(&program.processed) && program.jited_bytes > 0, "{program:?}");
        assert!(program.instructions > 0 && program.name == format!("mine_op_{}", program.operation), "{program:?}");
    }
    // Nothing was registered for it.
    assert!(available().unwrap().iter().all(|name| before.contains(name) || !name.starts_with("mine")));
}

/// Nothing of this label stays, even if the test fails.
struct Gone<'a>(&'a str);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let _ = bpf::unload(self.0);
    }
}

#[test]
fn what_is_loaded_to_stay_stays_until_it_is_unloaded() {
    if !is_root("what_is_loaded_to_stay_stays_until_it_is_unloaded") {
        return;
    }
    let label = format!("dbt_{:04x}", std::process::id() & 0xffff);
    let _gone = Gone(&label);
    let plain = mine(&label, GOOD);
    let other = mine(&label, GOOD).set("below", Parameter::Integer(9));
    let load = |mine: &Mine| bpf::load(&mine.algorithm, mine.dir.path()).unwrap();
    let (first, second) = (load(&plain), load(&other));
    assert!(!first.already && !second.already && load(&plain).already);
    assert_ne!(first.stay.name, second.stay.name);
    // Everybody can compute the name.
    assert_eq!(first.stay.name, plain.inspect().unwrap().name);
    let names = [first.stay.name.clone(), second.stay.name.clone()];
    assert!(names.iter().all(|name| available().unwrap().contains(name)));
    let stay = bpf::list().unwrap().stay;
    let listed: Vec<_> = stay.iter().filter(|stay| stay.label == label).collect();
    assert_eq!(listed.len(), 2, "{stay:?}");
    assert!(listed.iter().any(|stay| stay.parameters.get("below") == Some(&Parameter::Integer(9))), "{listed:?}");

    assert_eq!(bpf::unload(&names[0]).unwrap(), [names[0].clone()]);
    assert!(!available().unwrap().contains(&names[0]) && available().unwrap().contains(&names[1]));
    assert_eq!(bpf::unload(&label).unwrap(), [names[1].clone()]);
    assert!(!available().unwrap().contains(&names[1]));
    let failure = Failure::of(&bpf::unload(&label).unwrap_err());
    assert_eq!(failure.why, "nothing that was loaded to stay is called that");
    let failure = Failure::of(&bpf::unload("reno").unwrap_err());
    assert_eq!(failure.why, "it was not loaded by `dumbbell cc load`");
}

#[test]
fn what_is_loaded_by_two_at_once_is_loaded_once() {
    if !is_root("what_is_loaded_by_two_at_once_is_loaded_once") {
        return;
    }
    let label = format!("dbu_{:04x}", std::process::id() & 0xffff);
    let _gone = Gone(&label);
    let mine = mine(&label, GOOD);
    let load = || bpf::load(&mine.algorithm, mine.dir.path()).map(|stayed| stayed.already);
    let already = std::thread::scope(|scope| {
        let loading: Vec<_> = (0..4).map(|_| scope.spawn(load)).collect();
        loading.into_iter().map(|one| one.join().unwrap().unwrap()).collect::<Vec<bool>>()
    });
    assert_eq!(already.iter().filter(|already| !**already).count(), 1, "{already:?}");
    // Its pin exists: it can be unloaded.
    assert_eq!(bpf::unload(&label).unwrap().len(), 1);
}

#[test]
fn a_pin_is_found_in_either_file_system() {
    const SYSTEM: &str = "/sys/fs/bpf";
    const OURS: &str = "/run/dumbbell/bpf";
    if !is_root("a_pin_is_found_in_either_file_system") {
        return;
    }
    let label = format!("dbv_{:04x}", std::process::id() & 0xffff);
    let mine = mine(&label, GOOD);
    let load = || bpf::load(&mine.algorithm, mine.dir.path()).unwrap();
    let with_mounts_of_its_own = || {
        unshare(CloneFlags::CLONE_NEWNS).unwrap();
        let mount = |what: &str, at: &str, flags| mount(Some(what), at, Some(what), flags, None::<&str>).unwrap();
        mount("none", "/", MsFlags::MS_REC | MsFlags::MS_PRIVATE);
        fs::create_dir_all(OURS).unwrap();
        mount("bpf", OURS, MsFlags::empty());
        mount("tmpfs", SYSTEM, MsFlags::empty());
        let _gone = Gone(&label);
        assert!(!load().already);
        assert!(Path::new(OURS).join("dumbbell").read_dir().unwrap().next().is_some(), "it was pinned elsewhere");
        umount(SYSTEM).unwrap();
        assert!(load().already);
    };
    std::thread::scope(|scope| scope.spawn(with_mounts_of_its_own).join()).unwrap();
    // Unless somebody uses it.
    let _ = fs::remove_dir(OURS);
}
