//! BPF congestion controls, for `dumbbell cc` and the planner.
//!
//! Every function returns JSON: what it says below, or `{"failure": {"what", "why", "hint"}}`.
//!
//! An *algorithm* goes in as the plan has it: `{"label": "bbr3", "source": {"kind": "bundled", "name": "bbr3"},
//! "parameters": {"beta_keep": 200}}`, or with the source `{"kind": "object", "path": "/tmp/my_cc.bpf.o"}`. Other keys of
//! the plan's, such as `sha256`, may be there.
//!
//! A *parameter* comes out as `{"name", "bits", "signed", "default", "doc"}`; `bits` of a flag is 1, `doc` is empty if the
//! source says nothing (a user's object carries no text).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bpf::Unfit;
use messages::Failure;
use plan::Algorithm;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

/// Lists the algorithms that come with the core: a list of {label, path, sha256, parameters}. Needs no privileges.
#[pyfunction]
pub(crate) fn cc_bundled(py: Python<'_>) -> String {
    let none = plan::Algorithm {
        label: String::new(),
        source: plan::Source::Bundled { name: String::new() },
        parameters: Default::default(),
        sha256: None,
    };
    let one = |bundled: &bpf::Bundled| -> Result<_> {
        let source = plan::Source::Bundled { name: bundled.label.to_owned() };
        let algorithm = plan::Algorithm { label: bundled.label.to_owned(), source, ..none.clone() };
        let parameters = bpf::inspect(&algorithm, Path::new("."))?.parameters;
        Ok(json!({ "label": bundled.label, "path": bundled.path, "sha256": bundled.sha256, "parameters": parameters }))
    };
    answer(py, || bpf::algorithms().map(one).collect::<Result<Vec<_>>>())
}

/// Write the headers that algorithms include to `directory`: `<dumbbell/...>` and libbpf's `<bpf/...>`. Returns
/// {directory}; give it to a compiler by `-I`.
#[pyfunction]
pub(crate) fn cc_headers(py: Python<'_>, directory: PathBuf) -> String {
    answer(py, || bpf::write_headers(&directory).map(|()| json!({ "directory": directory })))
}

/// Compile a C `source` to the object `out`, with our headers.
///
/// Returns {ok, compiler, diagnostics, text}: diagnostics is a list of {file, line, column, severity, message}, severity
/// "error", "warning" or "note", `file` as the compiler names it; text is all that the compiler said. The same source
/// gives the same object wherever it lies. A failure only if the compiler can't be started or files can't be written.
#[pyfunction]
pub(crate) fn cc_build(py: Python<'_>, source: PathBuf, out: PathBuf) -> String {
    answer(py, || bpf::build(&source, &out))
}

/// Describes an algorithm's object, without privileges and without loading it: {label, licence, variant, operations,
/// parameters, name}. `variant` is "v64", "v610", "v71" or null; `operations` are the members of tcp_congestion_ops that
/// it sets; `name` is what it is called in the kernel if it is loaded to stay with these parameters.
///
/// Fails if it isn't one congestion control, lacks a required operation, has a licence that the kernel refuses, or if the
/// algorithm's parameters are unknown or don't fit.
#[pyfunction]
pub(crate) fn cc_inspect(py: Python<'_>, algorithm: &str) -> String {
    answer(py, || parse(algorithm).and_then(|algorithm| bpf::inspect(&algorithm, Path::new("."))))
}

/// Load an algorithm without registering it, so that the kernel's verifier reads it: {label, variant, programs}, programs
/// a list of {name, operation, instructions, processed, verify_us, jited_bytes}: BPF instructions, and those that the
/// verifier has processed, out of a million that it may.
///
/// If it is refused, the failure says which program, where and why.
#[pyfunction]
pub(crate) fn cc_check(py: Python<'_>, algorithm: &str) -> String {
    answer(py, || {
        let checked =
            parse(algorithm).map_err(Unfit::from).and_then(|algorithm| bpf::check(&algorithm, Path::new(".")));
        checked.map_err(|unfit| unfit.failure.into())
    })
}

/// Register an algorithm to stay until `cc_unload` or a reboot, for everybody: {name, label, parameters, sha256, loaded_at,
/// already, mounted}. `already`: it was loaded before. `mounted`: the path of a BPF file system that had to be mounted
/// for it, or null.
#[pyfunction]
pub(crate) fn cc_load(py: Python<'_>, algorithm: &str) -> String {
    answer(py, || parse(algorithm).and_then(|algorithm| bpf::load(&algorithm, Path::new("."))))
}

/// Take away what `cc_load` has registered, by label (all parameter sets) or registered name: {unloaded: [name, ...]}.
/// Connections that use it go on. Fails if nothing is called that.
#[pyfunction]
pub(crate) fn cc_unload(py: Python<'_>, name: &str) -> String {
    answer(py, || bpf::unload(name).map(|names| json!({ "unloaded": names })))
}

/// All congestion controls: {bundled: [label], stay: [{name, label, parameters, sha256, loaded_at}], runs: [{name, label}],
/// kernel: [name]}. Another run's `label` is known only by its beginning. `loaded_at` is in seconds since 1970.
#[pyfunction]
pub(crate) fn cc_list(py: Python<'_>) -> String {
    answer(py, bpf::list)
}

/// Says whether this process may load congestion controls: {ok, missing, failure}. `missing` are the capabilities that it
/// lacks, `failure` is as above or null.
#[pyfunction]
pub(crate) fn cc_can_load(py: Python<'_>) -> String {
    answer(py, || Ok(bpf::can_load()))
}

fn parse(algorithm: &str) -> Result<Algorithm> {
    serde_json::from_str(algorithm).context("reading an algorithm")
}

/// Says what `asked` returns. Other threads of Python run meanwhile: a compiler or the kernel's verifier may take long.
fn answer<T: Serialize>(py: Python<'_>, asked: impl Send + FnOnce() -> Result<T>) -> String {
    let text = py.detach(|| match asked() {
        Ok(value) => serde_json::to_string(&value),
        Err(error) => serde_json::to_string(&json!({ "failure": Failure::of(&error) })),
    });
    text.expect("answers are plain data")
}
