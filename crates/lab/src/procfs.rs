//! Instances of procfs that are nowhere mounted.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null;

use nix::errno::Errno;

/// Makes a new instance, and gives its root directory. None where the kernel or a container allows none.
///
/// An instance remembers the sysctls of each network namespace from which it was asked, all in one list that it searches
/// in turn: for a thousand namespaces, what is asked first from each takes a thousand times as long. A new one has an empty
/// list (fs/proc/proc_sysctl.c, since Linux 5.8).
pub(crate) fn fresh() -> Option<OwnedFd> {
    // linux/mount.h
    const FSOPEN_CLOEXEC: u32 = 1;
    const FSCONFIG_CMD_CREATE: u32 = 6;
    const FSMOUNT_CLOEXEC: u32 = 1;
    const NOSUID_NODEV_NOEXEC: u32 = 2 | 4 | 8;
    let owned = |result: i64| {
        let descriptor = Errno::result(result).ok()?;
        // SAFETY: the system call has made this descriptor.
        Some(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
    };
    // SAFETY: the name is a C string; the other pointers may be null for this command (fsconfig(2)).
    unsafe {
        let context = owned(libc::syscall(libc::SYS_fsopen, c"proc".as_ptr(), FSOPEN_CLOEXEC))?;
        let number = context.as_raw_fd();
        let (key, value) = (null::<libc::c_char>(), null::<libc::c_void>());
        Errno::result(libc::syscall(libc::SYS_fsconfig, number, FSCONFIG_CMD_CREATE, key, value, 0)).ok()?;
        owned(libc::syscall(libc::SYS_fsmount, number, FSMOUNT_CLOEXEC, NOSUID_NODEV_NOEXEC))
    }
}
