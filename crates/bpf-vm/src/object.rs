//! The parts of an ELF object that a program is made of.

use std::collections::HashMap;

use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{LittleEndian, Object as _, ObjectSection, ObjectSymbol, RelocationTarget, SymbolSection};

/// A section.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    pub name: String,
    pub is_code: bool,
    pub is_constant: bool,
    pub data: Vec<u8>,
    pub relocations: Vec<Link>,
}

/// A place in a section that names a symbol.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub offset: usize,
    pub symbol: Symbol,
}

/// A name in an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbol {
    pub name: String,
    /// The index of its section; `None`: it is not defined here.
    pub section: Option<usize>,
    pub offset: usize,
    pub bytes: usize,
}

/// An object's sections, by their numbers, and symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub sections: Vec<Section>,
    pub symbols: Vec<Symbol>,
    /// The number of the first section of each name.
    numbers: HashMap<String, usize>,
}

/// Flags of sections (`SHF_WRITE`, `SHF_ALLOC`, `SHF_EXECINSTR`).
const WRITABLE: u64 = 1;
const ALLOCATED: u64 = 2;
const EXECUTABLE: u64 = 4;

impl Object {
    /// `None`: it is no object of BPF.
    pub(crate) fn parse(file: &[u8]) -> Option<Object> {
        let elf = ElfFile64::<LittleEndian>::parse(file).ok()?;
        (elf.elf_header().e_machine(LittleEndian) == object::elf::EM_BPF).then_some(())?;
        // Sections that lie over each other, or share a long name, would make gigabytes of a small file.
        let bytes: u64 = elf.sections().map(|one| one.data().map_or(0, |data| data.len() as u64)).sum();
        (bytes <= file.len() as u64).then_some(())?;
        let symbol = |one: &object::read::elf::ElfSymbol64<'_, '_, LittleEndian>| Symbol {
            name: short(one.name()),
            section: match one.section() {
                SymbolSection::Section(index) => Some(index.0),
                _ => None,
            },
            offset: one.address() as usize,
            bytes: one.size() as usize,
        };
        let mut sections = vec![Section::default()];
        for section in elf.sections() {
            let named = |(offset, relocation): (u64, object::Relocation)| {
                let RelocationTarget::Symbol(index) = relocation.target() else { return None };
                Some(Link { offset: offset as usize, symbol: symbol(&elf.symbol_by_index(index).ok()?) })
            };
            let flags = section.elf_section_header().sh_flags(LittleEndian).0;
            let index = section.index().0;
            sections.resize(sections.len().max(index + 1), Section::default());
            sections[index] = Section {
                name: short(section.name()),
                is_code: flags & EXECUTABLE != 0,
                is_constant: flags & (ALLOCATED | WRITABLE | EXECUTABLE) == ALLOCATED,
                data: section.data().ok()?.to_vec(),
                relocations: section.relocations().filter_map(named).collect(),
            };
        }
        let symbols = elf.symbols().map(|one| symbol(&one)).collect();
        let numbers = sections.iter().enumerate().rev().map(|(number, one)| (one.name.clone(), number)).collect();
        Some(Object { sections, symbols, numbers })
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.get(self.number(name)?)
    }

    /// The number of a section.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    pub(crate) fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|one| one.name == name && one.section.is_some())
    }
}

/// 32 bits, little end first.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// The longest text that is read: names are shorter in a kernel (`KSYM_NAME_LEN`), lines of a source may be cut.
pub(crate) const LONGEST: usize = 512;

/// A name; empty if it is too long, or no UTF-8.
fn short(name: object::Result<&str>) -> String {
    name.ok().filter(|name| name.len() <= LONGEST).unwrap_or_default().to_owned()
}

/// Text up to a zero; empty if it is no UTF-8.
pub(crate) fn text(bytes: &[u8], at: usize) -> &str {
    let rest = bytes.get(at..).unwrap_or_default();
    let rest = &rest[..rest.len().min(LONGEST)];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    str::from_utf8(&rest[..end]).unwrap_or_default()
}
