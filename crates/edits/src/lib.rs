//! Edits of a user's TOML: values change, comments and order stay.
//!
//! An edit is a list of operations on keys. Whatever an operation does not name keeps its bytes: comments belong to the key
//! or the header below them, and go with it when it is removed; a new value takes the style of its neighbours. Dotted keys of
//! one table that stand apart come together.

mod json;
mod operation;
mod place;
mod style;

use anyhow::{Context, Result};
use toml_edit::DocumentMut;

pub use json::{Json, values};
pub use operation::{Operation, Part};

/// The text after all operations, in their order.
///
/// # Errors
/// The text is no TOML, or an operation does not fit it: then nothing is to be done at all.
pub fn edit(text: &str, operations: &[Operation]) -> Result<String> {
    let mut document: DocumentMut = text.parse().context("the text is no TOML")?;
    for operation in operations {
        operation.apply(document.as_table_mut())?;
    }
    let mut edited = document.to_string();
    // The last line of a file need not end, and each line of what is written does.
    if !text.ends_with('\n') && edited.ends_with('\n') && !text.is_empty() {
        edited.pop();
    }
    Ok(edited)
}

#[cfg(test)]
mod tests;
