//! The simulator as WebAssembly: a plan goes in, rows of its tables come out.
//!
//! A [`Machine`] runs one plan as far as it is told, so that a page can draw, pause and give up. It gives the columns of
//! `samples` and `links` that the page wants, and, if asked, the digests of all tables: those of the same plan's run by
//! `--engine simulate`. `exports` is how JavaScript calls it, with nothing between but the C interface: numbers, and
//! pointers into the module's memory.

// Nowhere else: in a native program `free` and `end` would take the place of the C library's and the linker's.
#[cfg(target_arch = "wasm32")]
mod exports;
mod machine;
mod recorder;

pub use machine::{Asked, Machine, Report};
