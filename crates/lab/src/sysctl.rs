//! Sysctls of the calling thread's network namespace, through `/proc/sys/net`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use messages::Failure;

/// Writes a value and reads it back: the kernel clamps some values silently.
pub fn set(key: &str, value: &str) -> Result<()> {
    let what = || format!("setting {key} = {value}");
    let path = path(key).with_context(what)?;
    // fs::write would ask for the file to be created: a missing sysctl must be reported as missing.
    let write = |path: PathBuf| OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes());
    write(path).map_err(|why| Failure::new(what(), reason(&why)).hint(hint(&why)))?;
    let kept = get(key)?;
    if kept != normalize(value) {
        return Err(Failure::new(what(), format!("the kernel keeps {kept}"))
            .hint("the kernel limits this value; write the one that it keeps")
            .into());
    }
    Ok(())
}

/// The value now, with its words one space apart.
pub fn get(key: &str) -> Result<String> {
    let text = fs::read_to_string(path(key)?)
        .map_err(|why| Failure::new(format!("reading {key}"), reason(&why)).hint(hint(&why)))?;
    Ok(normalize(&text))
}

/// True if a network namespace of this kernel has it.
pub fn is_known(key: &str) -> bool {
    path(key).is_ok_and(|path| path.exists())
}

/// Disables IPv6 on every interface to come, where the kernel has it.
pub fn disable_ipv6() -> Result<()> {
    if !Path::new("/proc/sys/net/ipv6").exists() {
        return Ok(());
    }
    set("net.ipv6.conf.all.disable_ipv6", "1")?;
    set("net.ipv6.conf.default.disable_ipv6", "1")
}

fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file of a sysctl. The first separator decides which one is used, as in sysctl(8):
/// `net/ipv4/conf/a.b/forwarding`.
fn path(key: &str) -> Result<PathBuf> {
    let separator = key.chars().find(|character| ['.', '/'].contains(character)).unwrap_or('.');
    let parts: Vec<&str> = key.split(separator).collect();
    let sound = parts.iter().all(|part| !part.is_empty() && *part != ".." && !part.contains('/'));
    if parts[0] != "net" || parts.len() < 3 || !sound {
        return Err(Failure::new(format!("sysctl {key}"), "not a sysctl of a network namespace")
            .hint("only names that start with `net.` belong to a host, e.g. net.ipv4.tcp_rmem")
            .into());
    }
    Ok(Path::new("/proc/sys").join(parts.join("/")))
}

fn reason(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => "a network namespace of this kernel has no such sysctl".to_owned(),
        io::ErrorKind::InvalidInput => "the kernel refuses this value".to_owned(),
        _ => why.to_string(),
    }
}

fn hint(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::NotFound => {
            "look for a misspelt name with `sysctl -a`; some sysctls belong to the whole machine, and a lab leaves those alone"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "this container mounts /proc/sys read-only and allows no fresh /proc: start it with \
             `--security-opt unmask=ALL` (podman), or with `--privileged`"
        }
        io::ErrorKind::PermissionDenied => "the kernel lets only root of the whole machine change it",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn names_become_files() {
        let file = |key| path(key).map(|path| path.to_str().unwrap().to_owned()).ok();
        assert_eq!(file("net.ipv4.tcp_rmem").unwrap(), "/proc/sys/net/ipv4/tcp_rmem");
        assert_eq!(file("net/ipv4/conf/a.b/forwarding").unwrap(), "/proc/sys/net/ipv4/conf/a.b/forwarding");
    }

    #[test]
    fn only_network_sysctls_are_written() {
        for key in [
            "kernel.hostname",
            "net",
            "",
            "net.",
            "net/../kernel/panic",
            "net.../kernel.panic",
            "net./x.y",
            "vm.swappiness",
        ] {
            let error = path(key).expect_err(key).to_string();
            assert!(error.contains("not a sysctl of a network namespace"), "{key}: {error}");
        }
    }
}
