//! Compiling a user's own algorithm.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use messages::Failure;
use serde::Serialize;

use crate::bundled;
use crate::confine::Confinement;
use crate::helper::run_helper;

/// The compiler's output.
#[derive(Clone, Debug, Serialize)]
pub struct Build {
    /// An object was written.
    pub ok: bool,
    /// Its name and version.
    pub compiler: String,
    /// The compiler's messages in its order.
    pub diagnostics: Vec<Diagnostic>,
    /// The whole output, with the lines of the source.
    pub text: String,
}

/// An error, a warning, or a note to one of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The file's name in the source: relative to the source's directory.
    pub file: String,
    /// The line of the file, from 1.
    pub line: u32,
    /// The column of the line, from 1.
    pub column: u32,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The text of the message.
    pub message: String,
}

/// Writes the headers that algorithms include to `directory`.
pub fn write_headers(directory: &Path) -> Result<()> {
    for (name, text) in bundled::headers() {
        let path = directory.join(name);
        let parent = path.parent().expect("a name below the directory");
        fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

/// Compiles `source` to `out`, with our headers, within limits of time and memory. The object doesn't depend on where they lie.
///
/// The compiler opens what lies beside the source and below, unless its name begins with a dot, and system's files: the text
/// may be a stranger's, and `#include` and `.incbin` take what they can open. Kernels without Landlock don't hold it to that.
pub fn build(source: &Path, out: &Path) -> Result<Build> {
    let source = source.canonicalize().with_context(|| format!("reading {}", source.display()))?;
    let (dir, file) = (source.parent().context("a file in a directory")?, source.file_name().context("a file")?);
    let out = std::path::absolute(out)?;
    let scratch = Scratch::make()?;
    let (headers, object) = (scratch.0.join("include"), scratch.0.join("object"));
    write_headers(&headers)?;
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command.args(["-target", "bpf", "-O2", "-g", "-mcpu=v3", "-Wall", "-fno-color-diagnostics", "-c"]);
    // Whoever wrote the text may have meant it to crash: no copies of it in the machine's temporary directory.
    command.arg("-fno-crash-diagnostics");
    command.arg("-fdebug-compilation-dir=.").arg(prefix_map(&headers, "dumbbell"));
    command.arg("-I").arg(&headers);
    // Debian keeps <asm/types.h> there, which <linux/bpf.h> includes; clang doesn't look there for the target bpf.
    command.arg("-idirafter").arg(format!("/usr/include/{}-linux-gnu", env::consts::ARCH));
    // The file's name alone appears in messages and in the verifier's log.
    command.arg(file).arg("-o").arg(&object).current_dir(dir);
    if let Some(confinement) = Confinement::new() {
        allow(&confinement, &clang, dir, &scratch.0).context("confining the compiler")?;
        confinement.apply(&mut command);
        command.env("TMPDIR", &scratch.0);
    }
    let ended = run_helper(&mut command).map_err(|error| missing(&clang, &error))?;
    let _ = fs::remove_file(&out); // What was there is of another source.
    if ended.ok {
        fs::copy(&object, &out).with_context(|| format!("writing {}", out.display()))?;
    }
    let text = ended.said.replace(&format!("{}/", headers.display()), "");
    let diagnostics = text.lines().filter_map(diagnostic).collect();
    Ok(Build { ok: ended.ok, compiler: version(&clang), diagnostics, text })
}

/// Allows what a compiler needs for a source in `dir`.
fn allow(confinement: &Confinement, clang: &OsString, dir: &Path, scratch: &Path) -> io::Result<()> {
    confinement.read_system()?;
    // A compiler in a user's own directory has its libraries beside it.
    let folders = env::var_os("PATH").unwrap_or_default();
    let known = env::split_paths(&folders).map(|folder| folder.join(clang)).find(|path| path.is_file());
    let home = known.and_then(|path| path.canonicalize().ok());
    if let Some((bin, home)) = home.as_deref().and_then(|path| Some((path.parent()?, path.parent()?.parent()?))) {
        confinement.read(bin)?;
        ["lib", "lib64", "include"].iter().try_for_each(|name| confinement.read(&home.join(name)))?;
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") && !entry.file_type()?.is_symlink() {
            confinement.read(&entry.path())?;
        }
    }
    confinement.write(scratch)
}

fn missing(clang: &OsString, error: &io::Error) -> Failure {
    let clang = clang.to_string_lossy();
    Failure::new(format!("starting the compiler {clang}"), error)
        .hint("BPF programs are compiled by clang 14 or later: apt-get install clang, or set CLANG to another")
}

fn prefix_map(from: &Path, to: &str) -> OsString {
    let mut option = OsString::from("-ffile-prefix-map=");
    option.push(from);
    option.push(format!("={to}"));
    option
}

fn version(clang: &OsString) -> String {
    let text = run_helper(Command::new(clang).arg("--version")).map(|ended| ended.said).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// `file:line:column: severity: message`
fn diagnostic(text: &str) -> Option<Diagnostic> {
    let (place, rest) = ["error", "warning", "note"].iter().find_map(|severity| {
        let sign = format!(": {severity}: ");
        // `fatal error: ` ends like `error: `.
        let (place, message) = text.split_once(&sign).or_else(|| text.split_once(&format!(": fatal {severity}: ")))?;
        Some((place, (severity, message)))
    })?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    let (severity, message) = (rest.0.to_string(), rest.1.to_owned());
    Some(Diagnostic { file: parts.next()?.to_owned(), line, column, severity, message })
}

/// A directory for our headers and the object, as long as a compiler needs it.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Scratch> {
        let template = env::temp_dir().join("dumbbell-headers-XXXXXX");
        Ok(Scratch(nix::unistd::mkdtemp(&template).context("making a directory for headers")?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#include <dumbbell/congestion_control.h>\n\
        static __u32 keep(struct sock *sk) { return tcp_sk(sk)->snd_cwnd; }\n\
        static void grow(struct sock *sk, __u32 ack, __u32 acked) { }\n\
        CONGESTION_CONTROL(calm, (ssthresh, keep), (undo_cwnd, keep), (cong_avoid, grow));\n\
        char LICENSE[] SEC(\"license\") = \"GPL\";\n";

    fn compiled(dir: &Path, text: &str) -> (Build, Vec<u8>) {
        fs::create_dir_all(dir).unwrap();
        let (source, out) = (dir.join("calm.bpf.c"), dir.join("calm.bpf.o"));
        fs::write(&source, text).unwrap();
        let build = build(&source, &out).unwrap();
        (build, fs::read(&out).unwrap_or_default())
    }

    #[test]
    fn an_object_does_not_depend_on_where_it_is_compiled() {
        let dir = tempfile::tempdir().unwrap();
        let (first, object) = compiled(&dir.path().join("one"), SOURCE);
        let (_, again) = compiled(&dir.path().join("somewhere/else"), SOURCE);
        assert!(first.ok && first.compiler.contains("clang"), "{}", first.text);
        assert!(first.diagnostics.is_empty() && !object.is_empty(), "{}", first.text);
        assert!(object == again, "the objects differ");
    }

    #[test]
    fn a_text_that_grows_without_end_is_refused_with_its_cause() {
        let dir = tempfile::tempdir().unwrap();
        let double = |n: u32| format!("#define A{}(x) A{n}(A{n}(x))\n", n + 1);
        let text: String =
            ["#define A0(x) x x x x x x x x\n".to_owned()].into_iter().chain((0..6).map(double)).collect();
        let (build, object) = compiled(dir.path(), &format!("{text}int a = A6(1 +) 0;\n"));
        assert!(!build.ok && object.is_empty());
        assert!(build.text.starts_with("clang was stopped: it took more than "), "{}", build.text);
    }

    #[test]
    fn a_text_takes_no_file_from_elsewhere() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = elsewhere.path().join("secret");
        fs::write(&secret, "int known = 4711;\n").unwrap();
        fs::write(dir.path().join("beside.h"), "int beside = 815;\n").unwrap();
        fs::write(dir.path().join(".hidden"), "int known = 4711;\n").unwrap();
        std::os::unix::fs::symlink(&secret, dir.path().join("link.h")).unwrap();
        let (build, _) = compiled(dir.path(), &format!("#include \"beside.h\"\n{SOURCE}"));
        assert!(build.ok, "{}", build.text);
        for path in [secret.to_str().unwrap(), ".hidden", "link.h", "/proc/self/environ", "/etc/passwd"] {
            for line in [format!("#include \"{path}\""), format!("asm(\".inc\" \"bin \\\"{path}\\\"\");")] {
                let (build, object) = compiled(dir.path(), &format!("{line}\n{SOURCE}"));
                assert!(!build.ok && object.is_empty(), "{line}");
                assert!(!build.text.contains("4711"), "{}", build.text);
            }
        }
    }

    #[test]
    fn errors_have_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let (build, _) = compiled(dir.path(), &SOURCE.replace("->snd_cwnd;", "->no_such_field;"));
        assert!(!build.ok);
        let error = &build.diagnostics[0];
        assert_eq!((error.file.as_str(), error.line, error.severity.as_str()), ("calm.bpf.c", 2, "error"));
        assert!(error.message.contains("no_such_field"), "{error:?}");
    }

    #[test]
    fn lines_of_the_compiler_are_told_apart() {
        let error = diagnostic("a:b.c:3:14: fatal error: 'x.h' file not found").unwrap();
        assert_eq!((error.file.as_str(), error.line, error.column), ("a:b.c", 3, 14));
        assert_eq!((error.severity.as_str(), error.message.as_str()), ("error", "'x.h' file not found"));
        assert_eq!(diagnostic("    x = y: error: 3"), None);
        assert_eq!(diagnostic("1 error generated."), None);
    }
}
