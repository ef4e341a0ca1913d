//! Reads bytes as one of the files of a run, whose other files are sound, and works out the run's figures.
//!
//! An input's first byte says which file it is. `seeds.py` makes the run.
#![no_main]

mod random;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{fs, panic};

use figures::directory;
use libfuzzer_sys::fuzz_target;
use plan::Plan;
use tempfile::TempDir;
use units::Time;

const RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/fuzz/run");
/// Names, as in `seeds.py`.
const FILES: [&str; 7] = [
    "samples.parquet",
    "links.parquet",
    "packets.parquet",
    "pings.parquet",
    "traffic.json",
    "simulator.json",
    "routes.parquet",
];

/// A sound run in a directory of its own. From its first use on, panics that are caught do not end the process.
static RUN_COPY: LazyLock<(TempDir, Plan)> = LazyLock::new(|| {
    panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let directory = tempfile::tempdir().expect("a directory");
    for file in fs::read_dir(RUN).expect("seeds.py has made the run") {
        let file = file.expect("a file").path();
        if file.is_file() {
            fs::copy(&file, directory.path().join(file.file_name().expect("it has a name"))).expect("a copy");
        }
    }
    let plan = Plan::read(&directory.path().join("plan.json")).expect("a plan");
    (directory, plan)
});

/// A file of the run that has another content for a while.
struct Replaced(PathBuf, Option<Vec<u8>>);

impl Replaced {
    fn new(path: PathBuf, content: &[u8]) -> Replaced {
        let before = fs::read(&path).ok();
        fs::write(&path, content).expect("a file");
        Replaced(path, before)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        match &self.1 {
            Some(before) => fs::write(&self.0, before),
            None => fs::remove_file(&self.0),
        }
        .expect("a file");
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&file, content)) = bytes.split_first() else { return };
    let (directory, plan) = &*RUN_COPY;
    let folder: &Path = directory.path();
    let _replaced = Replaced::new(folder.join(FILES[usize::from(file) % FILES.len()]), content);
    let open = |name: &str| fs::File::open(folder.join(name));
    let go_on = || Ok(());
    if let Ok(run) = directory::read(&open, plan, "simulator.json", &go_on) {
        run.summary(plan).expect("figures have a summary");
    }
    if let Ok(span) = directory::between(&open, plan, Time(0), Time(i64::MAX), &go_on) {
        span.summary(plan);
    }
    if let Ok(found) = directory::bottlenecks(&open, plan, &go_on) {
        found.paths();
    }
});
