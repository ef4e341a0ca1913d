//! How JavaScript calls a [`Machine`]: by numbers, and by pointers into the module's memory.
//!
//! Texts go in through memory that [`alloc`] gives, and come out as the answer, at [`answer`]. Times are nanoseconds as
//! doubles, which are exact for a hundred days.

use std::alloc::{Layout, alloc as allocate, dealloc};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use messages::Failure;
use serde::Serialize;

use crate::{Asked, Machine};

static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();

/// A panic leaves it as it was.
fn last() -> MutexGuard<'static, Vec<u8>> {
    ANSWER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn say(answer: &impl Serialize) {
    *last() = serde_json::to_vec(answer).expect("answers are plain data");
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), 8).expect("JavaScript asks for less than the memory")
}

/// Room for so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(bytes: usize) -> *mut u8 {
    // SAFETY: the layout is not empty.
    unsafe { allocate(layout(bytes)) }
}

/// Give the room back.
///
/// # Safety
/// It is of [`alloc`], with as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(at: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { dealloc(at, layout(bytes)) }
}

/// Where the last answer begins: JSON in UTF-8. After a trap it is the panic's message.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    last().as_ptr()
}

/// The bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    last().len()
}

/// A run at time 0 of a plan; `asked` is [`Asked`] as JSON. Null: it is refused, and the answer is the list of problems.
///
/// # Safety
/// Both texts are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn create(
    plan: *const u8,
    plan_bytes: usize,
    asked: *const u8,
    asked_bytes: usize,
) -> *mut Machine {
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| *last() = panic.to_string().into_bytes()));
    });
    // SAFETY: as the caller promises.
    let [plan, asked] =
        [(plan, plan_bytes), (asked, asked_bytes)].map(|(at, len)| unsafe { std::slice::from_raw_parts(at, len) });
    let made = serde_json::from_slice::<Asked>(asked)
        .map_err(|error| vec![Failure::of(&error.into())])
        .and_then(|asked| Machine::new(&String::from_utf8_lossy(plan), &asked));
    match made {
        Ok(machine) => Box::into_raw(Box::new(machine)),
        Err(problems) => {
            say(&problems);
            std::ptr::null_mut()
        }
    }
}

/// End a run.
///
/// # Safety
/// It is of [`create`], and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn destroy(machine: *mut Machine) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(machine) });
}

/// The present virtual time, in nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn now(machine: &Machine) -> f64 {
    machine.now_ns() as f64
}

/// The end of the plan, in nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn end(machine: &Machine) -> f64 {
    machine.end_ns() as f64
}

/// Go on until a time, in nanoseconds, or until the plan's end.
#[unsafe(no_mangle)]
pub extern "C" fn run_until(machine: &mut Machine, ns: f64) {
    machine.run_until(ns as i64);
}

/// The rows of `samples` since the last call: the answer is the chosen columns as doubles, row after row.
#[unsafe(no_mangle)]
pub extern "C" fn samples(machine: &mut Machine) {
    give(&machine.samples());
}

/// The same of `links`.
#[unsafe(no_mangle)]
pub extern "C" fn links(machine: &mut Machine) {
    give(&machine.links());
}

/// The answer is what is known of the run now, as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn report(machine: &mut Machine) {
    say(&machine.report());
}

fn give(values: &[f64]) {
    *last() = values.iter().flat_map(|value| value.to_le_bytes()).collect();
}
