//! An object, ready to be run.

use std::sync::Arc;

use cc::Setting;
use cc::state::STATE_SETS;
use messages::Failure;

use crate::btf::{Notes, Types, notes};
use crate::callbacks::Callbacks;
use crate::code::{CALL, Instruction, LD_IMM64, LOCAL, POISON, decoded};
use crate::fault::Fault;
use crate::fold::{Folded, folded};
use crate::memory::{CONSTANTS, FRAMES, Memory};
use crate::object::{Link, Object};
use crate::reach::reached;
use crate::relocations::{answer, patch};
use crate::storage::Maps;
use crate::trace::{Named, state};

/// A congestion control of one object, with its parameters: all that its flows share.
#[derive(Clone, Debug)]
pub struct Program {
    label: String,
    /// The instructions of the object, which calls that are traced run.
    pub(crate) code: Vec<Instruction>,
    /// The same without what is known before.
    pub(crate) folded: Folded,
    pub(crate) callbacks: Callbacks,
    constants: Arc<[u8]>,
    /// Frames of a flow's stack: one for a program without functions of its own.
    frames: usize,
    /// Bytes of the values of socket storage.
    storage: Vec<usize>,
    /// Whose state it publishes (`PUBLISHES` of the headers): a place in [`STATE_SETS`] plus 1, or 0.
    pub(crate) publishes: u8,
    /// The lines of the source, by their first instruction, in order.
    lines: Vec<(usize, String)>,
    /// The names of things that are not modelled, by number.
    unmodelled: Vec<String>,
    /// Members of the private state and of socket storage, where they are known.
    pub(crate) state: Vec<Named>,
}

/// Bytes of an object: its names are copied, so a hostile one takes some hundred times as many.
const LARGEST: usize = 4 << 20;

/// Advice for what only a kernel can run.
const EMULATE: &str = "run it with --engine emulate";

impl Program {
    /// Reads an object that clang has made, with `parameters` in place of its defaults. `label`: the name of the algorithm.
    ///
    /// # Errors
    /// It is no object with a congestion control, lacks a parameter, or may come to what is not modelled.
    pub fn parse(label: &str, object: &[u8], parameters: &[(&str, Setting)]) -> Result<Program, Failure> {
        let refuse = |why: String| Failure::new(format!("the congestion control {label}"), why).hint(EMULATE);
        if object.len() > LARGEST {
            return Err(refuse(format!("the object has more than {} MiB", LARGEST >> 20)));
        }
        let object = Object::parse(object).ok_or_else(|| refuse("it is no BPF object".into()))?;
        let types = object.section(".BTF").and_then(|section| Types::parse(&section.data));
        let types = types.ok_or_else(|| refuse("the object has no type information: compile it with -g".into()))?;
        let notes = match object.section(".BTF.ext") {
            Some(section) => {
                notes(&section.data, &types).ok_or_else(|| refuse("its type information is broken".into()))?
            }
            None => Notes::default(),
        };
        let mut made = Maker::new(&object, Maps::find(&types));
        made.link(&object);
        made.relocate(&object, &types, &notes);
        let callbacks = Callbacks::find(&object, &types, &made.begins);
        let callbacks = callbacks.ok_or_else(|| refuse("the object has no struct tcp_congestion_ops".into()))?;
        if let Some(lacking) = callbacks.lacks() {
            return Err(refuse(format!("it has no {lacking}, which the kernel demands")));
        }
        made.set(&object, parameters).map_err(refuse)?;
        let publishes = made.constant(&object, "db_publishes").map_or(0, |bytes| bytes[0]);
        let mut lines: Vec<(usize, String)> = notes
            .lines
            .into_iter()
            .filter_map(|(section, at, line)| Some((made.begin(&object, &section)? + at, line)))
            .collect();
        lines.sort();
        let constants = Arc::from(made.constants);
        let publishes = if usize::from(publishes) <= STATE_SETS.len() { publishes } else { 0 };
        let has_calls = made.code.iter().any(|one| one.code == CALL && one.src == LOCAL);
        let mut program = Program {
            label: label.to_owned(),
            code: made.code,
            folded: Folded::default(),
            callbacks,
            constants,
            frames: if has_calls { FRAMES } else { 1 },
            storage: made.maps.sizes,
            publishes,
            lines,
            unmodelled: made.unmodelled,
            state: state(&types, &made.maps.values),
        };
        let memory = program.memory();
        match reached(&program.code, &program.callbacks.entries(), &memory) {
            Err(at) => Err(refuse(program.description(&Fault::Unmodelled(program.code[at].imm as usize), at))),
            Ok(known) => {
                program.folded = folded(&program.code, &known, &memory);
                Ok(program)
            }
        }
    }

    /// The memory of a flow.
    pub(crate) fn memory(&self) -> Memory {
        Memory::new(self.constants.clone(), self.frames, &self.storage)
    }

    /// True if it asks the stack to negotiate ECN.
    pub fn needs_ecn(&self) -> bool {
        self.callbacks.needs_ecn
    }

    /// The failure of a call.
    pub(crate) fn failure(&self, fault: &Fault, at: usize) -> Failure {
        Failure::new(format!("the congestion control {}", self.label), self.description(fault, at))
            .hint("the tables hold what was simulated until then; dumbbell cc check says whether a kernel takes it")
    }

    /// A fault in words, with its line.
    pub(crate) fn description(&self, fault: &Fault, at: usize) -> String {
        let said = match fault {
            Fault::Unmodelled(number) => {
                let what = self.unmodelled.get(*number).map_or("something", String::as_str);
                format!("the simulator does not have {what}")
            }
            fault => fault.to_string(),
        };
        let line = self.lines.iter().rev().find(|(from, _)| *from <= at);
        line.map_or_else(|| said.clone(), |(_, line)| format!("{said} ({line})"))
    }
}

