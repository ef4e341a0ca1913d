//! The settings that the guard gives the first process.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A file of texts that end with a zero byte, as all of them may have any other byte.
pub(crate) struct Settings {
    /// The run's directory, as outside.
    pub(crate) directory: PathBuf,
    /// The folder in which the command was given.
    pub(crate) folder: PathBuf,
    /// True if events report the progress of flows and links.
    pub(crate) live: bool,
    /// The command's environment.
    environment: Vec<(OsString, OsString)>,
}

impl Settings {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("{} is incomplete", file.display()))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut texts = text.strip_suffix(b"\0")?.split(|byte| *byte == 0).map(OsStr::from_bytes);
        Some(Settings {
            directory: texts.next()?.into(),
            folder: texts.next()?.into(),
            live: texts.next()? == "live",
            environment: texts.map(variable).collect::<Option<_>>()?,
        })
    }

    /// Programs of the run get the variables that they would have outside.
    pub(crate) fn take_over_environment(&self) {
        for (name, _) in env::vars_os() {
            // SAFETY: this process has one thread.
            unsafe { env::remove_var(name) };
        }
        for (name, value) in &self.environment {
            // SAFETY: as above.
            unsafe { env::set_var(name, value) };
        }
    }
}

fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..at]).into(), OsStr::from_bytes(&bytes[at + 1..]).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bytes() {
        let found = Settings::parse(b"/runs/a\xff\0/home\0live\0A=\xfe=1\0B=\0").unwrap();
        assert_eq!(found.directory.as_os_str().as_bytes(), b"/runs/a\xff");
        assert_eq!(found.folder, Path::new("/home"));
        assert!(found.live);
        let texts = found.environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        assert_eq!(texts.collect::<Vec<_>>(), [(&b"A"[..], &b"\xfe=1"[..]), (b"B", b"")]);
    }

    #[test]
    fn an_environment_may_be_empty() {
        let found = Settings::parse(b"/runs/a\0/home\0\0").unwrap();
        assert!(!found.live);
        assert!(found.environment.is_empty());
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        for text in [&b""[..], b"/runs/a", b"/runs/a\0/home\0", b"/runs/a\0/home\0live\0A"] {
            assert!(Settings::parse(text).is_none(), "{text:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        let error = Settings::read(&directory.path().join("settings")).err().unwrap();
        assert!(format!("{error:#}").contains("reading"), "{error:#}");
    }
}
