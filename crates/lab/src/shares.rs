//! Shares of a CPU for the programs of single nodes: control groups of a machine that lets us have some (cgroups(7)).
//!
//! In version 2 the group in which they are made must hand the controller `cpu` on to its groups already, and be writable: so
//! it is for root where systemd runs, and for a user to whom such a group was delegated. Version 1 needs root. The groups lie beside other processes' and not inside a namespace, so they
//! do not vanish by themselves: the owner removes them, and if it was killed, the next one that makes some.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use messages::Failure;

/// A share is given out anew in each such time, in µs: the kernel's default.
const PERIOD_US: u64 = 100_000;
/// The least time that the kernel gives out.
const LEAST_US: u64 = 1_000;
/// All of one CPU.
const WHOLE_PPM: u64 = 1_000_000;
const PREFIX: &str = "dumbbell-";

/// The groups of a lab. Dropping it removes them; their processes must be gone.
#[derive(Debug)]
pub struct Shares {
    groups: PathBuf,
    members: Vec<PathBuf>,
}

/// The version of control groups that limits CPUs here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Shares {
    /// Makes a group for each node, with so many millionths of a CPU. Returns them, and for each node the file into which a
    /// process writes `0` to be in its group.
    ///
    /// # Errors
    /// This machine does not let us.
    pub fn create<'a>(shares: impl Iterator<Item = (&'a str, u32)>) -> Result<(Shares, Vec<(String, File)>)> {
        let (parent, version) = place()?;
        let groups = parent.join(format!("{PREFIX}{}", me()?));
        fs::create_dir(&groups).with_context(|| format!("making the control group {}", groups.display()))?;
        let mut made = Shares { groups, members: Vec::new() };
        if version == Version::Two {
            write(&made.groups.join("cgroup.subtree_control"), "+cpu")?;
        }
        let mut doors = Vec::new();
        for (node, ppm) in shares {
            let group = made.groups.join(node);
            fs::create_dir(&group).with_context(|| format!("making the control group {}", group.display()))?;
            made.members.push(group.clone());
            limit(&group, version, ppm)?;
            let door = group.join("cgroup.procs");
            let open = File::options().write(true).open(&door);
            doors.push((node.to_owned(), open.with_context(|| format!("opening {}", door.display()))?));
        }
        Ok((made, doors))
    }
}

impl Drop for Shares {
    fn drop(&mut self) {
        // A group with a process that is about to end stays, and is removed by whoever makes the next.
        self.members.iter().chain([&self.groups]).for_each(|group| drop(fs::remove_dir(group)));
    }
}

/// Why no share of a CPU can be given here; `None` if it can.
pub fn refusal() -> Option<Failure> {
    place().err().map(|error| Failure::of(&error))
}

fn limit(group: &Path, version: Version, ppm: u32) -> Result<()> {
    let quota = (PERIOD_US * u64::from(ppm) / WHOLE_PPM).max(LEAST_US);
    match version {
        Version::Two => write(&group.join("cpu.max"), &format!("{quota} {PERIOD_US}")),
        Version::One => {
            write(&group.join("cpu.cfs_period_us"), &PERIOD_US.to_string())?;
            write(&group.join("cpu.cfs_quota_us"), &quota.to_string())
        }
    }
}

/// The group in which ours can be. What killed processes have left there is removed.
fn place() -> Result<(PathBuf, Version)> {
    let mut why = Vec::new();
    for (parent, version) in candidates() {
        match tried(&parent, version) {
            Ok(()) => {
                sweep(&parent);
                return Ok((parent, version));
            }
            Err(error) => why.push(format!("{}: {error}", parent.display())),
        }
    }
    let why =
        if why.is_empty() { "there are no control groups with the controller cpu".into() } else { why.join("; ") };
    let hint = "run it as root, or in a control group that was delegated to you with the controller cpu; or leave `cpu` out: \
                `cpus`, which CPUs they use, needs no such right";
    Err(Failure::new("this machine gives dumbbell no share of a CPU to limit programs to", why).hint(hint).into())
}

