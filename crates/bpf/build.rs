//! Compiles the bundled algorithms and embeds them: objects, hashes of their sources, and the headers that a user's own
//! algorithm includes.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let libbpf = PathBuf::from(env::var_os("DEP_BPF_INCLUDE").expect("set by libbpf-sys"));
    let root = crate_dir.join("../../bpf").canonicalize().expect("the directory bpf beside crates");
    println!("cargo:rerun-if-changed={}", root.display());
    println!("cargo:rerun-if-changed={}", crate_dir.join("tests/objects").display());
    println!("cargo:rerun-if-env-changed=CLANG");

    let mut code = String::new();
    let mut bundled: Vec<PathBuf> =
        folders(&root.join("algorithms")).iter().flat_map(|folder| sources(folder)).collect();
    bundled.extend(sources(&root.join("probe")));
    writeln!(code, "static OBJECTS: &[Bundled] = &[").unwrap();
    for source in &bundled {
        let (name, object) = compile(source, &root, &libbpf, &out);
        let label = match name.as_str() {
            // The kernel has algorithms of these names; a record must not mix them up.
            "reno" | "cubic" | "dctcp" => format!("bpf_{name}"),
            _ => name,
        };
        let path = source.strip_prefix(&root).expect("found under it").display();
        writeln!(
            code,
            "    Bundled {{ label: {label:?}, path: {:?}, sha256: {:?}, object: include_bytes!({:?}), docs: &{:?} }},",
            path.to_string(),
            hash(source, &root),
            object,
            docs(source)
        )
        .unwrap();
    }
    writeln!(code, "];\n").unwrap();

    // What `#include <dumbbell/...>` and `#include <bpf/...>` find when a user's own algorithm is compiled.
    writeln!(code, "static HEADERS: &[(&str, &str)] = &[").unwrap();
    for (prefix, dir) in [("dumbbell", root.join("include/dumbbell")), ("bpf", libbpf.join("bpf"))] {
        for header in headers(&dir) {
            let name = header.file_name().expect("a file").to_string_lossy().into_owned();
            if prefix == "bpf" && !name.starts_with("bpf_") {
                continue;
            }
            writeln!(code, "    ({:?}, include_str!({header:?})),", format!("{prefix}/{name}")).unwrap();
        }
    }
    writeln!(code, "];").unwrap();
    fs::write(out.join("bundled.rs"), code).expect("writing bundled.rs");

    // Objects that only tests load, at TEST_OBJECTS/<name>.bpf.o.
    let tests = out.join("tests");
    fs::create_dir_all(&tests).expect("making a directory");
    for source in sources(&crate_dir.join("tests/objects")).into_iter().chain(sources(&root.join("tests"))) {
        compile(&source, &root, &libbpf, &tests);
    }
    println!("cargo:rustc-env=TEST_OBJECTS={}", tests.display());
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    files(dir, ".bpf.c")
}

fn headers(dir: &Path) -> Vec<PathBuf> {
    files(dir, ".h")
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable directory").path()).collect();
    found.retain(|path| path.to_string_lossy().ends_with(ending));
    found.sort();
    found
}

/// The folders in a folder, by name.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let mut found = files(dir, "");
    found.retain(|path| path.is_dir());
    found
}

/// The name and the object file.
fn compile(source: &Path, root: &Path, libbpf: &Path, out: &Path) -> (String, PathBuf) {
    let file = source.file_name().expect("a file").to_string_lossy();
    let name = file.strip_suffix(".bpf.c").expect("found by it").to_owned();
    let object = out.join(format!("{name}.bpf.o"));
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-O2", "-g", "-mcpu=v3", "-Wall", "-Werror", "-c"]);
    // Objects must not depend on where they are compiled: the names of algorithms hang on their bytes.
    command.arg(format!("-ffile-prefix-map={}=bpf", root.display()));
    command.arg(format!("-ffile-prefix-map={}=libbpf", libbpf.display()));
    command.arg("-fdebug-compilation-dir=.");
    command.arg("-I").arg(root.join("include")).arg("-I").arg(libbpf);
    // Where Debian keeps <asm/types.h>, which <linux/bpf.h> includes; clang doesn't look there for the target bpf.
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    command.arg("-idirafter").arg(format!("/usr/include/{arch}-linux-gnu"));
    command.arg(source).arg("-o").arg(&object);
    match command.status() {
        Ok(status) if status.success() => (name, object),
        Ok(_) => panic!("{clang} refuses {}: see above", source.display()),
        Err(error) => panic!(
            "{clang} can't be started ({error}). It compiles the congestion controls in bpf/. Install clang 14 or later \
             (`tools/install build` does on Debian), or set CLANG."
        ),
    }
}

/// What a source and the headers beside it say about parameters: `const volatile` globals, and the members of structures
/// called `..._parameters`, each with a comment behind it.
fn docs(source: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in shared(source) {
        let text = fs::read_to_string(&file).expect("a readable source");
        let mut inside = false;
        for (at, line) in text.lines().map(|line| (line.as_ptr().addr() - text.as_ptr().addr(), line)) {
            if line.starts_with("struct ") && line.ends_with("_parameters {") {
                inside = true;
            } else if line.starts_with('}') {
                inside = false;
            }
            if !inside && !line.trim_start().starts_with("const volatile ") {
                continue;
            }
            // The comment may go on behind the line.
            let Some((declaration, rest)) = text[at..].split_once(';') else { continue };
            let Some((comment, _)) = rest.trim_start().strip_prefix("/*").and_then(|rest| rest.split_once("*/")) else {
                continue;
            };
            let name = declaration.split('=').next().unwrap_or_default().trim_end();
            let name = name.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
            let words: Vec<&str> = comment.split_whitespace().filter(|word| *word != "*").collect();
            found.push((name.to_owned(), words.join(" ")));
        }
    }
    found
}

/// A source and the headers that it shares with others: those of the directory of each `"../../<directory>/..."` that it
/// includes.
fn shared(source: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(source).expect("a readable source");
    let included = text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    let folder = source.parent().expect("in a directory");
    let mut found = vec![source.to_owned()];
    found.extend(included.flat_map(|header| headers(folder.join(header).parent().expect("in a directory"))));
    found
}

/// Of a source and of all headers of ours, which it may include.
fn hash(source: &Path, root: &Path) -> String {
    let mut all = shared(source);
    all.extend(headers(&root.join("include/dumbbell")));
    let mut hash = Sha256::new();
    for file in all {
        hash.update(fs::read(&file).expect("a readable source"));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
