//! Compiles the bundled algorithms and embeds them: objects, hashes of their sources, and the headers that a user's own
//! algorithm includes.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use manifests::{Declared, Manifest};
use sha2::{Digest, Sha256};

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    let libbpf = PathBuf::from(env::var_os("DEP_BPF_INCLUDE").expect("set by libbpf-sys"));
    let root = crate_dir.join("../../bpf").canonicalize().expect("the directory bpf beside crates");
    println!("cargo:rerun-if-changed={}", root.display());
    println!("cargo:rerun-if-changed={}", crate_dir.join("tests/objects").display());
    println!("cargo:rerun-if-env-changed=CLANG");

    let declared = manifests::read(&root).expect("manifests of the algorithms");
    let generated = out.join("include");
    manifests::write_headers(&declared, &generated).expect("writing headers");
    let Declared { manifests, states } = declared;
    let states = manifests::state_header(&states);

    let mut code = String::new();
    let build = Build { root: &root, generated: &generated, libbpf: &libbpf };
    writeln!(code, "static OBJECTS: &[Bundled] = &[").unwrap();
    for manifest in &manifests {
        let (Some(source), Some(label)) = (&manifest.program, manifest.label()) else { continue };
        let object = build.compile(source, &out);
        let path = source.strip_prefix(&root).expect("found under it").display().to_string();
        let hash = build.hash(source, manifest, &states);
        let parameters: Vec<_> = manifest.parameters.iter().map(|one| (&one.name, &one.meaning, one.limits)).collect();
        writeln!(
            code,
            "    Bundled {{ label: {label:?}, path: {path:?}, sha256: {hash:?}, object: include_bytes!({object:?}), \
             parameters: &{parameters:?} }},",
        )
        .unwrap();
    }
    writeln!(code, "];\n").unwrap();
    let probe = build.compile(&root.join("probe/probe.bpf.c"), &out);
    writeln!(code, "static PROBE: &[u8] = include_bytes!({probe:?});\n").unwrap();

    // The headers that the compiler finds when it compiles a user's own algorithm.
    writeln!(code, "static HEADERS: &[(&str, &str)] = &[").unwrap();
    let with_parameters = manifests.iter().filter(|manifest| !manifest.parameters.is_empty());
    let algorithms = with_parameters.map(|manifest| format!("algorithms/{}", manifest.name));
    let algorithms = algorithms.map(|prefix| (generated.join(&prefix), prefix));
    let dumbbell = [root.join("include/dumbbell"), generated.join("dumbbell")].map(|dir| (dir, "dumbbell".to_owned()));
    for (dir, prefix) in dumbbell.into_iter().chain(algorithms).chain([(libbpf.join("bpf"), "bpf".to_owned())]) {
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
        build.compile(&source, &tests);
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

/// The directories of a compilation.
struct Build<'a> {
    /// The directory `bpf`.
    root: &'a Path,
    /// The directory of the headers made from the manifests.
    generated: &'a Path,
    /// The directory of libbpf's headers.
    libbpf: &'a Path,
}

impl Build<'_> {
    /// The object file.
    fn compile(&self, source: &Path, out: &Path) -> PathBuf {
        let file = source.file_name().expect("a file").to_string_lossy();
        let name = file.strip_suffix(".bpf.c").expect("found by it");
        let object = out.join(format!("{name}.bpf.o"));
        let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
        let mut command = Command::new(&clang);
        command.args(["-target", "bpf", "-O2", "-g", "-mcpu=v3", "-Wall", "-Werror", "-c"]);
        // Objects must not depend on where they are compiled: the names of algorithms hang on their bytes.
        command.arg(format!("-ffile-prefix-map={}=bpf", self.root.display()));
        command.arg(format!("-ffile-prefix-map={}=libbpf", self.libbpf.display()));
        command.arg(format!("-ffile-prefix-map={}=generated", self.generated.display()));
        command.arg("-fdebug-compilation-dir=.");
        command.arg("-I").arg(self.generated);
        command.arg("-I").arg(self.root.join("include")).arg("-I").arg(self.root).arg("-I").arg(self.libbpf);
        // Debian keeps <asm/types.h> there, which <linux/bpf.h> includes; clang doesn't look there for the target bpf.
        let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
        command.arg("-idirafter").arg(format!("/usr/include/{arch}-linux-gnu"));
        command.arg(source).arg("-o").arg(&object);
        match command.status() {
            Ok(status) if status.success() => object,
            Ok(_) => panic!("{clang} refuses {}: see above", source.display()),
            Err(error) => panic!(
                "{clang} can't be started ({error}). It compiles the congestion controls in bpf/. Install clang 14 or later \
             (`tools/install build` does on Debian), or set CLANG."
            ),
        }
    }

    /// The hash of a source, its parameters, the states that algorithms publish, and all headers of ours, which it may include.
    fn hash(&self, source: &Path, manifest: &Manifest, states: &str) -> String {
        let mut all = shared(source);
        all.extend(headers(&self.root.join("include/dumbbell")));
        let mut hash = Sha256::new();
        for file in all {
            hash.update(fs::read(&file).expect("a readable source"));
        }
        hash.update(manifests::header(manifest));
        hash.update(states);
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
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
