//! Inspects an algorithm, and has the kernel's verifier check it, without registering it.

use std::path::Path;

use anyhow::Result;
use messages::Failure;
use plan::Source;
use serde::Serialize;

use crate::kernel::{self, Interface, Variant};
use crate::object::{Algorithm, Refused};
use crate::parameters::Parameter;
use crate::privilege::Privilege;
use crate::session::read;
use crate::statistics::statistics;
use crate::verifier::Refusal;
use crate::{bundled, names};

/// The contents of an object.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// The label that the caller asked for.
    pub label: String,
    /// The licence that the object states.
    pub licence: String,
    /// `v64`, `v610` or `v71`; `None` if there is only one.
    pub variant: Option<&'static str>,
    /// The members of `tcp_congestion_ops` that are set.
    pub operations: Vec<String>,
    /// The parameters that can be set.
    pub parameters: Vec<Parameter>,
    /// The kernel's name for it if it is loaded to stay, with these parameters.
    pub name: String,
}

/// The verifier's result for an algorithm.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The label that the caller asked for.
    pub label: String,
    /// See [`Inspection`].
    pub variant: Option<&'static str>,
    /// The programs that were loaded.
    pub programs: Vec<Program>,
}

/// One of an algorithm's programs.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The name in the source.
    pub name: String,
    /// The member of `tcp_congestion_ops` that it is for.
    pub operation: String,
    /// BPF instructions.
    pub instructions: usize,
    /// Instructions that the verifier has processed, out of a million.
    pub processed: u32,
    /// Time that this took.
    pub verify_us: u64,
    /// Size of its machine code.
    pub jited_bytes: u32,
}

/// An algorithm that isn't loadable.
#[derive(Debug)]
pub struct Unfit {
    /// A text for a person to read.
    pub failure: Failure,
    /// Its parts, if it was the verifier that refused.
    pub refused: Option<Box<Refusal>>,
}

impl<E: Into<anyhow::Error>> From<E> for Unfit {
    fn from(error: E) -> Unfit {
        Unfit { failure: Failure::of(&error.into()), refused: None }
    }
}

/// The contents of an algorithm's object, without loading it. Paths are relative to `dir`.
///
/// # Errors
/// It isn't a congestion control that could be loaded, as far as can be seen without the kernel; its parameters don't fit.
pub fn inspect(algorithm: &plan::Algorithm, dir: &Path) -> Result<Inspection> {
    let object = read(algorithm, dir)?;
    let mut opened = Algorithm::open(&algorithm.label, &object, Interface::of_running_kernel()?)?;
    // Read them before they are set: the values are then the defaults.
    let parameters = opened.parameters()?;
    opened.set_parameters(&algorithm.parameters)?;
    Ok(Inspection {
        label: algorithm.label.clone(),
        licence: opened.licence().to_owned(),
        variant: opened.variant().map(Variant::name),
        operations: opened.operations()?.into_iter().map(|(operation, _)| operation).collect(),
        parameters: documented(&algorithm.source, parameters),
        name: names::registered(&algorithm.label, &object, &algorithm.parameters, b""),
    })
}

/// The answer whether this process may load congestion controls, and this kernel takes them.
#[derive(Clone, Debug, Serialize)]
pub struct CanLoad {
    /// True if this process may load them.
    pub ok: bool,
    /// Capabilities that it lacks.
    pub missing: Vec<&'static str>,
    /// Why not.
    pub failure: Option<Failure>,
}

/// Asks this process and this kernel, without loading anything.
pub fn can_load() -> CanLoad {
    let privilege = Privilege::now();
    let kernel = kernel::is_new_enough().and_then(|()| Interface::of_running_kernel());
    let failure = match kernel {
        Err(error) => Some(Failure::of(&error)),
        Ok(_) => privilege.refusal("NAME", "loading congestion controls into the kernel"),
    };
    CanLoad { ok: failure.is_none(), missing: privilege.missing(), failure }
}