/// Groups that may be ours: the root of all, which is root's, and the one in which this process is.
fn candidates() -> Vec<(PathBuf, Version)> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found = Vec::new();
    for mount in mounts.lines() {
        let fields: Vec<&str> = mount.split(' ').collect();
        let [_, root, kind, options, ..] = fields[..] else { continue };
        let version = match kind {
            "cgroup2" => Version::Two,
            "cgroup" if options.split(',').any(|option| option == "cpu") => Version::One,
            _ => continue,
        };
        let here = own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            let is_it = match version {
                Version::Two => controllers.is_empty(),
                Version::One => controllers.split(',').any(|name| name == "cpu"),
            };
            is_it.then_some(path)
        });
        let root = PathBuf::from(root);
        let own = here.map(|path| root.join(path.trim_start_matches('/')));
        found.push((root.clone(), version));
        found.extend(own.filter(|own| *own != root).map(|own| (own, version)));
    }
    found
}

/// Whether a group in `parent` can have a limit: one is made for a moment.
fn tried(parent: &Path, version: Version) -> io::Result<()> {
    if version == Version::Two {
        // What is missing is not ours to change: it holds for all processes of the machine.
        let given = fs::read_to_string(parent.join("cgroup.subtree_control"))?;
        if !given.split_whitespace().any(|name| name == "cpu") {
            return Err(io::Error::other("its groups have no controller cpu"));
        }
    }
    let probe = parent.join(format!("{PREFIX}{}-probe", std::process::id()));
    fs::create_dir(&probe)?;
    // In a directory that is no control group nothing appears by itself.
    let limited = match version {
        Version::Two => File::options().write(true).open(probe.join("cpu.max")),
        Version::One => File::options().write(true).open(probe.join("cpu.cfs_quota_us")),
    };
    fs::remove_dir(&probe)?;
    limited.map(drop)
}

/// Remove the groups of processes that are gone.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let pid = owner.split('-').next().unwrap_or_default();
        if pid.is_empty() || started(pid).is_some_and(|now| owner.ends_with(&format!("-{now}"))) {
            continue;
        }
        let members = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        members.filter(|member| member.path().is_dir()).for_each(|member| drop(fs::remove_dir(member.path())));
        // One whose processes still end is removed the next time.
        let _ = fs::remove_dir(entry.path());
    }
}

/// This process's number, and when it started: numbers are used again.
fn me() -> Result<String> {
    let pid = std::process::id().to_string();
    let started = started(&pid).context("reading /proc/self/stat")?;
    Ok(format!("{pid}-{started}"))
}

/// When a process started, in the kernel's ticks; `None` if it is gone.
fn started(pid: &str) -> Option<u64> {
    const STARTTIME: usize = 22 - 3;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may have spaces.
    stat.rsplit_once(") ")?.1.split(' ').nth(STARTTIME)?.parse().ok()
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("writing {text} to {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_in_the_words_of_both_versions() {
        let group = tempfile::tempdir().unwrap();
        let read = |name: &str| fs::read_to_string(group.path().join(name)).unwrap();
        limit(group.path(), Version::Two, 200_000).unwrap();
        assert_eq!(read("cpu.max"), "20000 100000");
        limit(group.path(), Version::One, 1).unwrap();
        assert_eq!((read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")), ("1000".into(), "100000".into()));
    }

    #[test]
    fn a_version_2_group_without_the_controller_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("cgroup.subtree_control"), "memory pids").unwrap();
        assert!(tried(parent.path(), Version::Two).unwrap_err().to_string().contains("no controller cpu"));
        assert!(tried(&parent.path().join("none"), Version::One).is_err());
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_what_lives_stays() {
        let parent = tempfile::tempdir().unwrap();
        let (gone, mine) =
            (parent.path().join("dumbbell-4194305-7"), parent.path().join(format!("{PREFIX}{}", me().unwrap())));
        // The number is used again, by us.
        let reused = parent.path().join(format!("{PREFIX}{}-1", std::process::id()));
        for group in [&gone, &mine, &reused] {
            fs::create_dir_all(group.join("h1")).unwrap();
        }
        fs::create_dir(parent.path().join("other")).unwrap();
        sweep(parent.path());
        assert!(!gone.exists() && !reused.exists() && mine.join("h1").exists() && parent.path().join("other").exists());
    }

    #[test]
    fn either_a_share_can_be_given_or_it_is_said_why_not() {
        match Shares::create([("h1", 500_000)].into_iter()) {
            Ok((shares, doors)) => {
                assert!(refusal().is_none() && shares.groups.join("h1").exists() && doors.len() == 1);
                let groups = shares.groups.clone();
                drop(shares);
                assert!(!groups.exists());
            }
            Err(_) => assert!(refusal().is_some_and(|failure| !failure.why.is_empty())),
        }
    }
}
