//! The parameters of an algorithm, which are set before it is loaded: its `const volatile` integers and flags.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use libbpf_rs::btf::types::{Int, IntEncoding, Struct};
use libbpf_rs::btf::{BtfKind, BtfType};
use libbpf_rs::{HasSize, OpenMapMut, OpenObject};
use messages::Failure;
use plan::Parameter as Value;
use serde::Serialize;

use crate::types;

/// Names that begin like this are the loader's own.
pub(crate) const RESERVED: &str = "db_";

/// A constant that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// The name of the variable, or of the structure's member.
    pub name: String,
    /// Bits of its type; 1 for a flag.
    pub bits: usize,
    /// True if it can be negative.
    pub signed: bool,
    /// The value if nobody sets it.
    pub default: Value,
    /// A description; empty if that isn't known.
    pub doc: String,
    /// The least and the most that mean anything, where they are known.
    pub limits: Option<(u32, u32)>,
    #[serde(skip)]
    pub(crate) offset: usize,
}

impl Parameter {
    fn bytes(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// The value's bytes, or what was expected instead.
    fn encode(&self, value: Value) -> Result<Vec<u8>, String> {
        let number = match (value, self.bits) {
            (Value::Bool(flag), 1) => return Ok(vec![u8::from(flag)]),
            (Value::Integer(number), bits) if bits > 1 => number,
            (_, 1) => return Err("true or false".into()),
            _ => return Err("an integer".into()),
        };
        let (least, most) = match self.signed {
            true => (-(1i128 << (self.bits - 1)), (1i128 << (self.bits - 1)) - 1),
            false => (0, (1i128 << self.bits) - 1),
        };
        if (least..=most).contains(&i128::from(number)) {
            Ok(number.to_le_bytes()[..self.bytes()].to_vec())
        } else {
            Err(format!("an integer from {least} to {most}"))
        }
    }

    fn decode(&self, bytes: &[u8]) -> Value {
        if self.bits == 1 {
            return Value::Bool(bytes[0] != 0);
        }
        let negative = self.signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        Value::Integer(i64::from_le_bytes(wide))
    }
}

/// All parameters that can be set, in the order of the source. The members of structures are parameters.
pub(crate) fn all(open: &mut OpenObject) -> Result<Vec<Parameter>> {
    let mut found = declared(open)?;
    if let Some(data) = read_only_data(open) {
        let data = data.initial_value().context("read-only data has a value")?;
        for parameter in &mut found {
            let at = parameter.offset..parameter.offset + parameter.bytes();
            parameter.default = parameter.decode(data.get(at).context("a constant beyond its section")?);
        }
    }
    Ok(found)
}

fn declared(open: &OpenObject) -> Result<Vec<Parameter>> {
    let btf = types::of_object(open)?;
    let mut found = Vec::new();
    for (name, offset, of) in types::variables(&btf, ".rodata") {
        if !is_volatile(of) {
            continue;
        }
        let of = of.skip_mods_and_typedefs();
        if let Some(parameter) = scalar(name, offset, of) {
            found.push(parameter);
        } else if let Ok(group) = Struct::try_from(of) {
            for (name, inside, of) in types::members(&btf, &group) {
                found.extend(scalar(name, offset + inside, of.skip_mods_and_typedefs()));
            }
        }
    }
    found.sort_by_key(|parameter| parameter.offset);
    Ok(found)
}

/// The compiler puts other constants into the same section; what may change between compiling and loading is volatile.
fn is_volatile(mut of: BtfType<'_>) -> bool {
    loop {
        match of.kind() {
            BtfKind::Volatile => return true,
            BtfKind::Const | BtfKind::Typedef | BtfKind::TypeTag => match of.next_type() {
                Some(next) => of = next,
                None => return false,
            },
            _ => return false,
        }
    }
}

fn scalar(name: &str, offset: usize, of: BtfType<'_>) -> Option<Parameter> {
    let int = Int::try_from(of).ok()?;
    let (bits, signed) = match int.encoding {
        IntEncoding::Bool => (1, false),
        IntEncoding::Signed => (8 * int.size(), true),
        IntEncoding::None | IntEncoding::Char => (8 * int.size(), false),
    };
    let doc = String::new();
    let (name, default, limits) = (name.to_owned(), Value::Bool(false), None);
    (bits <= 64).then_some(Parameter { name, bits, signed, default, doc, limits, offset })
}

/// Sets what `values` names. `label` is for messages.
pub(crate) fn set(open: &mut OpenObject, label: &str, values: &BTreeMap<String, Value>) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let known = all(open)?;
    let mut writes = Vec::new();
    for (name, value) in values {
        let what = format!("setting {name} of {label}");
        let parameter = known
            .iter()
            .find(|known| known.name == *name && !name.starts_with(RESERVED))
            .ok_or_else(|| Failure::new(&what, "it has no such parameter").hint(listing(&known)))?;
        let bytes = parameter.encode(*value).map_err(|expected| Failure::new(&what, format!("expected {expected}")))?;
        writes.push((parameter.offset, bytes));
    }
    write(open, &writes)
}

