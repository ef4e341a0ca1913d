//! Socket storage: memory of each connection beside the bytes of `icsk_ca_priv`, in maps of an object
//! (`BPF_MAP_TYPE_SK_STORAGE`).

use std::collections::HashMap;

use crate::btf::{Type, Types, kind};
use crate::fault::Fault;
use crate::memory::{Memory, SOCKET};

/// The number of `BPF_MAP_TYPE_SK_STORAGE` (linux/bpf.h).
const SK_STORAGE: usize = 24;
/// The most bytes of a connection's values, as kernels before 6.9 allow by default (`net.core.optmem_max`).
const LARGEST: usize = 20_480;

/// Pointers to maps. Nothing can be read there.
pub(crate) const MAPS: u64 = 7 << 32;
/// The value of the first map; those of others have the places behind it.
pub(crate) const VALUES: u64 = 8 << 32;

/// `bpf_sk_storage_get` makes the value if there is none (`BPF_SK_STORAGE_GET_F_CREATE`).
const CREATE: u64 = 1;
/// The result of deleting what is not there (`-ENOENT`).
const NOT_THERE: u64 = -2_i64 as u64;

/// The maps of an object: the number of each, and its values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps {
    numbers: HashMap<String, usize>,
    pub sizes: Vec<usize>,
    /// Name and type of the values.
    pub values: Vec<(String, u32)>,
}

impl Maps {
    /// Finds the maps of socket storage, as long as their values are not too large together.
    pub(crate) fn find(types: &Types) -> Maps {
        let mut maps = Maps::default();
        for map in types.variables(".maps") {
            let value = types.bare(map.of).and_then(|of| value(types, of));
            let largest = LARGEST - maps.sizes.iter().sum::<usize>();
            if let Some((of, bytes)) = value.filter(|(_, bytes)| (1..=largest).contains(bytes)) {
                maps.numbers.insert(map.name.clone(), maps.sizes.len());
                maps.sizes.push(bytes);
                maps.values.push((map.name.clone(), of));
            }
        }
        maps
    }

    /// The pointer to a map; `None`: it is none of these.
    pub(crate) fn pointer(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).map(|&number| MAPS + number as u64)
    }
}

/// The type of the values of socket storage, and their bytes; `None`: this is another kind of map.
fn value(types: &Types, map: &Type) -> Option<(u32, usize)> {
    let member = |name: &str| {
        let found = map.members.iter().find(|member| member.name == name)?;
        let pointer = types.bare(found.of).filter(|one| one.kind == kind::PTR)?;
        Some((pointer.of, types.bare(pointer.of)?))
    };
    (member("type")?.1.elements == SK_STORAGE).then_some(())?;
    let (of, value) = member("value")?;
    matches!(value.kind, kind::STRUCT | kind::UNION | kind::INT).then_some((of, value.bytes))
}

/// The map that a pointer means, of `count`.
fn number(pointer: u64, count: usize) -> Option<usize> {
    let number = pointer.checked_sub(MAPS)? as usize;
    (number < count).then_some(number)
}

/// The address of a map's value.
pub(crate) fn address(number: usize) -> u64 {
    VALUES + ((number as u64) << 32)
}

/// The result of `bpf_sk_storage_get`, where the arguments tell it: a new value always has memory.
pub(crate) fn created(map: u64, flags: u64, memory: &Memory) -> Option<u64> {
    (flags & CREATE != 0).then(|| number(map, memory.storage.len()).map(address)).flatten()
}

/// `bpf_sk_storage_get`: the address of the connection's value, or 0.
pub(crate) fn get(memory: &mut Memory, map: u64, socket: u64, initial: u64, flags: u64) -> Result<u64, Fault> {
    let number = number(map, memory.storage.len()).filter(|_| socket == SOCKET).ok_or(Fault::Read(8))?;
    if !memory.storage[number].is_held {
        if flags & CREATE == 0 {
            return Ok(0);
        }
        let count = memory.storage[number].bytes.len();
        if initial == 0 {
            memory.storage[number].bytes.fill(0);
        } else {
            let bytes = memory.bytes(initial, count)?.to_vec();
            memory.storage[number].bytes.copy_from_slice(&bytes);
        }
        memory.storage[number].is_held = true;
    }
    Ok(address(number))
}

/// `bpf_sk_storage_delete`.
pub(crate) fn delete(memory: &mut Memory, map: u64, socket: u64) -> Result<u64, Fault> {
    let number = number(map, memory.storage.len()).filter(|_| socket == SOCKET).ok_or(Fault::Read(8))?;
    let was_held = std::mem::take(&mut memory.storage[number].is_held);
    Ok(if was_held { 0 } else { NOT_THERE })
}

/// The value of a map.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub bytes: Box<[u8]>,
    /// True if the connection has it.
    pub is_held: bool,
}

/// The values of a connection, none of which it has yet.
pub(crate) fn values(sizes: &[usize]) -> Vec<Value> {
    sizes.iter().map(|&bytes| Value { bytes: vec![0; bytes].into(), is_held: false }).collect()
}
