//! Each header of the core includes what it uses: the compiler takes each one alone, so no two need each other.

use std::path::Path;
use std::process::Command;

#[test]
fn each_header_stands_alone() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bpf = here.join("../../bpf");
    // These two are the glue to the kernel.
    let glue = ["callbacks.h", "row.h"];
    let mut headers: Vec<_> = bpf.join("bbr").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    headers.retain(|path| path.extension().is_some_and(|ending| ending == "h"));
    headers.retain(|path| !glue.iter().any(|name| path.ends_with(name)));
    assert!(headers.len() > 10, "{headers:?}");
    for header in headers {
        for version in ["-DBBR_VERSION=2", "-DBBR_VERSION=3"] {
            let compiler = Command::new("cc")
                .args(["-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function", "-x", "c", version])
                .arg("-I")
                .arg(here.join("include"))
                .arg("-I")
                .arg(bpf.join("include"))
                .args(["-I", env!("GENERATED_HEADERS")])
                .arg(&header)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&compiler.stderr);
            assert!(compiler.status.success(), "{} with {version}:\n{said}", header.display());
        }
    }
}
