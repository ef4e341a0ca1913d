//! The algorithms that one run has loaded.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::Path;

use anyhow::{Context, Result};
use plan::{Parameter, Plan, Source};
use serde::Serialize;

use crate::kernel::{self, Interface};
use crate::names::{self, Names};
use crate::object::{Algorithm, Loaded, Registered};
use crate::prepared::Prepared;
use crate::privilege::Privilege;
use crate::statistics::{ProgramStatistics, stateless_flows, statistics};
use crate::{available, bundled};

/// The number of names that are tried.
const DRAWS: usize = 10;

/// Everything that a run has loaded. Dropping it, or the death of all processes that hold it, takes the names away.
#[derive(Debug, Default)]
pub struct Session {
    registered: Vec<Registered>,
    names: Names,
    facts: Vec<Fact>,
}

/// The kernel's facts about one of the plan's algorithms: evidence for the manifest.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    /// The plan's.
    pub label: String,
    /// The name by which the kernel knows it.
    pub registered: String,
    /// The hash of the object, in hexadecimal; `None` for the kernel's own.
    pub sha256: Option<String>,
    /// `v64`, `v610` or `v71`; `None` if it has only one, is the kernel's own, or was there before.
    pub variant: Option<&'static str>,
    /// The loader of the algorithm.
    pub loaded: LoadedBy,
    /// Connections whose state the kernel had no memory for, so that they were not controlled; `None`: it doesn't say.
    /// Filled at the end of a run.
    pub stateless_flows: Option<u64>,
    /// Filled at the end of a run.
    pub programs: Vec<ProgramStatistics>,
}

/// The loader of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadedBy {
    /// This run, for itself.
    Run,
    /// Somebody with the right to, to stay.
    Stay,
    /// Algorithm of the kernel's own.
    Kernel,
}

impl Session {
    /// Loads the plan's algorithms. `dir` is the run's directory; `acks` the ring buffer to which algorithms of ours
    /// write a row per ACK.
    ///
    /// A process without the right to load uses algorithms that were loaded to stay, if they have the plan's
    /// parameters.
    pub fn load(plan: &Plan, dir: &Path, acks: Option<BorrowedFd<'_>>) -> Result<Session> {
        Session::with(Prepared::default(), plan, dir, acks)
    }

    /// The same, where some are loaded already: `prepared`, with the same ring buffer.
    pub fn with(mut prepared: Prepared, plan: &Plan, dir: &Path, acks: Option<BorrowedFd<'_>>) -> Result<Session> {
        let mut session = Session::default();
        for algorithm in &plan.algorithms {
            session.add(algorithm, dir, acks, &mut prepared)?;
        }
        Ok(session)
    }

    fn add(
        &mut self,
        algorithm: &plan::Algorithm,
        dir: &Path,
        acks: Option<BorrowedFd<'_>>,
        prepared: &mut Prepared,
    ) -> Result<()> {
        let label = algorithm.label.as_str();
        let mut fact = Fact {
            label: label.to_owned(),
            registered: String::new(),
            sha256: None,
            variant: None,
            loaded: LoadedBy::Kernel,
            stateless_flows: None,
            programs: Vec::new(),
        };
        if let Source::Kernel { name } | Source::Tuned { name, .. } | Source::Linked { name, .. } = &algorithm.source {
            fact.registered.clone_from(name);
        } else {
            let object = read(algorithm, dir)?;
            fact.sha256 = Some(names::sha256(&object));
            if let Some(refusal) = Privilege::now().refusal(label, format!("loading {label} into the kernel")) {
                fact.registered = names::registered(label, &object, &algorithm.parameters, b"");
                fact.loaded = LoadedBy::Stay;
                if !available()?.contains(&fact.registered) {
                    return Err(refusal.into());
                }
            } else {
                let ready = match &algorithm.source {
                    Source::Bundled { name } if algorithm.parameters.is_empty() => prepared.take(name),
                    _ => None,
                };
                let registered = match ready {
                    Some((name, loaded)) => loaded.register(&name)?,
                    None => register(algorithm, &object, acks)?,
                };
                fact.registered = registered.name().to_owned();
                fact.variant = registered.loaded().variant().map(crate::Variant::name);
                fact.loaded = LoadedBy::Run;
                self.registered.push(registered);
            }
        }
        self.names.push(label, &fact.registered);
        self.facts.push(fact);
        Ok(())
    }

    /// Labels and the kernel's names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The kernel's facts about the plan's algorithms, in the plan's order. `programs` says how often they have run
    /// until now and how long, if the kernel counts it (`kernel.bpf_stats_enabled`, or [`crate::count_run_time`]).
    pub fn facts(&self) -> Result<Vec<Fact>> {
        let mut facts = self.facts.clone();
        for fact in &mut facts {
            if let Some(registered) = self.registered.iter().find(|registered| registered.name() == fact.registered) {
                fact.stateless_flows = stateless_flows(registered.loaded().object())?;
                fact.programs = statistics(registered.loaded().object())?;
            }
        }
        Ok(facts)
    }

