//! Algorithms that are loaded to stay, for everybody, until somebody unloads them or the machine restarts.
//!
//! A link, pinned to a BPF file system, keeps an algorithm registered. A file beside it, which everybody may read,
//! describes it: its name in the kernel is only a hash.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use messages::Failure;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use plan::Parameter;
use serde::{Deserialize, Serialize};

use crate::kernel::{self, Interface};
use crate::names;
use crate::object::Algorithm;
use crate::privilege::Privilege;
use crate::session::read;
use crate::{available, bundled};

/// The system's BPF file system, and the place of ours if it has none.
const SYSTEM: &str = "/sys/fs/bpf";
const OURS: &str = "/run/dumbbell/bpf";
/// Folder of the pins in it.
const PINS: &str = "dumbbell";
/// The longest that the kernel takes to forget one.
const GOING: Duration = Duration::from_secs(5);
/// The directory of the descriptions.
const RECORDS: &str = "/run/dumbbell/cc";
/// Held while one is loaded or unloaded.
const LOCK: &str = "/run/dumbbell/cc.lock";

/// An algorithm that was loaded to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stay {
    /// The kernel's.
    pub name: String,
    /// The label under which it was loaded.
    pub label: String,
    /// The parameters that were set in place of its defaults.
    pub parameters: BTreeMap<String, Parameter>,
    /// The hash of the object, in hexadecimal.
    pub sha256: String,
    /// Seconds since 1970.
    pub loaded_at: u64,
}

/// The result of loading one.
#[derive(Clone, Debug, Serialize)]
pub struct Stayed {
    /// The loaded algorithm.
    #[serde(flatten)]
    pub stay: Stay,
    /// True if the algorithm was there before.
    pub already: bool,
    /// The place where a BPF file system had to be mounted for it.
    pub mounted: Option<PathBuf>,
}

/// All congestion controls of this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    /// Labels of those that come with the core, loaded or not.
    pub bundled: Vec<&'static str>,
    /// The algorithms that were loaded to stay.
    pub stay: Vec<Stay>,
    /// The algorithms of runs that are going on.
    pub runs: Vec<OfRun>,
    /// The kernel's own, and others' BPF programs.
    pub kernel: Vec<String>,
}

/// An algorithm that belongs to a run.
#[derive(Clone, Debug, Serialize)]
pub struct OfRun {
    /// The kernel's.
    pub name: String,
    /// The label as far as the name shows it: only the beginning of a long one.
    pub label: String,
}

/// Registers an algorithm to stay. Paths are relative to `dir`.
pub fn load(algorithm: &plan::Algorithm, dir: &Path) -> Result<Stayed> {
    let label = algorithm.label.as_str();
    let what = format!("loading {label} to stay");
    if let Some(refusal) = Privilege::now().refusal(label, &what) {
        return Err(Failure { hint: "run it as root".into(), ..refusal }.into());
    }
    kernel::is_new_enough()?;
    let object = read(algorithm, dir)?;
    let name = names::registered(label, &object, &algorithm.parameters, b"");
    // The lock is held until it is pinned: nothing may change meanwhile.
    let _lock = lock().with_context(|| what.clone())?;
    let (fs, mounted) = file_system(&what)?;
    let stay = Stay {
        name: name.clone(),
        label: label.to_owned(),
        parameters: algorithm.parameters.clone(),
        sha256: names::sha256(&object),
        loaded_at: SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()),
    };
    let record = Path::new(RECORDS).join(format!("{name}.json"));
    if available()?.contains(&name) {
        if !pins().contains(&name) {
            let why = format!("something else is registered as {name}");
            return Err(Failure::new(what, why)
                .hint("a run may have drawn this name: try again when it is over")
                .into());
        }
        let stay = known(&record).unwrap_or(stay);
        write(&record, &stay)?;
        return Ok(Stayed { stay, already: true, mounted });
    }
    let pin = fs.join(PINS).join(&name);
    // A machine that stopped in between has left this file.
    let _ = fs::remove_file(&pin);
    let mut opened = Algorithm::open(label, &object, Interface::of_running_kernel()?)?;
    opened.set_parameters(&algorithm.parameters)?;
    let mut registered = opened.load(&name)?.register(&name)?;
    // First the record: one without a pin is recognised, a pin without a record would be nameless.
    write(&record, &stay)?;
    if let Err(error) = registered.link_mut().pin(&pin) {
        let _ = fs::remove_file(&record);
        return Err(Failure::new(what, format!("pinning it to {}: {error}", pin.display())).into());
    }
    Ok(Stayed { stay, already: false, mounted })
}

