//! Links libelf and zlib, which libbpf calls, from their archives: the image of a ready kernel has only the libraries
//! that every machine has.

use std::env;
use std::fs::remove_file;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for archive in ["libelf.a", "libz.a"] {
        let asked = Command::new("cc").arg(format!("-print-file-name={archive}")).output().expect("cc runs");
        let found = String::from_utf8(asked.stdout).expect("a path in UTF-8");
        let found = Path::new(found.trim());
        assert!(found.is_absolute(), "the compiler knows no {archive}: install libelf-dev and zlib1g-dev");
        drop(remove_file(out.join(archive)));
        symlink(found, out.join(archive)).expect("a link in the build's folder");
    }
    // The linker takes the first library that it finds of a name, and there is no other one in this folder.
    println!("cargo:rustc-link-search=native={}", out.display());
}
