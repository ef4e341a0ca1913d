//! Compiles the core twice, as BBRv2 and as BBRv3, with the host's C compiler.

fn main() {
    let root = "../../bpf";
    println!("cargo:rerun-if-changed={root}/bbr");
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=src/host.c");
    for version in ["2", "3"] {
        c_compiler::Build::new()
            .file("src/host.c")
            .define("BBR_VERSION", version)
            // The stand-ins for <dumbbell/...> of the BPF programs.
            .include("include")
            .include(root)
            .flag("-Wno-unused-function")
            .warnings_into_errors(true)
            .opt_level(2)
            .compile(&format!("bbr{version}_host"));
    }
}
