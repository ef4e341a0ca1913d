//! Calls of programs with the fields that they read and set.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::btf::{Types, kind};
use crate::memory::{Memory, SAMPLE, SOCKET};
use crate::model::{
    ACK_FIELDS, Field, PRIVATE_AT, PRIVATE_BYTES, RATE_FIELDS, SAMPLE_BYTES, SOCKET_BYTES, SOCKET_FIELDS,
};
use crate::storage::{VALUES, Value, address};

/// A call of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The flow's id.
    pub flow: Arc<str>,
    /// The socket's clock, ns.
    pub time_ns: u64,
    /// The callback's name in the kernel.
    pub callback: &'static str,
    /// The arguments beside the socket and the sample.
    pub arguments: Vec<(&'static str, u64)>,
    /// Fields that it read before it set them, in the order of the first read, with the values at the call.
    pub read: Vec<(String, i64)>,
    /// Fields that it set, in the order of the first time, with the values before and after the call.
    pub set: Vec<(String, i64, i64)>,
    /// The result of a callback that has one.
    pub returns: Option<u32>,
    /// Why the call stopped the simulation.
    pub fault: Option<String>,
}

/// Takes the calls of a simulation's programs.
#[derive(Clone)]
pub struct Tracer(Arc<Mutex<dyn FnMut(Call) + Send>>);

impl Tracer {
    /// A tracer that hands each call to `take`.
    pub fn new(take: impl FnMut(Call) + Send + 'static) -> Tracer {
        Tracer(Arc::new(Mutex::new(take)))
    }

    pub(crate) fn take(&self, call: Call) {
        // A simulation that a fault ends has been unwound; the calls before are whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(call);
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tracer")
    }
}

/// Notices accesses to memory.
pub(crate) trait Watch {
    /// `count` bytes at an address were read.
    fn read(&mut self, address: u64, count: usize);
    /// `count` bytes at an address were written.
    fn written(&mut self, address: u64, count: usize);
}

/// Notices nothing, and costs nothing.
impl Watch for () {
    #[inline(always)]
    fn read(&mut self, _: u64, _: usize) {}
    #[inline(always)]
    fn written(&mut self, _: u64, _: usize) {}
}

/// A named place in the socket, the sample or socket storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    name: String,
    place: u64,
    offset: usize,
    bytes: usize,
    is_signed: bool,
}

/// The places that a call accessed, each once.
#[derive(Debug)]
pub(crate) struct Watched {
    socket: [u8; SOCKET_BYTES],
    sample: [u8; SAMPLE_BYTES],
    storage: Vec<Value>,
    /// Place and offset of the accesses, and whether they wrote.
    accesses: Vec<(u64, usize, usize, bool)>,
}

impl Watched {
    /// Begins with the memory as it is.
    pub(crate) fn new(memory: &Memory) -> Watched {
        Watched { socket: memory.socket, sample: memory.sample, storage: memory.storage.clone(), accesses: Vec::new() }
    }

    fn note(&mut self, address: u64, count: usize, is_write: bool) {
        let (place, at) = (address >> 32 << 32, address as u32 as usize);
        if (place == SOCKET || place == SAMPLE || place >= VALUES)
            && !self.accesses.contains(&(place, at, count, is_write))
        {
            self.accesses.push((place, at, count, is_write));
        }
    }

    /// The fields that were read and set. `state`: members of the private state; `has_rate`: the sample is one of the delivery
    /// rate.
    pub(crate) fn fields(&self, memory: &Memory, state: &[Named], has_rate: bool) -> Fields {
        let mut read: Vec<(String, i64)> = Vec::new();
        let mut set: Vec<(String, i64, i64)> = Vec::new();
        for &(place, at, count, is_write) in &self.accesses {
            let (before, after): (&[u8], &[u8]) = match place {
                SOCKET => (&self.socket, &memory.socket),
                SAMPLE => (&self.sample, &memory.sample),
                _ => {
                    let number = ((place - VALUES) >> 32) as usize;
                    (&self.storage[number].bytes, &memory.storage[number].bytes)
                }
            };
            let names = if place == SAMPLE {
                of_table(if has_rate { RATE_FIELDS } else { ACK_FIELDS }, place, at)
            } else if place == SOCKET && at < PRIVATE_AT {
                of_table(SOCKET_FIELDS, place, at)
            } else {
                members(state, place, at, count)
            };
            for one in names {
                let is_set = set.iter().any(|(name, ..)| *name == one.name);
                if is_write && !is_set {
                    set.push((one.name.clone(), one.value(before), one.value(after)));
                } else if !is_write && !is_set && read.iter().all(|(name, _)| *name != one.name) {
                    read.push((one.name.clone(), one.value(before)));
                }
            }
        }
        Fields { read, set }
    }
}

impl Watch for Watched {
    fn read(&mut self, address: u64, count: usize) {
        self.note(address, count, false);
    }

    fn written(&mut self, address: u64, count: usize) {
        self.note(address, count, true);
    }
}

/// The fields that a call read and set.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub read: Vec<(String, i64)>,
    pub set: Vec<(String, i64, i64)>,
}

impl Named {
    fn value(&self, places: &[u8]) -> i64 {
        let mut bytes = [0; 8];
        if let Some(found) = places.get(self.offset..self.offset + self.bytes) {
            bytes[..self.bytes].copy_from_slice(found);
        }
        let shift = 64 - 8 * self.bytes as u32;
        let value = u64::from_le_bytes(bytes) << shift;
        if self.is_signed { value as i64 >> shift } else { (value >> shift) as i64 }
    }
}

