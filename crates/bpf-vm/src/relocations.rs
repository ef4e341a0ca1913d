//! Gives the places of an object that depend on the kernel's types (CO-RE) what the model has there.

use crate::btf::{Relocation, Type, Types, kind};
use crate::code::{Instruction, LD_IMM64, class};
use crate::model::{ACK_FIELDS, EMBEDDED, PRIVATE, PRIVATE_AT, PRIVATE_BYTES, RATE_FIELDS, SOCKET_FIELDS};
use crate::object::LONGEST;

/// The question that a place asks (`enum bpf_core_relo_kind`).
mod asks {
    pub(super) const OFFSET: u32 = 0;
    pub(super) const SIZE: u32 = 1;
    pub(super) const EXISTS: u32 = 2;
    pub(super) const IS_SIGNED: u32 = 3;
    pub(super) const SHIFT_LEFT: u32 = 4;
    pub(super) const SHIFT_RIGHT: u32 = 5;
    pub(super) const TYPE_EXISTS: u32 = 8;
    pub(super) const TYPE_MATCHES: u32 = 12;
    pub(super) const WORD_EXISTS: u32 = 10;
    pub(super) const WORD: u32 = 11;
}

/// A field in the model: its place, the bytes that the kernel's has, and whether it is signed.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    bytes: usize,
    is_signed: bool,
}

/// The answer for a place, or the name of what is not modelled.
pub(crate) fn answer(types: &Types, relocation: &Relocation) -> Result<u64, String> {
    let of = types.bare(relocation.of).ok_or("a type that the object does not describe")?;
    let of_name = plain(&of.name);
    if matches!(relocation.kind, asks::WORD_EXISTS | asks::WORD) {
        let word = relocation.path.parse().ok().and_then(|at: usize| of.members.get(at));
        let word = word.ok_or_else(|| format!("a word of {of_name}"))?;
        return Ok(if relocation.kind == asks::WORD { word.value as u64 } else { 1 });
    }
    if matches!(relocation.kind, asks::TYPE_EXISTS | asks::TYPE_MATCHES) {
        let is_known = fields().any(|(path, _)| path.split('.').next() == Some(of_name))
            || EMBEDDED.iter().any(|(outer, ..)| *outer == of_name);
        return Ok(is_known.into());
    }
    let path = path(types, of, &relocation.path).ok_or_else(|| format!("a part of {of_name}"))?;
    let found = place(&path);
    if relocation.kind == asks::EXISTS {
        return Ok(found.is_some().into());
    }
    let Place { offset, bytes, is_signed } = found.ok_or(path)?;
    // Each field begins at the lowest byte of its place, bitfields, too.
    let shift = 64 - 8 * bytes.clamp(1, 8);
    match relocation.kind {
        asks::OFFSET => Ok(offset as u64),
        asks::SIZE => Ok(bytes as u64),
        asks::IS_SIGNED => Ok(is_signed.into()),
        asks::SHIFT_LEFT | asks::SHIFT_RIGHT => Ok(shift as u64),
        _ => Err(format!("a property of {of_name}")),
    }
}

/// Puts an answer into its instruction; `None`: there is no place for it.
pub(crate) fn patch(instruction: &mut Instruction, value: u64) -> Option<()> {
    match instruction.class() {
        class::LDX | class::ST | class::STX => instruction.off = i16::try_from(value).ok()?.into(),
        class::ALU | class::ALU64 if !instruction.has_register() => instruction.imm = value as i64,
        _ if instruction.code == LD_IMM64 => instruction.imm = value as i64,
        _ => return None,
    }
    Some(())
}

fn fields() -> impl Iterator<Item = (&'static str, Place)> {
    [SOCKET_FIELDS, RATE_FIELDS, ACK_FIELDS].into_iter().flat_map(|fields| {
        let place = |(at, field): (usize, &crate::model::Field)| {
            (field.path, Place { offset: 8 * at, bytes: field.bytes, is_signed: field.is_signed })
        };
        fields.iter().enumerate().map(place)
    })
}

fn place(path: &str) -> Option<Place> {
    if EMBEDDED.iter().any(|(outer, ..)| *outer == path) || path == "sock" {
        // A structure that begins where its first member begins.
        return Some(Place { offset: 0, bytes: 0, is_signed: false });
    }
    if let Some(rest) = path.strip_prefix(PRIVATE) {
        let word: usize = if rest.is_empty() { 0 } else { rest.strip_prefix('.')?.parse().ok()? };
        let bytes = if rest.is_empty() { PRIVATE_BYTES } else { 8 };
        return (word < PRIVATE_BYTES / 8).then_some(Place { offset: PRIVATE_AT + 8 * word, bytes, is_signed: false });
    }
    fields().find(|(known, _)| *known == path).map(|(_, place)| place)
}

/// The name of a type without its flavour: `tcp_sock___old` means `tcp_sock`.
pub(crate) fn plain(name: &str) -> &str {
    name.split("___").next().unwrap_or(name)
}

/// The most indices of a path, as in the kernel (`BPF_CORE_SPEC_MAX_LEN`).
const LONGEST_PATH: usize = 64;

/// The path of a field, with the innermost structure that begins where the outermost does: `tcp_sock.snd_cwnd`.
fn path(types: &Types, of: &Type, indices: &str) -> Option<String> {
    (indices.split(':').count() <= LONGEST_PATH).then_some(())?;
    let mut indices = indices.split(':').map(str::parse::<usize>);
    // Elements before it would lie outside of it.
    (indices.next()?.ok()? == 0).then_some(())?;
    let (mut one, mut path) = (of, plain(&of.name).to_owned());
    for index in indices {
        let index = index.ok()?;
        let (name, next) = match one.kind {
            kind::STRUCT | kind::UNION => {
                let member = one.members.get(index)?;
                (member.name.clone(), member.of)
            }
            kind::ARRAY => (index.to_string(), one.of),
            _ => return None,
        };
        one = types.bare(next)?;
        if name.is_empty() {
            continue;
        }
        let inner = EMBEDDED.iter().find(|(outer, member, _)| *outer == path && *member == name);
        path = inner.map_or_else(|| format!("{path}.{name}"), |(.., inner)| (*inner).to_owned());
        (path.len() <= LONGEST).then_some(())?;
    }
    Some(path)
}
