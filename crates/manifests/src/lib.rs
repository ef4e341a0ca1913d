//! The manifests of congestion controls: `bpf/algorithms/NAME/algorithm.toml` describes an algorithm and declares its
//! parameters. The builds of the crates `bpf`, `cc` and `bbr-host` read the manifests; all other code has them from
//! these crates.

mod c;
mod parameter;
mod state;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

pub use c::{header, state_header, write_headers};
pub use parameter::{Parameter, Value};
pub use state::{Kind, NONE, SLOTS, StateSet, StateValue};

/// The congestion controls that Linux itself has. These names mean the kernel's in every record.
pub const KERNEL: [&str; 17] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// The declarations of an algorithm.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The name of its folder. The simulator uses the same name.
    pub name: String,
    /// A description for lists.
    pub sentence: String,
    /// True if the algorithm asks the stack to negotiate ECN, whatever the host's setting.
    pub needs_ecn: bool,
    /// The module of the crate `cc` that has it; `None`: it cannot be simulated.
    pub simulated_by: Option<String>,
    /// The source of its BPF program, if it has one.
    pub program: Option<PathBuf>,
    /// Its folder has a `kernel.h`: how the probe reads the state of the kernel's own algorithm of this name.
    pub has_kernel_header: bool,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// All that is declared of congestion controls.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The algorithms, by name.
    pub manifests: Vec<Manifest>,
    /// The sets of values that they publish, by name.
    pub states: Vec<StateSet>,
}

/// The file, key by key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sentence: String,
    #[serde(default)]
    needs_ecn: bool,
    simulated_by: Option<String>,
    #[serde(default)]
    parameters: Vec<Parameter>,
    /// A file of parameters that several algorithms share, relative to the manifest.
    parameters_of: Option<PathBuf>,
    /// The defaults that differ from those in that file.
    #[serde(default)]
    defaults: toml::Table,
    /// The values that it publishes.
    #[serde(default)]
    state: Vec<StateValue>,
    /// The folder under `bpf` whose `state.toml` says what it publishes, as a family's.
    state_of: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    parameters: Vec<Parameter>,
}

impl Manifest {
    /// The name of its BPF program in scenario, plan and records: the algorithm's name, but never one of the kernel's.
    pub fn label(&self) -> Option<String> {
        let is_kernels = KERNEL.contains(&self.name.as_str());
        self.program.as_ref().map(|_| if is_kernels { format!("bpf_{}", self.name) } else { self.name.clone() })
    }
}

/// All manifests under `bpf`, the directory of BPF programs, and what their algorithms publish.
///
/// # Errors
/// A file cannot be read, is no manifest, or contradicts itself.
pub fn read(bpf: &Path) -> Result<Declared> {
    let dir = bpf.join("algorithms");
    let entries = fs::read_dir(&dir).with_context(|| format!("listing {}", dir.display()))?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    let mut states = state::shared(bpf)?;
    let families: Vec<String> = states.iter().map(|set| set.name.clone()).collect();
    let mut manifests = Vec::new();
    for folder in &folders {
        let (manifest, set) = manifest_of(folder, &families)?;
        states.extend(set);
        manifests.push(manifest);
    }
    states.sort_by(|a, b| a.name.cmp(&b.name));
    states.iter().try_for_each(StateSet::check)?;
    Ok(Declared { manifests, states })
}

fn manifest_of(folder: &Path, families: &[String]) -> Result<(Manifest, Option<StateSet>)> {
    let name = folder.file_name().context("a folder has a name")?.to_string_lossy().into_owned();
    let path = folder.join("algorithm.toml");
    let file: File = parse(&path)?;
    let File { sentence, needs_ecn, simulated_by, mut parameters, parameters_of, defaults, state, state_of } = file;
    if let Some(shared) = parameters_of {
        ensure!(parameters.is_empty(), "{}: give parameters or parameters_of, not both", path.display());
        parameters = parse::<Shared>(&folder.join(shared))?.parameters;
    }
    for (parameter, value) in defaults {
        let known = parameters.iter_mut().find(|known| known.name == parameter);
        let known = known.with_context(|| format!("{}: defaults: no parameter {parameter}", path.display()))?;
        known.default = value.try_into().with_context(|| format!("{}: default of {parameter}", path.display()))?;
    }
    for parameter in &parameters {
        parameter.check().with_context(|| format!("{}: parameter {}", path.display(), parameter.name))?;
    }
    if let Some(family) = &state_of {
        ensure!(state.is_empty(), "{}: give state or state_of, not both", path.display());
        ensure!(families.contains(family), "{}: state_of: there is no {family}/state.toml", path.display());
    } else {
        ensure!(state.is_empty() || !families.contains(&name), "{}: {name}/state.toml has its name", path.display());
    }
    let program = Some(folder.join(format!("{name}.bpf.c"))).filter(|source| source.exists());
    ensure!(program.is_some() || simulated_by.is_some(), "{}: neither a program nor simulated", path.display());
    let set = (!state.is_empty()).then(|| StateSet { name: name.clone(), values: state });
    let has_kernel_header = folder.join("kernel.h").exists();
    Ok((Manifest { name, sentence, needs_ecn, simulated_by, program, has_kernel_header, parameters }, set))
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bpf() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf")
    }

    #[test]
    fn a_program_is_never_called_as_one_of_the_kernels_own() {
        let found = read(&bpf()).unwrap().manifests;
        let labels: Vec<String> = found.iter().filter_map(Manifest::label).collect();
        assert!(
            ["bbr2", "bbr3", "bpf_cubic", "bpf_dctcp", "bpf_htcp", "bpf_reno", "bpf_westwood"]
                .iter()
                .all(|one| labels.contains(&(*one).into()))
        );
        assert!(labels.iter().all(|label| !KERNEL.contains(&label.as_str())), "{labels:?}");
    }

    #[test]
    fn shared_parameters_have_the_defaults_of_each_algorithm() {
        let found = read(&bpf()).unwrap().manifests;
        let gain = |name: &str| {
            let manifest = found.iter().find(|manifest| manifest.name == name).unwrap();
            manifest.parameters.iter().find(|one| one.name == "down_pacing_gain").unwrap().default
        };
        let expected = [Value::Number(192), Value::Number(232), Value::Number(230)];
        assert_eq!(["bbr2", "bbr3", "bbr3-draft"].map(gain), expected);
    }

    #[test]
    fn the_header_defines_what_the_manifest_declares() {
        let found = read(&bpf()).unwrap().manifests;
        let cubic = found.iter().find(|manifest| manifest.name == "cubic").unwrap();
        let text = header(cubic);
        assert!(text.contains("\tX(__u32, beta, 717)"), "{text}");
        assert!(text.contains("\tX(bool, hystart, true)"), "{text}");
    }

    #[test]
    fn the_header_of_states_has_a_structure_for_each_set() {
        let text = state_header(&read(&bpf()).unwrap().states);
        assert!(text.contains("struct db_cubic_state {\n\t__u32 w_max; "), "{text}");
        assert!(text.contains("DB_STATE_CUBIC") && text.contains("DB_BBR_STATE_STARTUP"), "{text}");
    }
}
