//! Objects that were made to keep their reader busy.

use std::time::{Duration, Instant};

use bpf_vm::Program;

/// Limit of time: a reader that looks at each part for each other part takes several times as long, ours a fiftieth.
const PATIENCE: Duration = Duration::from_secs(8);

/// `mov r0, 1; exit`
const CODE: [u8; 16] = [0xb7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0];

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn quads(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Type information as it grows.
#[derive(Default)]
struct Btf {
    types: Vec<u8>,
    count: u32,
    strings: Vec<u8>,
}

impl Btf {
    fn string(&mut self, text: &str) -> u32 {
        let at = self.strings.len() as u32 + 1;
        self.strings.extend(text.bytes().chain([0]));
        at
    }

    /// Adds a type, and returns its number.
    fn add(&mut self, name: &str, kind: u32, length: usize, of: u32, more: &[u32]) -> u32 {
        let name = if name.is_empty() { 0 } else { self.string(name) };
        self.types.extend(words(&[name, kind << 24 | length as u32, of]));
        self.types.extend(words(more));
        self.count += 1;
        self.count
    }

    /// The section; its strings begin with an empty one.
    fn section(&self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32 + 1);
        [words(&[0x1_eb9f, 24, 0, types, types, strings]), self.types.clone(), vec![0], self.strings.clone()].concat()
    }
}

struct Section {
    name: String,
    kind: u32,
    flags: u64,
    data: Vec<u8>,
    info: u32,
}

fn section(name: &str, kind: u32, flags: u64, data: Vec<u8>) -> Section {
    Section { name: name.into(), kind, flags, data, info: 0 }
}

/// An ELF file with these sections, the first number 1, and the symbols `code` in section 1 and `mine` in section 2.
fn elf(mut sections: Vec<Section>) -> Vec<u8> {
    let number = sections.len() as u32 + 1;
    let symbol = |name: u32, section: u32| [words(&[name, section << 16 | 0x11]), quads(&[0, 24])].concat();
    sections.push(section(".symtab", 2, 0, [vec![0; 24], symbol(1, 1), symbol(6, 2)].concat()));
    sections.push(section(".strtab", 3, 0, b"\0code\0mine\0".to_vec()));
    let names: Vec<u8> = sections.iter().flat_map(|one| one.name.bytes().chain([0])).collect();
    sections.push(section("", 3, 0, names));
    let (mut headers, mut body, mut name) = (vec![0; 64], Vec::new(), 0);
    for one in &sections {
        let link = if one.kind == 2 { number + 1 } else { number };
        headers.extend(words(&[name, one.kind]));
        headers.extend(quads(&[one.flags, 0, 64 + body.len() as u64, one.data.len() as u64]));
        headers.extend(words(&[link, one.info]));
        headers.extend(quads(&[8, if one.kind == 2 { 24 } else { 16 }]));
        body.extend(&one.data);
        name += one.name.len() as u32 + 1;
    }
    let count = sections.len() as u32 + 1;
    let head = [
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
        words(&[247 << 16 | 1, 1]),
        quads(&[0, 0, 64 + body.len() as u64]),
        words(&[0, 64, 64 << 16, (count - 1) << 16 | count]),
    ];
    [head.concat(), body, headers].concat()
}

/// Parts of an object beyond a whole congestion control.
#[derive(Default)]
struct Hostile {
    btf: Btf,
    notes: Vec<u8>,
    members: usize,
    relocations: usize,
    sections: usize,
    /// The type of the private state.
    state: Option<u32>,
}

fn object(Hostile { mut btf, notes, members, relocations, sections, state }: Hostile) -> Vec<u8> {
    let prototype = btf.add("", 13, 0, 0, &[]);
    let pointer = btf.add("", 2, 0, prototype, &[]);
    let names = ["ssthresh", "undo_cwnd", "cong_avoid"].map(|name| btf.string(name));
    let filled = names.iter().enumerate().flat_map(|(at, name)| [*name, pointer, 64 * at as u32]);
    let unfilled = (0..members as u32).flat_map(|at| [names[0], pointer, 64 * (9 + at)]);
    let all: Vec<u32> = filled.chain(unfilled).collect();
    let ops = btf.add("tcp_congestion_ops", 4, members + 3, 24, &all);
    let variable = btf.add("mine", 14, 0, ops, &[1]);
    btf.add(".struct_ops.link", 15, 1, 24, &[variable, 0, 24]);
    if let Some(of) = state {
        let pointer = btf.add("", 2, 0, of, &[]);
        btf.add("db_traced_state", 14, 0, pointer, &[1]);
    }
    let places = std::iter::repeat_n(7, relocations).chain([0, 8, 16]);
    let links = places.flat_map(|at| quads(&[at, 1 << 32 | 1])).collect();
    let mut all = vec![
        section("code", 1, 6, CODE.to_vec()),
        section(".struct_ops.link", 1, 3, vec![0; 24]),
        Section { info: 2, ..section(".rel.struct_ops.link", 9, 0, links) },
        section(".BTF", 1, 0, btf.section()),
        section(".BTF.ext", 1, 0, if notes.is_empty() { lines(0, 0) } else { notes }),
    ];
    all.extend((0..sections).map(|number| section(&format!("d{number:05}"), 1, 0, Vec::new())));
    elf(all)
}

/// Notes on `count` lines of the source in a section that the object lacks.
fn lines(section: u32, count: usize) -> Vec<u8> {
    let lines = [words(&[16, section, count as u32]), vec![0; 16 * count]].concat();
    [words(&[0x1_eb9f, 24, 0, 0, 0, lines.len() as u32]), lines].concat()
}

fn read_soon(hostile: Hostile) {
    let (object, begun) = (object(hostile), Instant::now());
    assert!(object.len() < 4 << 20, "{} bytes", object.len());
    Program::parse("hostile", &object, &[]).expect("a whole congestion control");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

#[test]
fn structures_within_structures_end() {
    let mut btf = Btf::default();
    let mut state = btf.add("int", 1, 0, 4, &[32]);
    for _ in 0..7 {
        state = btf.add("nested", 4, 1_000, 8, &[0, state, 0].repeat(1_000));
    }
    read_soon(Hostile { btf, state: Some(state), ..Hostile::default() });
}

#[test]
fn many_members_find_their_relocations() {
    read_soon(Hostile { members: 65_000, relocations: 180_000, ..Hostile::default() });
}

#[test]
fn many_notes_find_their_sections() {
    let mut btf = Btf::default();
    let lacking = btf.string("d-----");
    read_soon(Hostile { notes: lines(lacking, 120_000), btf, sections: 28_000, ..Hostile::default() });
}
