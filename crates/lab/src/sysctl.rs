//! Sysctls of the calling thread's network namespace, through `/proc/sys/net`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result};
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;

use messages::Failure;

/// The sysctls of the network namespace in which the calling thread was when they were first asked for.
///
/// Each namespace has directories of its own in one place, `sys/net`. They are looked up once: that is slow for many
/// namespaces, see [`procfs::fresh`](crate::procfs::fresh).
#[derive(Default)]
pub struct Sysctls<'a> {
    /// The root of the procfs that is asked; none: `/proc`.
    procfs: Option<BorrowedFd<'a>>,
    directories: Vec<(String, OwnedFd)>,
}

impl<'a> Sysctls<'a> {
    /// Returns the settings that another procfs than `/proc` shows.
    pub fn shown_by(procfs: Option<BorrowedFd<'a>>) -> Sysctls<'a> {
        Sysctls { procfs, directories: Vec::new() }
    }

    /// Writes a value and reads it back: the kernel clamps some values silently.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let what = || format!("setting {key} = {value}");
        let parts = parts(key).with_context(what)?;
        let failed = |why: io::Error| Failure::new(what(), reason(&why)).hint(hint(&why));
        let file = self.open(&parts, OFlag::O_RDWR).map_err(failed)?;
        file.write_all_at(value.as_bytes(), 0).map_err(failed)?;
        let kept = read(&file).map_err(|why| Failure::new(format!("reading {key}"), reason(&why)))?;
        if kept != normalize(value) {
            return Err(Failure::new(what(), format!("the kernel keeps {kept}"))
                .hint("the kernel limits this value; write the one that it keeps")
                .into());
        }
        Ok(())
    }

    /// The value now, with its words one space apart.
    pub fn get(&mut self, key: &str) -> Result<String> {
        let found = self.open(&parts(key)?, OFlag::O_RDONLY).and_then(|file| read(&file));
        Ok(found.map_err(|why| Failure::new(format!("reading {key}"), reason(&why)).hint(hint(&why)))?)
    }

    /// True if a network namespace of this kernel has it.
    pub fn is_known(&mut self, key: &str) -> bool {
        parts(key).is_ok_and(|parts| self.open(&parts, OFlag::O_PATH).is_ok())
    }

    /// Disables IPv6 on every interface to come, where the kernel has it.
    pub fn disable_ipv6(&mut self) -> Result<()> {
        if self.directory("ipv6").is_err() {
            return Ok(());
        }
        self.set("net.ipv6.conf.all.disable_ipv6", "1")?;
        self.set("net.ipv6.conf.default.disable_ipv6", "1")
    }

    /// A missing sysctl is reported as missing: no file is made.
    fn open(&mut self, parts: &[&str], how: OFlag) -> io::Result<File> {
        let directory = self.directory(parts[1])?;
        Ok(openat(directory, &*parts[2..].join("/"), how | OFlag::O_CLOEXEC, Mode::empty())?.into())
    }

    /// `sys/net/NAME`.
    fn directory(&mut self, name: &str) -> io::Result<BorrowedFd<'_>> {
        let known = match self.directories.iter().position(|(known, _)| known == name) {
            Some(known) => known,
            None => {
                let path = format!("sys/net/{name}");
                let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
                let opened = match self.procfs {
                    Some(procfs) => openat(procfs, &*path, flags, Mode::empty())?,
                    None => open(&*format!("/proc/{path}"), flags, Mode::empty())?,
                };
                self.directories.push((name.to_owned(), opened));
                self.directories.len() - 1
            }
        };
        Ok(self.directories[known].1.as_fd())
    }
}

fn read(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 4096];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(normalize(&String::from_utf8_lossy(&bytes[..length])))
}

fn normalize(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a sysctl's name. The first separator decides which one is used, as in sysctl(8):
/// `net/ipv4/conf/a.b/forwarding`.
fn parts(key: &str) -> Result<Vec<&str>> {
    let separator = key.chars().find(|character| ['.', '/'].contains(character)).unwrap_or('.');
    let parts: Vec<&str> = key.split(separator).collect();
    let sound = parts.iter().all(|part| !part.is_empty() && *part != ".." && !part.contains('/'));
    if parts[0] != "net" || parts.len() < 3 || !sound {
        return Err(Failure::new(format!("sysctl {key}"), "not a sysctl of a network namespace")
            .hint("only names that start with `net.` belong to a host, e.g. net.ipv4.tcp_rmem")
            .into());
    }
    Ok(parts)
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
    use super::parts;

    #[test]
    fn the_first_separator_parts_a_name() {
        assert_eq!(parts("net.ipv4.tcp_rmem").unwrap(), ["net", "ipv4", "tcp_rmem"]);
        assert_eq!(parts("net/ipv4/conf/a.b/forwarding").unwrap(), ["net", "ipv4", "conf", "a.b", "forwarding"]);
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
            let error = parts(key).expect_err(key).to_string();
            assert!(error.contains("not a sysctl of a network namespace"), "{key}: {error}");
        }
    }
}
