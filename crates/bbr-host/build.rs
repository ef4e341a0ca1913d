//! Compiles the core twice, as BBRv2 and as BBRv3, with the host's C compiler.

use std::path::{Path, PathBuf};

fn main() {
    let root = "../../bpf";
    println!("cargo:rerun-if-changed={root}");
    let generated = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo")).join("include");
    let declared = manifests::read(Path::new(root)).expect("manifests of the algorithms");
    manifests::write_headers(&declared, &generated).expect("writing headers");
    // For tests.
    println!("cargo:rustc-env=GENERATED_HEADERS={}", generated.display());
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=src/host.c");
    for version in ["2", "3"] {
        c_compiler::Build::new()
            .file("src/host.c")
            .define("BBR_VERSION", version)
            // The stand-ins for the BPF programs' <dumbbell/...>.
            .include("include")
            .include(root)
            .include(&generated)
            .flag("-Wno-unused-function")
            .warnings_into_errors(true)
            .opt_level(2)
            .compile(&format!("bbr{version}_host"));
    }
}
