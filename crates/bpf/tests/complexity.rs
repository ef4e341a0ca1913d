//! The verifier's work for each program, compared with the record in `bpf/complexity.txt`. It has a limit, 1,000,000
//! instructions, and a change in the source may multiply the work: that should be noticed before a kernel refuses.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf/complexity.txt");
/// The limit of what may go unnoticed.
const GROWTH: u64 = 2;
/// Below this nothing is looked at: any line more doubles it.
const SMALL: u64 = 500;

#[test]
fn no_program_is_twice_the_work_for_the_verifier_that_it_was() {
    if !support::is_allowed("complexity") {
        return;
    }
    let bundled = bpf::algorithms().map(|bundled| (bundled.label, bundled.object));
    let mut found = BTreeMap::new();
    for (label, object) in bundled.chain([("probe", bpf::probe())]) {
        for (program, instructions) in support::complexity(object).unwrap_or_else(|e| panic!("{label}: {e:#}")) {
            found.insert(format!("{label} {program}"), instructions);
        }
    }
    let text = std::fs::read_to_string(RECORD).unwrap_or_default();
    let recorded: BTreeMap<String, u64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, count)| (name.trim().to_owned(), count.parse().expect("a number")))
        .collect();
    // Kernels of another age are given other programs (`bpf::Variant`); only what is recorded can be compared there.
    let interface = bpf::Interface::of_running_kernel().unwrap();
    let is_same_age = interface.cong_control_parameters == 4 && !interface.has_tx_start;
    let is_new = |name: &&String| is_same_age && !recorded.contains_key(*name);
    let is_gone = |name: &&String| is_same_age && !found.contains_key(*name);
    let has_grown =
        |name: &&String| recorded.get(*name).is_some_and(|&old| found[*name] > SMALL && found[*name] > GROWTH * old);
    let strange: Vec<&String> =
        found.keys().filter(|name| is_new(name) || has_grown(name)).chain(recorded.keys().filter(is_gone)).collect();
    let mut table = String::new();
    for (name, count) in &found {
        writeln!(table, "{name} {count}").unwrap();
    }
    if std::env::var_os("RECORD_COMPLEXITY").is_some() {
        let head: String = text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        std::fs::write(RECORD, head + &table).unwrap();
        return;
    }
    assert!(
        strange.is_empty(),
        "new, gone, or more than twice the recorded work: {strange:?}\nIf that is meant, run this test with \
         RECORD_COMPLEXITY=1 and commit bpf/complexity.txt. Found:\n{table}"
    );
}