/// Takes away what [`load`] has registered, by label (all of its parameter sets) or by the kernel's name. Gives the
/// kernel's names.
pub fn unload(called: &str) -> Result<Vec<String>> {
    let what = format!("unloading {called}");
    let mut found: Vec<String> =
        all()?.into_iter().filter(|s| s.name == called || s.label == called).map(|s| s.name).collect();
    found.extend(pins().into_iter().filter(|name| name == called && !found.contains(name)).collect::<Vec<_>>());
    if found.is_empty() {
        let belongs = available()?.iter().any(|name| name == called);
        let why = if belongs {
            "it was not loaded by `dumbbell cc load`"
        } else {
            "nothing that was loaded to stay is called that"
        };
        return Err(Failure::new(what, why).hint("`dumbbell cc list` tells what there is").into());
    }
    // A user who may not take the lock may not remove anything either, and gets that error.
    let _lock = lock();
    for name in &found {
        for fs in [SYSTEM, OURS] {
            remove(&Path::new(fs).join(PINS).join(name), &what)?;
        }
        remove(&Path::new(RECORDS).join(format!("{name}.json")), &what)?;
    }
    // The kernel takes the names away a moment later.
    let deadline = Instant::now() + GOING;
    while available()?.iter().any(|name| found.contains(name)) {
        if Instant::now() > deadline {
            return Err(Failure::new(what, "its name is still there")
                .hint("another process holds its link: `bpftool link` may tell which")
                .into());
        }
        sleep(Duration::from_millis(5));
    }
    Ok(found)
}

/// All congestion controls.
pub fn list() -> Result<Listing> {
    let stay = all()?;
    let (ours, kernel): (Vec<String>, Vec<String>) = available()?
        .into_iter()
        .filter(|name| stay.iter().all(|s| s.name != *name))
        .partition(|name| names::prefix_of(name).is_some());
    let runs = ours.into_iter().map(|name| OfRun { label: guess(&name), name }).collect();
    Ok(Listing { bundled: bundled::bundled_labels(), stay, runs, kernel })
}

/// The algorithms that were loaded to stay and still are. A record without a registration is of a machine that stopped in
/// between.
fn all() -> Result<Vec<Stay>> {
    let available = available()?;
    let records = fs::read_dir(RECORDS).into_iter().flatten().flatten();
    let mut found: Vec<Stay> = records.filter_map(|entry| known(&entry.path())).collect();
    // Pins of which nothing else is known; only root may see them.
    for name in pins() {
        if found.iter().all(|stay| stay.name != name) {
            let label = guess(&name);
            found.push(Stay { name, label, parameters: BTreeMap::new(), sha256: String::new(), loaded_at: 0 });
        }
    }
    found.retain(|stay| available.contains(&stay.name));
    found.sort_by(|a, b| (&a.label, &a.name).cmp(&(&b.label, &b.name)));
    Ok(found)
}

/// Keeps others from loading and unloading. The lock is not on the folder itself, which anybody can open and hold.
fn lock() -> Result<Flock<File>> {
    if let Some(folder) = Path::new(LOCK).parent() {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(LOCK);
    let file = file.with_context(|| format!("opening {LOCK}"))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno).with_context(|| format!("locking {LOCK}"))
}

/// The names of pinned algorithms, wherever the pins lie.
fn pins() -> Vec<String> {
    let folders = [SYSTEM, OURS].map(|fs| Path::new(fs).join(PINS));
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The label that a name is probably short for.
fn guess(name: &str) -> String {
    let prefix = names::prefix_of(name).unwrap_or(name);
    let bundled = bundled::bundled_labels().into_iter().find(|label| names::prefix(label) == prefix);
    bundled.map_or(prefix, |label| label).to_owned()
}

fn known(record: &Path) -> Option<Stay> {
    serde_json::from_str(&fs::read_to_string(record).ok()?).ok()
}

fn write(record: &Path, stay: &Stay) -> Result<()> {
    let text = serde_json::to_vec(stay).context("spelling a record")?;
    let all = || -> io::Result<()> {
        fs::create_dir_all(RECORDS)?;
        let draft = record.with_extension("draft");
        fs::write(&draft, &text)?;
        for (path, mode) in [(Path::new("/run/dumbbell"), 0o755), (Path::new(RECORDS), 0o755), (draft.as_path(), 0o644)]
        {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        fs::rename(&draft, record)
    };
    all().with_context(|| format!("writing {}", record.display()))
}

fn remove(path: &Path, what: &str) -> Result<()> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let failure = Failure::new(what, format!("removing {}: {error}", path.display()));
            Err(failure.hint("who loaded it must unload it: try sudo").into())
        }
    }
}

/// A BPF file system, and where it was mounted if there was none.
fn file_system(what: &str) -> Result<(PathBuf, Option<PathBuf>)> {
    if let Some(found) = [SYSTEM, OURS].into_iter().find(|path| is_bpf(path)) {
        return Ok((found.into(), None));
    }
    let try_mount = |path: &str| {
        mount(
            Some("bpf"),
            path,
            Some("bpf"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
            Some("mode=755"),
        )
    };
    let ours = || -> Result<(), Errno> {
        fs::create_dir_all(OURS).map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))?;
        try_mount(OURS)
    };
    let path = match try_mount(SYSTEM) {
        Ok(()) => SYSTEM,
        Err(_) => {
            ours().map_err(|errno| {
                Failure::new(what, format!("mounting a BPF file system at {SYSTEM} or {OURS}: {errno}"))
                    .hint("run it as root, outside of containers")
            })?;
            OURS
        }
    };
    Ok((path.into(), Some(path.into())))
}

fn is_bpf(path: &str) -> bool {
    statfs(path).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}