/// The field of the kernel at an offset, without the name of its structure.
fn of_table(fields: &[Field], place: u64, at: usize) -> Vec<Named> {
    let field = fields.get(at / 8);
    let named = |field: &Field| Named {
        name: field.path.split_once('.').map_or(field.path, |(_, name)| name).to_owned(),
        place,
        offset: at / 8 * 8,
        bytes: field.bytes,
        is_signed: field.is_signed,
    };
    field.map(named).into_iter().collect()
}

/// The members of the state in these bytes; words by their offsets where none is known.
fn members(state: &[Named], place: u64, at: usize, count: usize) -> Vec<Named> {
    let found = state.iter().filter(|one| one.place == place && one.offset < at + count && at < one.offset + one.bytes);
    let found: Vec<Named> = found.cloned().collect();
    if !found.is_empty() {
        return found;
    }
    let name = if place == SOCKET { format!("state+{}", at - PRIVATE_AT) } else { format!("storage+{at}") };
    vec![Named { name, place, offset: at, bytes: count.min(8), is_signed: false }]
}

/// The members of the private state, which is what the variable [`STATE`] points to, and of socket storage, whose values have these
/// names and types.
pub(crate) fn state(types: &Types, storage: &[(String, u32)]) -> Vec<Named> {
    let mut members =
        Members { types, found: Vec::new(), visits: 0, place: SOCKET, begin: PRIVATE_AT, bytes: PRIVATE_BYTES };
    if let Some(pointer) = types.variable(STATE).and_then(|one| types.bare(one.of)).filter(|one| one.kind == kind::PTR)
    {
        members.flatten(pointer.of, "state", 0, 0);
    }
    for (number, (name, of)) in storage.iter().enumerate() {
        members = Members { place: address(number), begin: 0, bytes: usize::MAX, ..members };
        members.flatten(*of, name, 0, 0);
    }
    members.found
}

/// A variable whose type says what the private state is. Nothing reads it: a compiler of a program that is traced adds it.
const STATE: &str = "db_traced_state";

/// A deeper structure is not taken apart.
const DEEPEST: usize = 8;

/// Members that are looked at. A hostile object's structures, of a thousand members each, lie within each other.
const MOST_VISITS: usize = 10_000;

/// The members of a structure, as they are found.
struct Members<'a> {
    types: &'a Types,
    found: Vec<Named>,
    visits: usize,
    /// Where the structure lies: its place, its offset there, and its bytes.
    place: u64,
    begin: usize,
    bytes: usize,
}

impl Members<'_> {
    fn flatten(&mut self, id: u32, path: &str, at: usize, depth: usize) {
        let types = self.types;
        let Some(one) = types.bare(id).filter(|_| at < self.bytes && depth < DEEPEST) else { return };
        match one.kind {
            kind::STRUCT | kind::UNION => {
                for member in &one.members {
                    self.visits += 1;
                    if self.visits > MOST_VISITS {
                        return;
                    }
                    let name = &member.name;
                    let joined = if name.is_empty() { path.to_owned() } else { format!("{path}.{name}") };
                    self.flatten(member.of, &joined, at + member.offset as usize / 8, depth + 1);
                }
            }
            kind::INT | kind::ENUM if (1..=8).contains(&one.bytes) => {
                let (place, offset, bytes) = (self.place, self.begin + at, one.bytes);
                // Of bits that share a word, the first stands for all.
                if self.found.iter().all(|known| (known.place, known.offset) != (place, offset)) {
                    self.found.push(Named { name: path.to_owned(), place, offset, bytes, is_signed: one.is_signed });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FRAMES;

    fn place(path: &str) -> u64 {
        SOCKET + 8 * SOCKET_FIELDS.iter().position(|field| field.path == path).unwrap() as u64
    }

    #[test]
    fn a_field_is_told_once_with_the_values_around_the_call() {
        let mut memory = Memory::new(Arc::from([]), FRAMES, &[]);
        let (cwnd, private) = (place("tcp_sock.snd_cwnd"), SOCKET + PRIVATE_AT as u64);
        memory.store(cwnd, 4, 10).unwrap();
        let mut watched = Watched::new(&memory);
        watched.read(cwnd, 4);
        for value in [11, 12] {
            memory.store(cwnd, 4, value).unwrap();
            watched.written(cwnd, 4);
        }
        // Its own value is no news.
        watched.read(cwnd, 4);
        memory.store(private + 2, 2, 0xffff).unwrap();
        watched.written(private + 2, 2);
        memory.store(private + 8, 4, 7).unwrap();
        watched.written(private + 8, 4);
        let state =
            [Named { name: "state.gain".into(), place: SOCKET, offset: PRIVATE_AT + 2, bytes: 2, is_signed: true }];
        let Fields { read, set } = watched.fields(&memory, &state, false);
        assert_eq!(read, [("snd_cwnd".into(), 10)]);
        assert_eq!(set, [("snd_cwnd".into(), 10, 12), ("state.gain".into(), 0, -1), ("state+8".into(), 0, 7)]);
    }

    #[test]
    fn a_sample_is_that_of_the_callback() {
        let memory = Memory::new(Arc::from([]), FRAMES, &[]);
        let mut watched = Watched::new(&memory);
        watched.read(SAMPLE, 4);
        let names = [true, false].map(|has_rate| watched.fields(&memory, &[], has_rate).read[0].0.clone());
        assert_eq!(names, ["prior_mstamp", "pkts_acked"]);
    }
}
