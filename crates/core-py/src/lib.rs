//! The Python extension module: the only crate that knows PyO3.
