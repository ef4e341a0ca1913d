//! Time and chance of simulated flows.
//!
//! Stacks ask libc for random bytes, and some for the time. Here are the functions of libc that answer: while this thread
//! simulates, by the simulation's own time and by a seed; else as libc does. The program's own functions take the place
//! of libc's in all that is linked to it.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_long, c_uint, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};
use std::time::Instant;

use libc::{clockid_t, timespec};
use units::Time;

/// `CLOCK_MONOTONIC` at time 0, seconds: later than any time that a stack looks back.
const MONOTONIC_S: i64 = 1 << 20;
/// Date at time 0, seconds since 1970: 1 January 2026. Certificates and tokens are checked against dates.
const DATE_S: i64 = 1_767_225_600;
const NS_PER_S: i64 = 1_000_000_000;

thread_local! {
    /// Time of the simulation while a stack works, ns.
    static NOW: Cell<Option<i64>> = const { Cell::new(None) };
    /// Seed, and numbers drawn from it.
    static CHANCE: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Seeds the random numbers of this thread, if they are not seeded yet.
pub fn seed(seed: u64) {
    CHANCE.set(CHANCE.get().or(Some((seed, 0))));
}

/// Lets a stack work at a time of the simulation, of which it gets the instant.
pub fn at<T>(now: Time, work: impl FnOnce(Instant) -> T) -> T {
    struct Until;
    impl Drop for Until {
        fn drop(&mut self) {
            NOW.set(None);
        }
    }
    NOW.set(Some(now.as_nanos()));
    let _until = Until;
    work(Instant::now())
}

/// Instants of a simulation's times.
#[derive(Clone, Copy, Debug)]
pub struct Instants {
    zero: Instant,
}

impl Instants {
    /// Times of every simulation have the same instants.
    pub fn new() -> Instants {
        Instants { zero: at(Time::ZERO, |zero| zero) }
    }

    /// Time of an instant; that of an instant before time 0 is 0.
    pub fn time(self, at: Instant) -> Time {
        Time(i64::try_from(at.saturating_duration_since(self.zero).as_nanos()).unwrap_or(i64::MAX))
    }
}

/// Returns the function of libc with this name.
fn of_libc(name: &CStr, known: &AtomicPtr<c_void>) -> *mut c_void {
    let mut function = known.load(Relaxed);
    if function.is_null() {
        // SAFETY: `name` ends with a zero.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        assert!(!function.is_null(), "libc has no such function");
        known.store(function, Relaxed);
    }
    function
}

/// Fills a buffer with random bytes of the simulation. Returns false if this thread has none.
///
/// # Safety
/// The buffer has room for as many bytes.
unsafe fn fill(buffer: *mut c_void, bytes: usize) -> bool {
    let Some((seed, mut drawn)) = CHANCE.get() else { return false };
    for at in (0..bytes).step_by(8) {
        let eight = link::mix(seed ^ link::mix(drawn)).to_le_bytes();
        drawn += 1;
        // SAFETY: as above.
        unsafe { buffer.cast::<u8>().add(at).copy_from_nonoverlapping(eight.as_ptr(), (bytes - at).min(8)) };
    }
    CHANCE.set(Some((seed, drawn)));
    true
}

/// Random bytes (`getrandom(2)`).
///
/// # Safety
/// The buffer has room for `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, bytes: usize, flags: c_uint) -> isize {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Function = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;
    // SAFETY: the caller's buffer; the function is libc's of this name, which has this type.
    unsafe {
        if fill(buffer, bytes) {
            return bytes as isize;
        }
        transmute::<*mut c_void, Function>(of_libc(c"getrandom", &REAL))(buffer, bytes, flags)
    }
}

/// The time (`clock_gettime(2)`).
///
/// # Safety
/// `time` points to room for a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Function = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
    if let Some(now) = NOW.get() {
        let zero =
            if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) { DATE_S } else { MONOTONIC_S };
        // SAFETY: the caller's room.
        unsafe { time.write(timespec { tv_sec: zero + now / NS_PER_S, tv_nsec: now % NS_PER_S }) };
        return 0;
    }
    // SAFETY: the caller's room; the function is libc's of this name, which has this type.
    unsafe { transmute::<*mut c_void, Function>(of_libc(c"clock_gettime", &REAL))(clock, time) }
}

/// A system call: ring and BoringSSL ask for random bytes by it.
///
/// # Safety
/// Arguments are those of the call. This function takes as many as any call has, as libc's does on this architecture.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Function = unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
    // SAFETY: the caller's arguments; the function is libc's of this name, which reads the same registers.
    unsafe {
        if number == libc::SYS_getrandom && fill(a as *mut c_void, b as usize) {
            return b;
        }
        transmute::<*mut c_void, Function>(of_libc(c"syscall", &REAL))(number, a, b, c, d, e, f)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_stack_sees_the_time_of_the_simulation_and_nothing_else_does() {
        let before = Instant::now();
        let instants = Instants::new();
        let (outer, inner) = at(Time(5_000_000_000), |now| (now, Instant::now() + Duration::from_nanos(7)));
        assert_eq!((instants.time(outer), instants.time(inner)), (Time(5_000_000_000), Time(5_000_000_007)));
        assert!(Instant::now() >= before && before.elapsed() < Duration::from_secs(60), "real time goes on");
    }

    #[test]
    fn random_bytes_come_from_the_seed_by_all_ways() {
        let draw = |of: Option<u64>| {
            std::thread::spawn(move || {
                of.into_iter().for_each(seed);
                let mut bytes = [[0u8; 12]; 2];
                // SAFETY: each buffer has 12 bytes.
                unsafe {
                    libc::getrandom(bytes[0].as_mut_ptr().cast(), 12, 0);
                    libc::syscall(libc::SYS_getrandom, bytes[1].as_mut_ptr(), 12usize, 0);
                }
                (bytes, rand::random::<u64>())
            })
            .join()
            .unwrap()
        };
        assert_eq!(draw(Some(1)), draw(Some(1)));
        assert_ne!(draw(Some(1)), draw(Some(2)));
        assert_ne!(draw(None), draw(None), "without a seed they are the kernel's");
    }
}
