//! Confines a program to some files, by Landlock: <https://docs.kernel.org/userspace-api/landlock.html>.

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr;

const READ: u64 = (1 << 2) | (1 << 3);
/// All that the first version of Landlock knows, but execution: what is started is confined as well.
const ALL: u64 = ((1 << 13) - 1) & !1;
/// Rights that a regular file can have.
const OF_FILES: u64 = (1 << 1) | (1 << 2);
const PATH_BENEATH: libc::c_int = 1;

#[repr(C)]
struct Ruleset {
    handled: u64,
}

#[repr(C, packed)]
struct Rule {
    allowed: u64,
    parent: libc::c_int,
}

/// Where programs and their libraries lie, and what the loader of programs reads.
const SYSTEM: [&str; 9] =
    ["/usr", "/lib", "/lib64", "/bin", "/opt", "/nix/store", "/gnu/store", "/etc/ld.so.cache", "/dev/null"];

/// Confines what `command` starts to the system's programs and libraries, and to `folder`, which it may change. Kernels
/// without Landlock don't hold it to that.
///
/// # Errors
/// The kernel refuses a rule.
pub fn confine(command: &mut Command, folder: &Path) -> io::Result<()> {
    if let Some(confinement) = Confinement::new() {
        confinement.read_system()?;
        confinement.write(folder)?;
        confinement.apply(command);
    }
    Ok(())
}

/// The files that a program may open.
pub(crate) struct Confinement(OwnedFd);

impl Confinement {
    /// Allows no file; `None` if this kernel lacks Landlock.
    pub(crate) fn new() -> Option<Confinement> {
        let ruleset = Ruleset { handled: ALL };
        // SAFETY: the kernel reads as many bytes as the structure has, which lives until the call has ended.
        let found = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, ptr::from_ref(&ruleset), size_of::<Ruleset>(), 0)
        };
        let descriptor = libc::c_int::try_from(found).ok().filter(|&found| found >= 0)?;
        // SAFETY: the kernel has just made it for us alone; it is closed on exec.
        Some(Confinement(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Allows to read a file, or all below a folder. What isn't there, or cannot be opened, stays forbidden.
    pub(crate) fn read(&self, path: &Path) -> io::Result<()> {
        self.allow(path, READ)
    }

    /// Allows to read what programs of the system need.
    pub(crate) fn read_system(&self) -> io::Result<()> {
        SYSTEM.iter().try_for_each(|path| self.read(Path::new(path)))
    }

    /// Allows all but execution below a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        self.allow(folder, ALL)
    }

    fn allow(&self, path: &Path, rights: u64) -> io::Result<()> {
        let Ok(file) = File::options().read(true).custom_flags(libc::O_PATH).open(path) else { return Ok(()) };
        let allowed = if file.metadata()?.is_dir() { rights } else { rights & OF_FILES };
        let rule = Rule { allowed, parent: file.as_raw_fd() };
        let (ruleset, rule) = (self.0.as_raw_fd(), ptr::from_ref(&rule));
        // SAFETY: the kernel reads a structure of this type, which lives until the call has ended.
        match unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, rule, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Confines what `command` starts.
    pub(crate) fn apply(self, command: &mut Command) {
        let confine = move || {
            // SAFETY: system calls without pointers.
            let done = unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                    && libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0) == 0
            };
            if done { Ok(()) } else { Err(io::Error::last_os_error()) }
        };
        // SAFETY: between fork and exec it makes system calls alone: it neither allocates nor takes a lock.
        unsafe { command.pre_exec(confine) };
    }
}
