//! The manifests of congestion controls: `bpf/algorithms/NAME/algorithm.toml` describes an algorithm and declares its
//! parameters. The builds of the crates `bpf`, `cc` and `bbr-host` read the manifests; all other code has them from
//! these crates.

mod c;
mod parameter;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

pub use c::{header, write_headers};
pub use parameter::{Parameter, Value};

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
    /// It asks the stack to negotiate ECN, whatever the host's setting.
    pub needs_ecn: bool,
    /// The module of the crate `cc` that has it; `None`: it cannot be simulated.
    pub simulated_by: Option<String>,
    /// The source of its BPF program, if it has one.
    pub program: Option<PathBuf>,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
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

/// All manifests under `bpf`, the directory of BPF programs, in order of their names.
///
/// # Errors
/// A file cannot be read, is no manifest, or contradicts itself.
pub fn read(bpf: &Path) -> Result<Vec<Manifest>> {
    let dir = bpf.join("algorithms");
    let entries = fs::read_dir(&dir).with_context(|| format!("listing {}", dir.display()))?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.sort();
    folders.iter().map(|folder| one(folder)).collect()
}

fn one(folder: &Path) -> Result<Manifest> {
    let name = folder.file_name().context("a folder has a name")?.to_string_lossy().into_owned();
    let path = folder.join("algorithm.toml");
    let File { sentence, needs_ecn, simulated_by, mut parameters, parameters_of, defaults } = parse(&path)?;
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
    let program = Some(folder.join(format!("{name}.bpf.c"))).filter(|source| source.exists());
    ensure!(program.is_some() || simulated_by.is_some(), "{}: neither a program nor simulated", path.display());
    Ok(Manifest { name, sentence, needs_ecn, simulated_by, program, parameters })
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
        let found = read(&bpf()).unwrap();
        let labels: Vec<String> = found.iter().filter_map(Manifest::label).collect();
        assert!(
            ["bbr2", "bbr3", "bpf_cubic", "bpf_dctcp", "bpf_reno"].iter().all(|one| labels.contains(&(*one).into()))
        );
        assert!(labels.iter().all(|label| !KERNEL.contains(&label.as_str())), "{labels:?}");
    }

    #[test]
    fn shared_parameters_have_the_defaults_of_each_algorithm() {
        let found = read(&bpf()).unwrap();
        let gain = |name: &str| {
            let manifest = found.iter().find(|manifest| manifest.name == name).unwrap();
            manifest.parameters.iter().find(|one| one.name == "down_pacing_gain").unwrap().default
        };
        let expected = [Value::Number(192), Value::Number(232), Value::Number(230)];
        assert_eq!(["bbr2", "bbr3", "bbr3-draft"].map(gain), expected);
    }

    #[test]
    fn the_header_defines_what_the_manifest_declares() {
        let found = read(&bpf()).unwrap();
        let cubic = found.iter().find(|manifest| manifest.name == "cubic").unwrap();
        let text = header(cubic);
        assert!(text.contains("\tX(__u32, beta, 717)"), "{text}");
        assert!(text.contains("\tX(bool, hystart, true)"), "{text}");
    }
}
