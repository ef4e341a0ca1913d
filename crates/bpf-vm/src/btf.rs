//! The type information of an object (BTF), and what it says of single instructions (`.BTF.ext`).

use crate::object::{text, word};

/// A type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Type {
    pub name: String,
    pub kind: u8,
    /// The type that it is made of: of a pointer, a qualifier, a variable, an array's elements.
    pub of: u32,
    /// Members of a structure; variables of a section, whose `offset` counts bytes; values of an enumeration.
    pub members: Vec<Member>,
    /// The number of a function type's parameters.
    pub parameters: usize,
    /// Bytes of an integer, an enumeration or a structure.
    pub bytes: usize,
    /// The number of an array's elements.
    pub elements: usize,
    /// True for an integer with a sign.
    pub is_signed: bool,
}

/// A part of a type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    pub name: String,
    pub of: u32,
    /// In bits, without the size of a bitfield.
    pub offset: u32,
    /// The value of an enumeration's word.
    pub value: i64,
}

/// The kinds of types that matter here.
pub(crate) mod kind {
    pub(crate) const INT: u8 = 1;
    pub(crate) const PTR: u8 = 2;
    pub(crate) const ARRAY: u8 = 3;
    pub(crate) const STRUCT: u8 = 4;
    pub(crate) const UNION: u8 = 5;
    pub(crate) const ENUM: u8 = 6;
    pub(crate) const TYPEDEF: u8 = 8;
    pub(crate) const VOLATILE: u8 = 9;
    pub(crate) const CONST: u8 = 10;
    pub(crate) const RESTRICT: u8 = 11;
    pub(crate) const FUNC_PROTO: u8 = 13;
    pub(crate) const VAR: u8 = 14;
    pub(crate) const DATASEC: u8 = 15;
    pub(crate) const TYPE_TAG: u8 = 18;
    pub(crate) const ENUM64: u8 = 19;
}

/// All types of an object, by number.
#[derive(Clone, Debug)]
pub(crate) struct Types {
    types: Vec<Type>,
    strings: Vec<u8>,
}

impl Types {
    /// `None`: it is no BTF.
    pub(crate) fn parse(section: &[u8]) -> Option<Types> {
        let part = |offset: usize, length: usize| {
            let begin = (word(section, 4)? as usize).checked_add(word(section, offset)? as usize)?;
            section.get(begin..begin.checked_add(word(section, length)? as usize)?)
        };
        (word(section, 0)? & 0xffff == 0xeb9f).then_some(())?;
        let (data, strings) = (part(8, 12)?, part(16, 20)?.to_vec());
        let mut types = vec![Type::default()];
        let mut at = 0;
        while at < data.len() {
            let (one, next) = parse_type(data, at, &strings)?;
            types.push(one);
            at = next;
        }
        Some(Types { types, strings })
    }

    pub(crate) fn get(&self, id: u32) -> Option<&Type> {
        self.types.get(id as usize)
    }

    /// The type without qualifiers and names of others.
    pub(crate) fn bare(&self, mut id: u32) -> Option<&Type> {
        // A type that names itself has no end.
        for _ in 0..64 {
            let one = self.get(id)?;
            match one.kind {
                kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => id = one.of,
                _ => return Some(one),
            }
        }
        None
    }

    /// The variables of a section.
    pub(crate) fn variables(&self, section: &str) -> Vec<&Type> {
        let sections = self.types.iter().filter(|one| one.kind == kind::DATASEC && one.name == section);
        let members = sections.flat_map(|one| &one.members);
        members.filter_map(|member| self.get(member.of)).filter(|one| one.kind == kind::VAR).collect()
    }

    /// A variable by its name.
    pub(crate) fn variable(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|one| one.kind == kind::VAR && one.name == name)
    }

    pub(crate) fn string(&self, offset: u32) -> &str {
        text(&self.strings, offset as usize)
    }
}