/// A program as it is put together.
struct Maker {
    code: Vec<Instruction>,
    constants: Vec<u8>,
    maps: Maps,
    unmodelled: Vec<String>,
    /// By the number of a section: its first instruction.
    begins: Vec<Option<usize>>,
    /// By the number of a section: where it lies in the constants.
    bases: Vec<Option<usize>>,
}

impl Maker {
    fn new(object: &Object, maps: Maps) -> Maker {
        let none = vec![None; object.sections.len()];
        let mut made = Maker {
            code: Vec::new(),
            constants: Vec::new(),
            maps,
            unmodelled: Vec::new(),
            begins: none.clone(),
            bases: none,
        };
        for (number, section) in object.sections.iter().enumerate() {
            if section.is_code {
                made.begins[number] = Some(made.code.len());
                made.code.extend(decoded(&section.data));
            } else if section.is_constant {
                made.bases[number] = Some(made.constants.len());
                made.constants.extend(&section.data);
                made.constants.resize(made.constants.len().next_multiple_of(8), 0);
            }
        }
        made
    }

    fn begin(&self, object: &Object, section: &str) -> Option<usize> {
        self.begins[object.number(section)?]
    }

    /// Marks an instruction that needs `what`, which is not modelled.
    fn poison(&mut self, at: usize, what: String) {
        self.code[at] = Instruction { code: POISON, imm: self.unmodelled.len() as i64, ..self.code[at] };
        self.unmodelled.push(what);
    }

    /// Calls and addresses of what is in the object.
    fn link(&mut self, object: &Object) {
        let mut linked = vec![false; self.code.len()];
        for (number, section) in object.sections.iter().enumerate() {
            let Some(begin) = self.begins[number] else { continue };
            for link in &section.relocations {
                let at = begin + link.offset / 8;
                if at < self.code.len() {
                    linked[at] = true;
                    self.link_one(object, at, link);
                }
            }
        }
        for (at, (one, is_linked)) in self.code.iter_mut().zip(linked).enumerate() {
            // A function of the same section.
            if one.code == CALL && one.src == LOCAL && !is_linked {
                one.imm = one.imm.wrapping_add(at as i64 + 1);
            }
        }
    }

    fn link_one(&mut self, object: &Object, at: usize, link: &Link) {
        let Instruction { code, imm, .. } = self.code[at];
        let section = link.symbol.section;
        let name = if link.symbol.name.is_empty() { "a variable".to_owned() } else { link.symbol.name.clone() };
        let function = section.and_then(|section| self.begins.get(section).copied().flatten());
        let constant = section.and_then(|section| self.bases.get(section).copied().flatten());
        match (code, function, constant) {
            (CALL, Some(begin), _) => {
                self.code[at].src = LOCAL;
                self.code[at].imm = imm.wrapping_add((begin + link.symbol.offset / 8) as i64 + 1);
            }
            (LD_IMM64, _, Some(base)) => {
                self.code[at].imm =
                    (CONSTANTS as i64).wrapping_add(base.wrapping_add(link.symbol.offset) as i64).wrapping_add(imm);
            }
            (CALL, ..) => self.poison(at, format!("the kernel's function {name}")),
            (_, Some(_), _) => self.poison(at, "pointers to functions".into()),
            _ if section.is_none() => self.poison(at, format!("the kernel's {name}")),
            _ if section
                .and_then(|section| object.sections.get(section))
                .is_some_and(|section| section.name == ".maps") =>
            {
                match self.maps.pointer(&name) {
                    Some(pointer) => self.code[at].imm = pointer as i64,
                    None => self.poison(at, format!("maps other than socket storage of 20 kB, such as {name}")),
                }
            }
            _ => self.poison(at, format!("variables that all connections share, such as {name}")),
        }
    }

    /// Places of the kernel's fields.
    fn relocate(&mut self, object: &Object, types: &Types, notes: &Notes) {
        for relocation in &notes.relocations {
            let Some(begin) = self.begin(object, &relocation.section) else { continue };
            let at = begin + relocation.instruction;
            if at >= self.code.len() || self.code[at].code == POISON {
                continue;
            }
            let answered = answer(types, relocation);
            let done = answered
                .and_then(|value| patch(&mut self.code[at], value).ok_or_else(|| "such a place of a field".into()));
            if let Err(what) = done {
                self.poison(at, what);
            }
        }
    }

    /// Where a constant lies.
    fn place(&self, object: &Object, name: &str) -> Option<std::ops::Range<usize>> {
        let symbol = object.symbol(name)?;
        let begin = self.bases.get(symbol.section?).copied().flatten()?.checked_add(symbol.offset)?;
        let end = begin.checked_add(symbol.bytes)?;
        (symbol.bytes > 0 && end <= self.constants.len()).then_some(begin..end)
    }

    fn constant(&self, object: &Object, name: &str) -> Option<&[u8]> {
        self.place(object, name).map(|place| &self.constants[place])
    }

    fn set(&mut self, object: &Object, parameters: &[(&str, Setting)]) -> Result<(), String> {
        for (name, setting) in parameters {
            let place = self.place(object, name).filter(|place| place.len() <= 8);
            let place = place.ok_or_else(|| format!("it has no parameter {name}"))?;
            let value = match *setting {
                Setting::Flag(flag) => i64::from(flag),
                Setting::Number(number) => number,
            };
            let bytes = value.to_le_bytes();
            let count = place.len();
            self.constants[place].copy_from_slice(&bytes[..count]);
        }
        Ok(())
    }
}
