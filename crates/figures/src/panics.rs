//! Panics of others as errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};

/// Reads a file by `read`. The crate `parquet` panics at some files that are damaged: that is an error, too.
pub(crate) fn caught<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(anyhow!("the file is damaged, or this is a bug in dumbbell: {}", what.unwrap_or("it panicked")))
    })
}