fn parse_type(data: &[u8], at: usize, strings: &[u8]) -> Option<(Type, usize)> {
    let (name, info, of) = (word(data, at)?, word(data, at + 4)?, word(data, at + 8)?);
    let (count, kind, has_sizes) = ((info & 0xffff) as usize, (info >> 24 & 31) as u8, info >> 31 == 1);
    let mut one = Type { name: text(strings, name as usize).to_owned(), kind, of, ..Type::default() };
    let begin = at + 12;
    let (bytes, each) = match kind {
        kind::INT => {
            one.bytes = of as usize;
            one.is_signed = word(data, begin)? >> 24 & 1 == 1;
            (4, 0)
        }
        17 => (4, 0),
        kind::VAR => (4, 0),
        kind::ARRAY => {
            one.of = word(data, begin)?;
            one.elements = word(data, begin + 8)? as usize;
            (12, 0)
        }
        kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => (0, 12),
        kind::ENUM | kind::FUNC_PROTO => (0, 8),
        // Pointers, qualifiers, names of others, forward declarations, functions, floating-point numbers.
        2 | 7..=12 | 16 | 18 => (0, 0),
        _ => return None,
    };
    if matches!(kind, kind::ENUM | kind::STRUCT | kind::UNION) {
        one.bytes = of as usize;
    }
    one.parameters = if kind == kind::FUNC_PROTO { count } else { 0 };
    // A function has a linkage where others have a count.
    let count = if each == 0 { 0 } else { count };
    for index in 0..count {
        let at = begin + index * each;
        let (first, second) = (word(data, at)?, word(data, at + 4)?);
        let third = if each == 12 { word(data, at + 8)? } else { 0 };
        let name = |offset: u32| text(strings, offset as usize).to_owned();
        one.members.push(match kind {
            kind::DATASEC => Member { of: first, offset: second, ..Member::default() },
            kind::ENUM => Member { name: name(first), value: i64::from(second as i32), ..Member::default() },
            kind::ENUM64 => {
                Member { name: name(first), value: (i64::from(third) << 32) | i64::from(second), ..Member::default() }
            }
            kind::FUNC_PROTO => Member { name: name(first), of: second, ..Member::default() },
            _ => {
                let offset = if has_sizes { third & 0xff_ffff } else { third };
                Member { name: name(first), of: second, offset, value: 0 }
            }
        });
    }
    Some((one, begin + bytes + count * each))
}

/// Notes of `.BTF.ext` on a section's instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Lines of the source: the section, the instruction from which on they hold, `FILE:LINE: TEXT`.
    pub lines: Vec<(String, usize, String)>,
    /// Places that depend on the kernel's types.
    pub relocations: Vec<Relocation>,
}

/// An instruction that depends on the kernel's types (`struct bpf_core_relo`).
#[derive(Clone, Debug)]
pub(crate) struct Relocation {
    pub section: String,
    pub instruction: usize,
    /// The type from which the path begins.
    pub of: u32,
    /// Indices of members and elements, e.g. `0:1:2`.
    pub path: String,
    pub kind: u32,
}

/// Reads the notes. `None`: they are broken.
pub(crate) fn notes(section: &[u8], types: &Types) -> Option<Notes> {
    let header = word(section, 4)? as usize;
    let part = |offset: usize| {
        let (begin, length) = (word(section, offset)? as usize, word(section, offset + 4)? as usize);
        section.get(header.checked_add(begin)?..)?.get(..length)
    };
    let mut notes = Notes::default();
    for (name, record) in records(part(16)?, types)? {
        let (file, line) = (types.string(word(record, 4)?), types.string(word(record, 8)?));
        let said = format!("{}:{}: {}", file.rsplit('/').next().unwrap_or(file), word(record, 12)? >> 10, line.trim());
        notes.lines.push((name, word(record, 0)? as usize / 8, said));
    }
    // Objects without such places end before them.
    if header >= 32 {
        for (section, record) in records(part(24)?, types)? {
            let path = types.string(word(record, 8)?).to_owned();
            let (instruction, of, kind) = (word(record, 0)? as usize / 8, word(record, 4)?, word(record, 12)?);
            notes.relocations.push(Relocation { section, instruction, of, path, kind });
        }
    }
    Some(notes)
}

/// The records of a part, with the section of the code that they are about.
fn records<'a>(part: &'a [u8], types: &Types) -> Option<Vec<(String, &'a [u8])>> {
    let mut found = Vec::new();
    if part.is_empty() {
        return Some(found);
    }
    let size = word(part, 0)? as usize;
    (size >= 16).then_some(())?;
    let mut at = 4;
    while at < part.len() {
        let (section, count) = (types.string(word(part, at)?).to_owned(), word(part, at + 4)? as usize);
        at += 8;
        for _ in 0..count {
            found.push((section.clone(), part.get(at..at.checked_add(size)?)?));
            at += size;
        }
    }
    Some(found)
}
