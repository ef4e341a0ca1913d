use std::sync::Arc;

use bpf_vm::{Flow, Program};
use cc::Setting;

/// The algorithms whose objects run here: those that look at the connection alone, and not at the packets that it has sent.
pub const PROGRAMS: &[&str] = &["cubic", "dctcp", "htcp", "reno", "westwood"];

/// A flow of the bundled object of `name`, with `settings` in place of defaults. Panics if there is none, or it has no such
/// parameter.
pub fn program(name: &str, settings: &[(&str, Setting)]) -> Flow {
    let label = cc::declared(name).and_then(|declared| declared.label).expect("an algorithm with an object");
    let object = bpf::bundled(label).expect("an object");
    Flow::new(Arc::new(Program::parse(label, object, settings).expect("an object that the model can run")))
}