/// Sets a flag of the loader's own, if the object has it.
pub(crate) fn set_reserved(open: &mut OpenObject, name: &str, on: bool) -> Result<bool> {
    let Some(flag) = declared(open)?.into_iter().find(|known| known.name == name) else { return Ok(false) };
    write(open, &[(flag.offset, vec![u8::from(on)])])?;
    Ok(true)
}

fn write(open: &mut OpenObject, writes: &[(usize, Vec<u8>)]) -> Result<()> {
    let mut data = read_only_data(open).context("the object has no read-only data")?;
    let data = data.initial_value_mut().context("read-only data has a value")?;
    for (offset, bytes) in writes {
        let field = data.get_mut(*offset..offset + bytes.len()).context("a constant beyond its section")?;
        field.copy_from_slice(bytes);
    }
    Ok(())
}

fn read_only_data(open: &mut OpenObject) -> Option<OpenMapMut<'_>> {
    open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata"))
}

fn listing(known: &[Parameter]) -> String {
    let names: Vec<&str> = known.iter().map(|p| p.name.as_str()).filter(|name| !name.starts_with(RESERVED)).collect();
    if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(bits: usize, signed: bool) -> Parameter {
        Parameter {
            name: "p".into(),
            bits,
            signed,
            default: Value::Bool(false),
            limits: None,
            doc: String::new(),
            offset: 0,
        }
    }

    #[test]
    fn values_are_encoded_as_their_type_wants_them() {
        assert_eq!(parameter(1, false).encode(Value::Bool(true)), Ok(vec![1]));
        assert_eq!(parameter(16, false).encode(Value::Integer(65535)), Ok(vec![255, 255]));
        assert_eq!(parameter(32, true).encode(Value::Integer(-2)), Ok(vec![254, 255, 255, 255]));
        assert_eq!(parameter(64, false).encode(Value::Integer(i64::MAX)), Ok(i64::MAX.to_le_bytes().to_vec()));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        assert_eq!(parameter(16, false).encode(Value::Integer(65536)), Err("an integer from 0 to 65535".into()));
        assert_eq!(parameter(8, true).encode(Value::Integer(-129)), Err("an integer from -128 to 127".into()));
        assert_eq!(parameter(64, false).encode(Value::Integer(-1)), Err(format!("an integer from 0 to {}", u64::MAX)));
        assert_eq!(parameter(1, false).encode(Value::Integer(1)), Err("true or false".into()));
        assert_eq!(parameter(32, false).encode(Value::Bool(true)), Err("an integer".into()));
    }

    #[test]
    fn values_survive() {
        for (bits, signed, number) in [(8, true, -3), (8, false, 253), (32, true, -3), (64, true, i64::MIN)] {
            let parameter = parameter(bits, signed);
            let bytes = parameter.encode(Value::Integer(number)).unwrap();
            assert_eq!(parameter.decode(&bytes), Value::Integer(number));
        }
    }
}
