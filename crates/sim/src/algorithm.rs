//! Finds the algorithm of a plan's label.

use std::collections::BTreeMap;
use std::sync::Arc;

use bpf_vm::{Flow, Program, Tracer};
use cc::{CongestionControl, Setting, Unfit};
use messages::Failure;
use plan::{Algorithm, Parameter, Source};

use crate::held::Held;
use crate::quic::QuicStacks;

/// Users' compiled programs, by the hash of their source as plans have it.
pub type Objects = BTreeMap<String, Vec<u8>>;

/// Hint for a plan that only a kernel can carry out, be it this machine's or one in virtual time.
pub(crate) const KERNEL: &str = "run it with --engine emulate or --engine virtual";

const VIRTUAL: &str = "run it with --engine virtual";

/// A plan's algorithms, and the stacks of its QUIC flows.
#[derive(Debug)]
pub(crate) struct Algorithms<'a> {
    declared: &'a [Algorithm],
    /// Users' programs, by label.
    programs: BTreeMap<&'a str, Result<Arc<Program>, Failure>>,
    tracer: Option<&'a Tracer>,
    held: Option<&'a Held>,
    pub quic: Option<&'a dyn QuicStacks>,
}

impl<'a> Algorithms<'a> {
    pub(crate) fn new(declared: &'a [Algorithm], objects: &Objects) -> Algorithms<'a> {
        let programs = declared.iter().filter(|one| matches!(one.source, Source::Object { .. }));
        let programs = programs.map(|one| (one.label.as_str(), program(one, objects))).collect();
        Algorithms { declared, programs, tracer: None, held: None, quic: None }
    }

    /// The algorithms, whose users' programs `tracer` follows.
    pub(crate) fn traced(self, tracer: Option<&'a Tracer>) -> Algorithms<'a> {
        Algorithms { tracer, ..self }
    }

    /// The algorithms, but for the flows that are `held`.
    pub(crate) fn held(self, held: Option<&'a Held>) -> Algorithms<'a> {
        Algorithms { held, ..self }
    }

    /// The algorithms, with these stacks of QUIC flows.
    pub(crate) fn with_quic(self, quic: Option<&'a dyn QuicStacks>) -> Algorithms<'a> {
        Algorithms { quic, ..self }
    }

    /// A new instance, for the flow with this id, of the congestion control that flows call `label`. One that is not among the plan's algorithms is the
    /// kernel's own of that name.
    pub(crate) fn create(&self, label: &str, flow: &str) -> Result<Box<dyn CongestionControl>, Failure> {
        if let Some(control) = self.held.and_then(|held| held.create(flow)) {
            return Ok(control);
        }
        let Some(Algorithm { source, parameters, .. }) = self.declared.iter().find(|one| one.label == label) else {
            return cc::create(label).ok_or_else(|| unknown(label));
        };
        let name = match source {
            Source::Bundled { name } | Source::Tuned { of: name, .. } => cc::twin_of(name).unwrap_or(name),
            Source::Kernel { name } => name,
            Source::Object { .. } => {
                let made = Flow::new(self.programs[label].clone()?);
                return Ok(Box::new(match self.tracer {
                    Some(tracer) => made.traced(tracer.clone(), flow),
                    None => made,
                }));
            }
            Source::Linked { .. } => {
                let why = "it is a source in C, which becomes part of a kernel in virtual time";
                return Err(Failure::new(format!("the congestion control {label}"), why).hint(VIRTUAL));
            }
        };
        cc::create_with(name, &settings(parameters)).map_err(|unfit| refused(name, label, unfit))
    }
}

fn program(algorithm: &Algorithm, objects: &Objects) -> Result<Arc<Program>, Failure> {
    let object = algorithm.sha256.as_ref().and_then(|sha256| objects.get(sha256)).ok_or_else(|| {
        let why = "it is a BPF program, and nothing here compiles it";
        Failure::new(format!("the congestion control {}", algorithm.label), why)
            .hint("run it with dumbbell run --engine simulate")
    })?;
    Program::parse(&algorithm.label, object, &settings(&algorithm.parameters)).map(Arc::new)
}

fn settings(parameters: &BTreeMap<String, Parameter>) -> Vec<(&str, Setting)> {
    parameters.iter().map(|(name, value)| (name.as_str(), setting(*value))).collect()
}

fn setting(value: Parameter) -> Setting {
    match value {
        Parameter::Bool(flag) => Setting::Flag(flag),
        Parameter::Integer(number) => Setting::Number(number),
    }
}

fn refused(name: &str, label: &str, unfit: Unfit) -> Failure {
    match unfit {
        Unfit::Algorithm => unknown(name),
        Unfit::Unknown(parameter, known) => {
            let failure = Failure::new(format!("setting {parameter} of {label}"), "it has no such parameter");
            failure.hint(if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) })
        }
        Unfit::Misfit(parameter, expected) => {
            Failure::new(format!("setting {parameter} of {label}"), format!("expected {expected}"))
        }
    }
}

fn unknown(name: &str) -> Failure {
    Failure::new(format!("the congestion control {name}"), format!("the simulator has only {}", cc::NAMES.join(", ")))
        .hint(format!("{KERNEL} if its kernel has it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithms() -> Vec<Algorithm> {
        let one = |label: &str, source: serde_json::Value, parameters: serde_json::Value| serde_json::json!({"label": label, "source": source, "parameters": parameters, "sha256": null});
        let bundled = |name: &str| serde_json::json!({"kind": "bundled", "name": name});
        let none = serde_json::json!({});
        serde_json::from_value(serde_json::json!([
            one("bbr3", bundled("bbr3"), none.clone()),
            one("bbr3 (beta_keep=200)", bundled("bbr3"), serde_json::json!({"beta_keep": 200})),
            one("bpf_cubic", bundled("bpf_cubic"), serde_json::json!({"hystart": false, "beta": 700})),
            one("bpf_reno", bundled("bpf_reno"), none.clone()),
            one("bpf_dctcp", bundled("bpf_dctcp"), none.clone()),
            one("bbr3 (kernel)", serde_json::json!({"kind": "kernel", "name": "bbr3"}), none.clone()),
            one("mine", serde_json::json!({"kind": "object", "path": "algorithms/mine.bpf.o"}), none.clone()),
            one("odd", bundled("bbr3"), serde_json::json!({"beta": 1})),
            one("wide", bundled("bbr3"), serde_json::json!({"beta_keep": 257})),
            one("illinois (kernel)", serde_json::json!({"kind": "kernel", "name": "illinois"}), none),
        ]))
        .unwrap()
    }

    #[test]
    fn labels_mean_what_the_plan_says() {
        let algorithms = algorithms();
        let objects = Objects::new();
        let algorithms = Algorithms::new(&algorithms, &objects);
        let made = |label: &str| algorithms.create(label, "f1").unwrap();
        for (label, name) in [
            ("cubic", "cubic"),
            ("bbr", "bbr"),
            ("bbr3", "bbr3"),
            ("bbr3 (beta_keep=200)", "bbr3"),
            ("bbr3 (kernel)", "bbr3"),
            ("bpf_cubic", "cubic"),
            ("bpf_reno", "reno"),
            ("bpf_dctcp", "dctcp"),
        ] {
            assert_eq!(made(label).name(), name, "{label}");
        }
        let text = |label: &str| format!("{:?}", made(label));
        assert_eq!(text("bbr3"), text("bbr3 (kernel)"));
        assert!(text("bbr3 (beta_keep=200)").contains("beta_keep: 200"));
        assert!(text("bpf_cubic").contains("beta: 700") && text("bpf_cubic").contains("hystart: false"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let algorithms = algorithms();
        let objects = Objects::new();
        let algorithms = Algorithms::new(&algorithms, &objects);
        let refusal = |label: &str| algorithms.create(label, "f1").unwrap_err();
        assert_eq!(refusal("mine").why, "it is a BPF program, and nothing here compiles it");
        assert_eq!(refusal("odd").what, "setting beta of odd");
        assert!(refusal("odd").hint.starts_with("it has startup_pacing_gain, "));
        assert_eq!(refusal("wide").why, "expected an integer from 0 to 256");
        for label in ["illinois", "illinois (kernel)"] {
            assert_eq!(refusal(label).what, "the congestion control illinois");
            assert!(refusal(label).hint.contains("--engine emulate"));
        }
    }
}
