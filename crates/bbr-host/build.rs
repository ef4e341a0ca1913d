//! Compiles with the host's C compiler: the core of BBR twice, as BBRv2 and as BBRv3, the programs of window-based algorithms,
//! and the probe's readings of the kernel's own.

use std::path::{Path, PathBuf};

fn main() {
    let root = "../../bpf";
    println!("cargo:rerun-if-changed={root}");
    let generated = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo")).join("include");
    let declared = manifests::read(Path::new(root)).expect("manifests of the algorithms");
    manifests::write_headers(&declared, &generated).expect("writing headers");
    // Tests read the headers from there.
    println!("cargo:rustc-env=GENERATED_HEADERS={}", generated.display());
    println!("cargo:rerun-if-changed=include");
    for source in ["host.c", "kernel_states.c"] {
        println!("cargo:rerun-if-changed=src/{source}");
    }
    let compiler = |source: &str| {
        let mut build = c_compiler::Build::new();
        build.file(format!("src/{source}"));
        // The stand-ins for the BPF programs' <dumbbell/...> come before what needs none.
        build.include("include").include(Path::new(root).join("include")).include(root).include(&generated);
        for flag in ["function", "variable", "const-variable", "parameter"].map(|what| format!("-Wno-unused-{what}")) {
            build.flag(&flag);
        }
        // Clang's attributes for relocation mean nothing here.
        build.flag_if_supported("-Wno-attributes").warnings_into_errors(true).opt_level(2);
        build
    };
    for version in ["2", "3"] {
        compiler("host.c").define("BBR_VERSION", version).compile(&format!("bbr{version}_host"));
    }
    compiler("kernel_states.c").compile("kernel_states");
}