/// Lets the verifier read an algorithm. Paths are relative to `dir`.
pub fn check(algorithm: &plan::Algorithm, dir: &Path) -> Result<Check, Unfit> {
    let label = &algorithm.label;
    let object = read(algorithm, dir)?;
    let mut opened = open(algorithm, &object)?;
    opened.set_parameters(&algorithm.parameters)?;
    let operations = opened.operations()?;
    if let Some(refusal) = Privilege::now().refusal(label, format!("letting the kernel's verifier read {label}")) {
        return Err(refusal.into());
    }
    // Twice: the kernel gives either its whole log, of a refusal, or numbers.
    let name = names::prefix(label);
    if let Err(Refused { failure, refusal }) = opened.try_load(&name)? {
        return Err(Unfit { failure, refused: refusal });
    }
    let mut opened = open(algorithm, &object)?;
    opened.set_parameters(&algorithm.parameters)?;
    let (loaded, said) = opened.load_with_statistics(&name)?;
    let mut programs = Vec::new();
    for counted in statistics(loaded.object())? {
        let operation = operations.iter().find(|(_, program)| *program == counted.name);
        let Some((operation, _)) = operation else { continue };
        let program = loaded.object().progs().find(|program| program.name().to_string_lossy() == counted.name);
        programs.push(Program {
            operation: operation.clone(),
            instructions: program.map_or(0, |program| program.insn_cnt()),
            processed: counted.verified_instructions,
            verify_us: verification_us(&said, &counted.name),
            jited_bytes: counted.jited_bytes,
            name: counted.name,
        });
    }
    Ok(Check { label: label.clone(), variant: loaded.variant().map(Variant::name), programs })
}

/// Adds the manifest's descriptions to the parameters of a bundled algorithm.
fn documented(source: &Source, mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    let Source::Bundled { name } = source else { return parameters };
    let declared = bundled::find(name).map_or(&[][..], |bundled| bundled.parameters);
    for parameter in &mut parameters {
        if let Some((_, meaning, limits)) = declared.iter().find(|(name, ..)| *name == parameter.name) {
            parameter.doc = (*meaning).to_owned();
            parameter.limits = *limits;
        }
    }
    parameters
}

fn open(algorithm: &plan::Algorithm, object: &[u8]) -> Result<Algorithm> {
    let mut opened = Algorithm::open(&algorithm.label, object, Interface::of_running_kernel()?)?;
    // This finds out whether they fit: the opened object may never be loaded.
    opened.set_parameters(&algorithm.parameters)?;
    Ok(opened)
}

/// `verification time 123 usec` in the log of a program; 0 if the kernel doesn't say.
fn verification_us(output: &str, program: &str) -> u64 {
    let log = output.split_once(&format!("prog '{program}': -- BEGIN PROG LOAD LOG --")).map(|(_, rest)| rest);
    let log = log.and_then(|rest| rest.split("-- END PROG LOAD LOG --").next()).unwrap_or_default();
    let time = log.lines().find_map(|line| line.strip_prefix("verification time "));
    time.and_then(|time| time.split(' ').next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_told_though_others_are_set() {
        let inspected = |parameters: &str| {
            let text = format!(
                r#"{{"label": "bbr3", "source": {{"kind": "bundled", "name": "bbr3"}}, "parameters": {parameters}}}"#
            );
            inspect(&serde_json::from_str(&text).unwrap(), Path::new(".")).unwrap()
        };
        let (plain, set) = (inspected("{}"), inspected(r#"{"beta_keep": 9}"#));
        assert_eq!(plain.parameters, set.parameters);
        assert_ne!(plain.name, set.name);
    }

    #[test]
    fn verification_time_is_of_the_program() {
        let log = |name: &str, time: u32| {
            format!(
                "libbpf: prog '{name}': -- BEGIN PROG LOAD LOG --\nverification time {time} usec\nstack depth 0\n\
                 -- END PROG LOAD LOG --\n"
            )
        };
        let said = log("one", 17) + &log("two", 23);
        assert_eq!((verification_us(&said, "two"), verification_us(&said, "three")), (23, 0));
    }
}
