//! Mutations of JSON that keep it JSON: byte by byte hardly any mutation of a document would be read to its end.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Number, Value};

/// Mutates the document in the first `size` of `data`, in place, and returns its new size. Every fourth time, and what is no
/// JSON, it is mutated byte by byte.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mutated = if seed % 4 == 0 { None } else { mutated(&data[..size], seed / 4) };
    match mutated.filter(|text| text.len() <= max_size) {
        Some(text) => {
            data[..text.len()].copy_from_slice(text.as_bytes());
            text.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
}

fn mutated(text: &[u8], seed: u32) -> Option<String> {
    let mut document: Value = serde_json::from_slice(text).ok()?;
    let mut random = Random(u64::from(seed) + 1);
    for _ in 0..1 + random.below(3) {
        mutate_value(&mut document, &mut random);
    }
    Some(document.to_string())
}

/// Pseudo-random numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

fn mutate_value(document: &mut Value, random: &mut Random) {
    let mut places = Vec::new();
    pointers(document, String::new(), &mut places);
    let (at, from) = (&places[random.below(places.len())], &places[random.below(places.len())]);
    let other = document.pointer(from).expect("it was listed").clone();
    match random.below(7) {
        0 => remove(document, at),
        // A value of the same key or kind, from elsewhere in the document.
        1 | 2 => {
            let alike = |place: &&String| {
                place.rsplit('/').next() == at.rsplit('/').next() || kind(document, place) == kind(document, at)
            };
            let places: Vec<_> = places.iter().filter(alike).collect();
            let value = document.pointer(places[random.below(places.len())]).expect("it was listed").clone();
            *document.pointer_mut(at).expect("it was listed") = value;
        }
        3 => *document.pointer_mut(at).expect("it was listed") = other,
        4 => match document.pointer_mut(at) {
            Some(Value::Array(items)) if !items.is_empty() => {
                let item = items[random.below(items.len())].clone();
                items.insert(random.below(items.len() + 1), item);
            }
            Some(Value::Object(keys)) => {
                keys.insert(from.rsplit('/').next().unwrap_or_default().to_owned(), other);
            }
            Some(value) => *value = number(value, random),
            None => {}
        },
        _ => {
            if let Some(value) = document.pointer_mut(at).filter(|value| value.is_number() || value.is_null()) {
                *value = number(value, random);
            }
        }
    }
}

fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, format!("{at}/{index}"), found));
        }
        Value::Object(keys) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            keys.iter().for_each(|(key, item)| pointers(item, format!("{at}/{}", escaped(key)), found));
        }
        _ => {}
    }
    found.push(at);
}

fn kind(document: &Value, at: &str) -> Option<std::mem::Discriminant<Value>> {
    document.pointer(at).map(std::mem::discriminant)
}

fn remove(document: &mut Value, at: &str) {
    let Some((parent, key)) = at.rsplit_once('/') else { return };
    match document.pointer_mut(parent) {
        Some(Value::Array(items)) => drop(key.parse().map(|index: usize| items.remove(index))),
        Some(Value::Object(keys)) => drop(keys.remove(key)),
        _ => {}
    }
}

/// Another number: near the old one, a multiple of it, or at an edge of its type.
fn number(old: &Value, random: &mut Random) -> Value {
    const EDGES: [i128; 14] = [
        0,
        1,
        -1,
        2,
        255,
        65_535,
        65_536,
        u32::MAX as i128,
        1_000_000_000,
        i64::MAX as i128,
        i64::MIN as i128,
        u64::MAX as i128,
        4_000_000_000_000_000_000,
        4_611_686_018_427_387_904,
    ]; // rustfmt would give each of them a line.
    let old = old.as_i64().map_or(1, i128::from);
    let new = match random.below(5) {
        0 => old + 1,
        1 => old - 1,
        2 => old * (1 << random.below(40)),
        3 => -old,
        _ => EDGES[random.below(EDGES.len())],
    };
    Number::from_i128(new).map_or(Value::Null, Value::Number)
}
