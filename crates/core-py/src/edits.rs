//! Edits of users' scenarios.

use edits::Operation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A TOML text after `operations` (JSON), in which all else keeps its bytes, comments and order.
///
/// An operation is `{"do": "set", "key", "value"}`, `{"do": "unset", "key"}`, `{"do": "insert", "key", "at", "value"}` or
/// `{"do": "rename", "key", "to"}`; a key is a list of names and indices. Raises ValueError if the text is no TOML, or if
/// an operation does not fit it.
#[pyfunction]
pub(crate) fn edit_toml(py: Python<'_>, text: &str, operations: &str) -> PyResult<String> {
    let operations: Vec<Operation> =
        serde_json::from_str(operations).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| edits::edit(text, &operations)).map_err(|error| PyValueError::new_err(format!("{error:#}")))
}

/// The values of a TOML text as JSON, in the order in which they were written; None if it is no TOML, or if JSON lacks one of
/// its values: times and infinite numbers. Takes a third of the time of tomllib.
#[pyfunction]
pub(crate) fn toml_values(py: Python<'_>, text: &str) -> Option<String> {
    py.detach(|| serde_json::to_string(&edits::values(text).ok()?).ok())
}
