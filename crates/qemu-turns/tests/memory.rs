//! A program that maps the memory of a snapshot as QEMU does, and loads the library into itself.

use std::env;
use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::{self, Command};
use std::ptr;
use std::slice;

const MIB: usize = 1 << 20;
const LENGTH: usize = 8 * MIB;
/// Where the file has data: the hole between is larger than a huge page, the one behind it is not.
const DATA: [usize; 2] = [0, 6 * MIB + MIB / 2];
const PAGE: usize = 4096;
/// The descriptor of the file, in decimal digits.
const HELD: &str = "HELD";

/// Map the file that the parent holds, and write to all of it. Returns the bytes that are not the file's.
fn map(held: &str) -> usize {
    let path = CString::new(format!("/proc/self/fd/{held}")).unwrap();
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open64(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    assert!(file >= 0);
    // SAFETY: it only asks.
    assert_eq!(unsafe { libc::fcntl(file, libc::F_GETFL) } & libc::O_ACCMODE, libc::O_RDONLY);
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, of which nobody knows.
    let memory = unsafe {
        let start = libc::mmap64(ptr::null_mut(), LENGTH, access, libc::MAP_PRIVATE, file, 0);
        assert_ne!(start, libc::MAP_FAILED);
        slice::from_raw_parts_mut(start.cast::<u8>(), LENGTH)
    };
    for (at, page) in (0..).step_by(PAGE).zip(memory.chunks(PAGE)) {
        let expected = if DATA.contains(&at) { 7 } else { 0 };
        assert!(page.iter().all(|&byte| byte == expected), "the page at {at}");
    }
    let anonymous = anonymous(memory.as_ptr().addr());
    memory.fill(9);
    anonymous
}

/// Bytes of mappings from `start` on that belong to no file (proc_pid_maps(5)).
fn anonymous(start: usize) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (from, to) = words[0].split_once('-')?;
        let [from, to] = [from, to].map(|digits| usize::from_str_radix(digits, 16).unwrap());
        let (from, to) = (from.max(start), to.min(start + LENGTH));
        (words[4] == "0" && from < to).then(|| to - from)
    };
    maps.lines().filter_map(of).sum()
}

fn main() {
    if let Ok(held) = env::var(HELD) {
        let anonymous = map(&held);
        assert!((5 * MIB..=DATA[1]).contains(&anonymous), "{anonymous} bytes are not the file's");
        return;
    }
    let path = env::temp_dir().join(format!("memory-of-a-machine-{}", process::id()));
    let file = File::create(&path).unwrap();
    file.set_len(LENGTH as u64).unwrap();
    DATA.iter().for_each(|&at| file.write_all_at(&[7; PAGE], at as u64).unwrap());
    let held = File::open(&path).unwrap();
    // SAFETY: the child inherits it.
    assert_eq!(unsafe { libc::fcntl(held.as_raw_fd(), libc::F_SETFD, 0) }, 0);
    let own = env::current_exe().unwrap();
    let library = own.ancestors().map(|folder| folder.join("libqemu_turns.so")).find(|there| there.exists());
    let mut command = Command::new(&own);
    command.env("LD_PRELOAD", library.expect("the library is built")).env(HELD, held.as_raw_fd().to_string());
    let status = command.status().unwrap();
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(status.success());
    assert!(whole.iter().all(|&byte| byte != 9), "what a machine writes is its own");
    println!("memory: ok");
}
