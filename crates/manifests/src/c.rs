//! The header that C gets from a manifest.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{Declared, Kind, Manifest, NONE, SLOTS, StateSet, StateValue};

/// The header `<algorithms/NAME/parameters.h>`: `PARAMETERS(X)` is `X(type, name, default)` of each parameter. A source that
/// is to have other values has defined it before.
pub fn header(manifest: &Manifest) -> String {
    let mut text = format!("/* Generated from algorithms/{}/algorithm.toml. */\n", manifest.name);
    text.push_str("#ifndef PARAMETERS\n#define PARAMETERS(X)");
    for parameter in &manifest.parameters {
        write!(text, " \\\n\tX({}, {}, {})", parameter.c_type(), parameter.name, parameter.default).expect("a string");
    }
    text.push_str("\n#endif\n");
    text
}

/// The header `<dumbbell/state.h>`: what each algorithm publishes, as the places of a row of the per-ACK table.
pub fn state_header(sets: &[StateSet]) -> String {
    let mut text = String::from(
        "/* Generated from the manifests: what algorithms publish of their state. */\n#ifndef DUMBBELL_STATE_H\n\
         #define DUMBBELL_STATE_H\n\n#include <dumbbell/kernel.h>\n\n",
    );
    let mut line = |line: std::fmt::Arguments<'_>| text.write_fmt(line).expect("a string");
    line(format_args!("/* Values that an algorithm can publish. */\n#define DB_STATE_SLOTS {SLOTS}\n"));
    line(format_args!("/* A value that is not known, not used, or infinite. */\n#define DB_NONE {NONE:#x}U\n\n"));
    line(format_args!("/* Whose state it is. */\nenum db_state_of {{\n\tDB_STATE_NONE,\n"));
    for set in sets {
        line(format_args!("\tDB_STATE_{},\n", set.name.to_uppercase()));
    }
    line(format_args!("}};\n"));
    for set in sets {
        for value in &set.values {
            if value.kind == Kind::Word {
                let of = format!("{}_{}", set.name, value.name);
                line(format_args!("\n/* {of} */\nenum {{\n"));
                for word in &value.words {
                    line(format_args!("\tDB_{}_{},\n", of.to_uppercase(), word.to_uppercase()));
                }
                line(format_args!("}};\n"));
            }
        }
        line(format_args!("\nstruct db_{}_state {{\n", set.name));
        for value in &set.values {
            line(format_args!("\t__u32 {}; /* {}{} */\n", value.name, value.meaning, in_c(value)));
        }
        line(format_args!("}};\n"));
    }
    line(format_args!("\n#endif\n"));
    text
}

/// The header `<algorithms/kernel.h>`: how the probe reads the state of the kernel's own algorithms. `KERNEL_STATES(X)` is
/// `X(name)` of each that has a `kernel.h` in its folder.
fn kernel_header(manifests: &[Manifest]) -> String {
    let names = manifests.iter().filter(|manifest| manifest.has_kernel_header).map(|manifest| &manifest.name);
    let includes: String = names.clone().map(|name| format!("#include <algorithms/{name}/kernel.h>\n")).collect();
    let calls: String = names.map(|name| format!(" \\\n\tX({name})")).collect();
    format!("/* Generated from algorithms/NAME/kernel.h. */\n{includes}\n#define KERNEL_STATES(X){calls}\n")
}

/// The encoding of a value in words, for its comment in C.
fn in_c(value: &StateValue) -> String {
    match (value.kind, &value.unit, value.one) {
        (Kind::Bandwidth, _, Some(one)) => format!(", of {one} in a packet per us"),
        (_, Some(unit), Some(one)) => format!(", of {one} in 1 {unit}"),
        (_, None, Some(one)) => format!(", of {one}"),
        (_, Some(unit), None) => format!(", {unit}"),
        _ => String::new(),
    }
}

/// Writes the headers of all that is declared to `include`, a directory for the compiler's `-I`: `<dumbbell/state.h>`,
/// `<algorithms/kernel.h>`, and `<algorithms/NAME/parameters.h>` of those that have parameters.
///
/// # Errors
/// A file cannot be written.
pub fn write_headers(declared: &Declared, include: &Path) -> Result<()> {
    let write = |dir: &Path, name: &str, text: String| -> Result<()> {
        let done = fs::create_dir_all(dir).and_then(|()| fs::write(dir.join(name), text));
        done.with_context(|| format!("writing {}", dir.display()))
    };
    write(&include.join("dumbbell"), "state.h", state_header(&declared.states))?;
    write(&include.join("algorithms"), "kernel.h", kernel_header(&declared.manifests))?;
    for manifest in declared.manifests.iter().filter(|manifest| !manifest.parameters.is_empty()) {
        write(&include.join("algorithms").join(&manifest.name), "parameters.h", header(manifest))?;
    }
    Ok(())
}
