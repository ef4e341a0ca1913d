//! The header that C gets from a manifest.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::Manifest;

/// The header `<algorithms/NAME/parameters.h>`: `PARAMETERS(X)` is `X(type, name, default)` of each parameter.
pub fn header(manifest: &Manifest) -> String {
    let mut text = format!("/* Generated from algorithms/{}/algorithm.toml. */\n#define PARAMETERS(X)", manifest.name);
    for parameter in &manifest.parameters {
        write!(text, " \\\n\tX({}, {}, {})", parameter.c_type(), parameter.name, parameter.default).expect("a string");
    }
    text.push('\n');
    text
}

/// Writes the headers of all that have parameters to `include`, a directory for the compiler's `-I`.
///
/// # Errors
/// A file cannot be written.
pub fn write_headers(manifests: &[Manifest], include: &Path) -> Result<()> {
    for manifest in manifests.iter().filter(|manifest| !manifest.parameters.is_empty()) {
        let dir = include.join("algorithms").join(&manifest.name);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&dir)?;
            fs::write(dir.join("parameters.h"), header(manifest))
        };
        write().with_context(|| format!("writing {}", dir.display()))?;
    }
    Ok(())
}