    /// The algorithms that this run itself has loaded.
    pub fn registered(&self) -> &[Registered] {
        &self.registered
    }
}

/// An algorithm's object.
pub(crate) fn read(algorithm: &plan::Algorithm, dir: &Path) -> Result<Vec<u8>> {
    match &algorithm.source {
        Source::Bundled { name } => {
            let object = bundled::bundled(name).with_context(|| {
                format!(
                    "no congestion control {name} comes with this core: it has {}",
                    bundled::bundled_labels().join(", ")
                )
            })?;
            Ok(object.to_vec())
        }
        Source::Object { path } => {
            let path = dir.join(path);
            fs::read(&path)
                .with_context(|| format!("reading the BPF object of {}, {}", algorithm.label, path.display()))
        }
        Source::Kernel { name } | Source::Tuned { name, .. } | Source::Linked { name, .. } => {
            anyhow::bail!("{name} is the kernel's own")
        }
    }
}

/// Registers it for this run only.
fn register(algorithm: &plan::Algorithm, object: &[u8], acks: Option<BorrowedFd<'_>>) -> Result<Registered> {
    let label = algorithm.label.as_str();
    kernel::is_new_enough()?;
    let interface = Interface::of_running_kernel()?;
    let draw = || draw(label, object, &algorithm.parameters);
    let is_taken = |name: &str| Ok(available()?.iter().any(|taken| taken == name));
    under_free_name(draw, is_taken, |name| {
        load(label, object, &algorithm.parameters, acks, interface, name)?.register(name)
    })
}

/// A name to register it under.
pub(crate) fn draw(label: &str, object: &[u8], parameters: &BTreeMap<String, Parameter>) -> Result<String> {
    Ok(names::registered(label, object, parameters, &nonce()?))
}

/// Loads it, to be registered under this name.
pub(crate) fn load(
    label: &str,
    object: &[u8],
    parameters: &BTreeMap<String, Parameter>,
    acks: Option<BorrowedFd<'_>>,
    interface: Interface,
    name: &str,
) -> Result<Loaded> {
    let mut opened = Algorithm::open(label, object, interface)?;
    opened.set_parameters(parameters)?;
    if let Some(ring) = acks {
        opened.emit_acks(ring)?;
    }
    opened.load(name)
}

/// Registers under a name that nobody has. Six digits are few: another run may have drawn the same, even while the verifier
/// reads the programs.
fn under_free_name<T>(
    mut draw: impl FnMut() -> Result<String>,
    is_taken: impl Fn(&str) -> Result<bool>,
    mut register: impl FnMut(&str) -> Result<T>,
) -> Result<T> {
    let mut refused = None;
    for _ in 0..DRAWS {
        let name = draw()?;
        if is_taken(&name)? {
            continue;
        }
        match register(&name) {
            Ok(registered) => return Ok(registered),
            Err(error) if is_taken(&name)? => refused = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(refused.unwrap_or_else(|| anyhow::anyhow!("{DRAWS} names in a row were taken")))
}

/// A random number that no other run has.
fn nonce() -> Result<[u8; 16]> {
    let mut nonce = [0; 16];
    // SAFETY: writes at most as many bytes as there are.
    let got = unsafe { libc::getrandom(nonce.as_mut_ptr().cast(), nonce.len(), 0) };
    anyhow::ensure!(got == nonce.len() as isize, "getrandom: {}", std::io::Error::last_os_error());
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Registers with these names drawn one after the other; `taken` names are there already, and `others` come
    /// meanwhile.
    fn register(names: &[&str], taken: &[&str], others: &[&str]) -> Result<String> {
        let mut drawn = names.iter();
        let there = RefCell::new(taken.iter().map(ToString::to_string).collect::<Vec<_>>());
        under_free_name(
            || Ok(drawn.next().context("no name is left")?.to_string()),
            |name| Ok(there.borrow().iter().any(|taken| taken == name)),
            |name| {
                there.borrow_mut().extend(others.iter().map(ToString::to_string));
                let free = !others.contains(&name) && name != "broken";
                free.then(|| name.to_owned()).context("refused")
            },
        )
    }

    #[test]
    fn a_name_that_is_taken_meanwhile_is_drawn_again() {
        assert_eq!(register(&["a"], &[], &[]).unwrap(), "a");
        assert_eq!(register(&["a", "b"], &["a"], &[]).unwrap(), "b");
        assert_eq!(register(&["a", "b"], &[], &["a"]).unwrap(), "b");
        // Refused for another reason: once is enough.
        assert_eq!(register(&["broken", "b"], &[], &["a"]).unwrap_err().to_string(), "refused");
        assert_eq!(register(&["a"; DRAWS + 1], &["a"], &[]).unwrap_err().to_string(), "10 names in a row were taken");
    }
}
