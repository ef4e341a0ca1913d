//! Tests of captured connections, in one program, which is compiled and linked once.

#[path = "../files/mod.rs"]
mod files;
mod fuzz;
mod made;
mod properties;
#[path = "../rows/mod.rs"]
mod rows;
