//! Bounds the memory of the module: a run that needs more ends with a trap, and the page's tab lives on.

/// Bytes: a browser's tab gets less than 4 GiB, and the module would ask for as much.
const MOST: u64 = 1 << 30;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--max-memory={MOST}");
    }
}
