//! Folds what is known before any call, so that a call takes fewer instructions: addresses of fields, constants of the program and what
//! follows from them, and results that nobody reads. An access whose address is known is within its place in every call, and needs no
//! search for it. The object's own instructions stay the reference: traced calls run them.

use crate::code::{BEHIND, CALL, EXIT, Instruction, LD_IMM64, LOCAL, POISON, bytes, class, compute, is_taken};
use crate::fault::Fault;
use crate::interpreter::{World, call};
use crate::memory::Memory;
use crate::reach::Known;

/// Instructions that do what those of an object do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folded {
    code: Vec<Instruction>,
    /// The first instruction that does the same as each one of the object, or what comes next.
    places: Vec<usize>,
    /// The instruction of the object that each one stands for.
    origins: Vec<usize>,
}

/// `dst = imm`, 64 bits.
const MOV: u16 = 0xb7;
/// A jump that is always taken.
const GOTO: u16 = 0x05;
/// Rounds in which the registers that are read later must become known.
const MOST_ROUNDS: usize = 16;
/// All registers that an instruction can name.
const ALL: u16 = u16::MAX;

impl Folded {
    /// Calls the callback that begins at `entry` of the object.
    ///
    /// # Errors
    /// What it did, and the instruction of the object that did it.
    pub(crate) fn call(&self, entry: usize, memory: &mut Memory, world: &mut World) -> Result<u64, (Fault, usize)> {
        let entry = self.places.get(entry).copied().unwrap_or(self.code.len());
        let called = call(&self.code, entry, memory, world, &mut ());
        called.map_err(|(fault, at)| (fault, self.origins.get(at).copied().unwrap_or(self.places.len())))
    }
}

/// Folds `code`, before whose instructions this is known. `memory`: a new flow's.
pub(crate) fn folded(code: &[Instruction], known: &[Option<Known>], memory: &Memory) -> Folded {
    let mut simpler = code.to_vec();
    let mut is_kept: Vec<bool> = known.iter().map(Option::is_some).collect();
    for (at, known) in known.iter().enumerate() {
        if let Some(known) = known {
            simpler[at] = simplified(code[at], known, memory);
        }
    }
    // Instructions of 64 bits go on behind their second half; an instruction that a jump reaches is no such half.
    let is_whole = (0..code.len()).all(|at| code[at].code != BEHIND || !is_kept[at]);
    if !is_whole || !drop_unread(code, &simpler, &mut is_kept) {
        is_kept.fill(true);
        simpler.copy_from_slice(code);
    }
    packed(code, &simpler, &is_kept)
}

/// An instruction that does the same where this is known before it.
fn simplified(instruction: Instruction, known: &Known, memory: &Memory) -> Instruction {
    let Instruction { code, off, imm, .. } = instruction;
    let (dst, src) = (known[usize::from(instruction.dst & 15)], known[usize::from(instruction.src & 15)]);
    let operand = if instruction.has_register() { src } else { Some(imm as u64) };
    let constant = |value: u64| Instruction { code: MOV, src: 0, off: 0, imm: value as i64, ..instruction };
    // Its second operand, if it is known, as a constant.
    let with_constant = || match src {
        Some(value) if instruction.has_register() => {
            Instruction { code: code & !8, src: 0, imm: value as i64, ..instruction }
        }
        _ => instruction,
    };
    match instruction.class() {
        _ if is_computed(instruction) => {
            let a = if code & 0xf0 == 0xb0 { Some(0) } else { dst };
            let result = a.zip(operand).and_then(|(a, b)| compute(code, off, a, b));
            result.map_or_else(with_constant, constant)
        }
        class::LDX if code & 0xe0 == 0x60 => {
            let address = src.map(|base| base.wrapping_add(off as u64));
            let value = address.and_then(|address| memory.load_constant(address, bytes(code)));
            value.map_or_else(|| direct(instruction, address, memory), constant)
        }
        class::ST | class::STX if code & 0xe0 == 0x60 => {
            let instruction = match src {
                Some(value) if instruction.class() == class::STX => {
                    Instruction { code: code & !7 | class::ST, imm: value as i64, ..instruction }
                }
                _ => instruction,
            };
            direct(instruction, dst.map(|base| base.wrapping_add(off as u64)), memory)
        }
        _ => match code {
            LD_IMM64 => constant(imm as u64),
            _ if is_jump(code) => match dst.zip(operand).and_then(|(a, b)| is_taken(code, a, b)) {
                Some(true) => Instruction { code: GOTO, ..instruction },
                Some(false) => Instruction { code: GOTO, off: 0, ..instruction },
                None => with_constant(),
            },
            _ => instruction,
        },
    }
}

/// An access to memory, without the search for its place if the address is known.
fn direct(instruction: Instruction, address: Option<u64>, memory: &Memory) -> Instruction {
    let found = address.and_then(|address| {
        let off = i32::from(i16::try_from(address as u32).ok()?);
        Some(Instruction { code: memory.direct(instruction.code, address)?, off, ..instruction })
    });
    found.unwrap_or(instruction)
}

/// Where an instruction goes on, in instructions of the object.
fn next(object: Instruction, instruction: Instruction, at: usize) -> [Option<usize>; 2] {
    let behind = if object.code == LD_IMM64 { at + 2 } else { at + 1 };
    match instruction.code {
        EXIT | POISON => [None, None],
        GOTO => [Some(behind.wrapping_add_signed(instruction.off as isize)), None],
        0x06 => [Some(behind.wrapping_add_signed(instruction.imm as isize)), None],
        code if is_jump(code) => [Some(behind), Some(behind.wrapping_add_signed(instruction.off as isize))],
        _ => [Some(behind), None],
    }
}

/// True for a jump that depends on a comparison.
fn is_jump(code: u16) -> bool {
    code < 0x100 && matches!(code & 7, 5 | 6) && is_taken(code, 0, 0).is_some()
}

/// Keeps no instruction whose result nobody reads. Returns false if that would take too long to find.
fn drop_unread(object: &[Instruction], code: &[Instruction], is_kept: &mut [bool]) -> bool {
    let has_functions = code.iter().any(|instruction| instruction.code == CALL && instruction.src == LOCAL);
    let end = if has_functions { ALL } else { 1 };
    // Registers that are read behind the beginning of each instruction.
    let mut read = vec![0_u16; code.len()];
    let behind = |read: &[u16], at: usize| {
        let places = next(object[at], code[at], at).into_iter().flatten();
        places.fold(0, |all, place| all | read.get(place).copied().unwrap_or_default())
    };
    for _ in 0..MOST_ROUNDS {
        let mut has_changed = false;
        for at in (0..code.len()).rev().filter(|&at| is_kept[at]) {
            let later = behind(&read, at);
            let (uses, sets) = if code[at].code == EXIT { (end, 0) } else { registers(code[at]) };
            // What has no other effect reads nothing if its result is not read.
            let before = if has_only_result(code[at]) && later & sets == 0 { later } else { later & !sets | uses };
            has_changed |= read[at] != before;
            read[at] = before;
        }
        if !has_changed {
            for at in 0..code.len() {
                let is_unread = has_only_result(code[at]) && behind(&read, at) & registers(code[at]).1 == 0;
                let is_nothing = code[at].code == GOTO && code[at].off == 0;
                is_kept[at] &= !is_unread && !is_nothing;
            }
            return true;
        }
    }
    false
}

/// Registers that an instruction reads, and the register that it sets, as bits.
fn registers(instruction: Instruction) -> (u16, u16) {
    let (dst, src) = (1_u16 << (instruction.dst & 15), 1_u16 << (instruction.src & 15));
    let operand = if instruction.has_register() { src } else { 0 };
    if instruction.code >= 0x100 {
        return match instruction.class() {
            class::LDX => (0, dst),
            class::STX => (src, 0),
            _ => (0, 0),
        };
    }
    match instruction.class() {
        class::ALU | class::ALU64 if instruction.code & 0xf0 == 0xb0 => (operand, dst),
        class::ALU | class::ALU64 => (dst | operand, dst),
        class::LDX => (src, dst),
        class::ST => (dst, 0),
        class::STX => (dst | src, 0),
        _ => match instruction.code {
            CALL if instruction.src == LOCAL => (ALL, 0),
            CALL => (0b11_1110, 1),
            GOTO | 0x06 | POISON => (0, 0),
            _ => (dst | operand, 0),
        },
    }
}

/// True if an instruction does nothing but set a register, and cannot fail.
fn has_only_result(instruction: Instruction) -> bool {
    match instruction.class() {
        class::LDX => instruction.code >= 0x100,
        _ => is_computed(instruction),
    }
}

/// True for an operation on numbers that there is. A negation has no operand.
fn is_computed(instruction: Instruction) -> bool {
    let (code, class) = (instruction.code, instruction.class());
    code < 0x100
        && matches!(class, class::ALU | class::ALU64)
        && code & 0xf8 != 0x88
        && compute(code, instruction.off, 0, 1).is_some()
}

/// Puts together what is kept, and shortens the jumps.
fn packed(object: &[Instruction], code: &[Instruction], is_kept: &[bool]) -> Folded {
    let origins: Vec<usize> = (0..code.len()).filter(|&at| is_kept[at]).collect();
    let mut places = vec![origins.len(); code.len()];
    let mut place = origins.len();
    for at in (0..code.len()).rev() {
        if is_kept[at] {
            place -= 1;
        }
        places[at] = place;
    }
    let moved = |at: usize| {
        let mut instruction = code[at];
        let distance = |to: usize| {
            let to = places.get(to).copied().unwrap_or(origins.len());
            to as i64 - places[at] as i64 - 1
        };
        match instruction.code {
            CALL if instruction.src == LOCAL => {
                instruction.imm = places.get(instruction.imm as usize).copied().unwrap_or(origins.len()) as i64
            }
            0x06 => instruction.imm = distance((at + 1).wrapping_add_signed(instruction.imm as isize)),
            GOTO => instruction.off = distance(next(object[at], instruction, at)[0].unwrap_or(at)) as i32,
            code if is_jump(code) => {
                instruction.off = distance(next(object[at], instruction, at)[1].unwrap_or(at)) as i32
            }
            _ => {}
        }
        instruction
    };
    Folded { code: origins.iter().map(|&at| moved(at)).collect(), places, origins }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cc::Random;

    use super::*;
    use crate::callbacks::Entry;
    use crate::code::decoded;
    use crate::memory::{CONSTANTS, FRAMES, SAMPLE, SOCKET};
    use crate::reach::reached;
    use crate::storage::MAPS;

    /// Codes that lie in objects, calls of functions and 64-bit constants aside; and two that there are not.
    const CODES: &[u8] = &[
        0x07, 0x0f, 0x17, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x47, 0x4f, 0x57, 0x5f, 0x67, 0x6f, 0x77, 0x7f, 0x87, 0x97,
        0x9f, 0xa7, 0xaf, 0xb7, 0xbf, 0xc7, 0xcf, 0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34, 0x3c, 0x44, 0x4c, 0x54,
        0x5c, 0x64, 0x6c, 0x74, 0x7c, 0x84, 0x94, 0x9c, 0xa4, 0xac, 0xb4, 0xbc, 0xc4, 0xcc, 0xd4, 0xdc, 0xd7, 0x05,
        0x15, 0x1d, 0x25, 0x2d, 0x35, 0x3d, 0x45, 0x4d, 0x55, 0x5d, 0x65, 0x6d, 0x75, 0x7d, 0xa5, 0xad, 0xb5, 0xbd,
        0xc5, 0xcd, 0xd5, 0xdd, 0x16, 0x1e, 0x26, 0x2e, 0x36, 0x3e, 0x46, 0x4e, 0x56, 0x5e, 0x66, 0x6e, 0x76, 0x7e,
        0xa6, 0xae, 0xb6, 0xbe, 0xc6, 0xce, 0xd6, 0xde, 0x8f, 0xdb,
    ];
    const LOADS: &[u8] = &[0x61, 0x69, 0x71, 0x79, 0x81, 0x89, 0x91];
    const STORES: &[u8] = &[0x62, 0x6a, 0x72, 0x7a, 0x63, 0x6b, 0x73, 0x7b];
    /// Bytes of the program that lie behind its constants.
    const CONSTANT_BYTES: [u8; 8] = [1, 0, 0, 0, 200, 7, 0, 0xff];

    fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
        of[random.next_u32() as usize % of.len()]
    }

    /// A program of random instructions, most of which can be carried out. Registers 6 to 9 begin with addresses.
    fn drawn(random: &mut Random) -> Vec<Instruction> {
        let op = |code: u8, dst: u8, src: u8, off: i16, imm: i32| {
            let (off, imm) = (off.to_le_bytes(), imm.to_le_bytes());
            [code, src << 4 | dst, off[0], off[1], imm[0], imm[1], imm[2], imm[3]]
        };
        let mut code = vec![op(0x79, 6, 1, 0, 0), op(0x79, 7, 1, 8, 0), op(0xbf, 8, 10, 0, 0)];
        code.extend([op(LD_IMM64 as u8, 9, 0, 0, 0), op(0, 0, 0, 0, (CONSTANTS >> 32) as i32)]);
        code.extend((0..6).filter(|at| *at != 1).map(|at| op(0xb7, at, 0, 0, i32::from(at) * 77 - 100)));
        for _ in 0..40 {
            let dst = if random.next_u32().is_multiple_of(30) { 10 } else { random.next_u32() as u8 % 6 };
            let src = random.next_u32() as u8 % 6;
            let base = pick(random, &[6, 6, 6, 7, 8, 9, 10, 1, 0]);
            let near = pick(random, &[0, 8, 4, -8, -16, 64, 280, 288, 300, 368, 374, 512, -512, -516]);
            let imm = pick(random, &[0, 1, 2, -1, 8, 16, 32, 64, 1_000, i32::MAX, i32::MIN]);
            let next = match random.next_u32() % 12 {
                0..3 => op(pick(random, LOADS), dst, base, near, 0),
                3..5 => op(pick(random, STORES), base, dst, near, imm),
                5 => op(0xbf, dst, base, 0, 0),
                6 if random.next_u32().is_multiple_of(3) => {
                    // The value of a map, which most calls make; where it lies is known behind most of them.
                    let (map, socket, flags) =
                        (pick(random, &[0, 0, 0, 1]), pick(random, &[6, 6, 6, 1]), pick(random, &[1, 1, 0]));
                    code.extend([op(LD_IMM64 as u8, 1, 0, 0, map), op(0, 0, 0, 0, (MAPS >> 32) as i32)]);
                    code.extend([op(0xbf, 2, socket, 0, 0), op(0xb7, 3, 0, 0, 0), op(0xb7, 4, 0, 0, flags)]);
                    code.push(op(CALL as u8, 0, 0, 0, pick(random, &[107, 107, 107, 108])));
                    op(pick(random, &[0x15, 0x55]), 0, 0, pick(random, &[1, 2]), 0)
                }
                6 => op(CALL as u8, 0, 0, 0, pick(random, &[5, 7, 118])),
                7 => op(CALL as u8, 0, LOCAL, 0, pick(random, &[1, 2, 5])),
                8 => op(EXIT as u8, 0, 0, 0, 0),
                _ => {
                    let chosen = pick(random, CODES);
                    let off = if chosen & 7 < 5 || chosen & 7 == 7 {
                        pick(random, &[0, 0, 0, 1, 8, 16])
                    } else {
                        pick(random, &[0, 1, 2, 3, 5, 9, -3])
                    };
                    op(chosen, dst, src, off, imm)
                }
            };
            code.push(next);
        }
        code.extend([op(0x7b, 6, 1, 0, 0), op(EXIT as u8, 0, 0, 0, 0)]);
        let mut code = decoded(code.as_flattened());
        for (at, instruction) in
            code.iter_mut().enumerate().filter(|(_, instruction)| instruction.code == CALL && instruction.src == LOCAL)
        {
            instruction.imm += at as i64 + 1;
        }
        code
    }

    #[test]
    fn folded_programs_do_what_the_object_does() {
        let mut random = Random::new(39);
        let (mut finished, mut shorter) = (0, 0);
        for number in 0..20_000 {
            let code = drawn(&mut random);
            let mut memory = Memory::new(Arc::from(CONSTANT_BYTES), FRAMES, &[16]);
            for (at, byte) in memory.socket.iter_mut().chain(&mut memory.sample).enumerate() {
                *byte = at as u8 ^ number as u8;
            }
            for (place, word) in memory.context.chunks_exact_mut(8).zip([SOCKET, SAMPLE, 3, number]) {
                place.copy_from_slice(&word.to_le_bytes());
            }
            // Sometimes a second callback begins there, without a sample, or in the middle.
            let begin = |at, sample| Entry { at, sample };
            let second = pick(&mut random, &[begin(0, Some(1)), begin(0, None), begin(25, None), begin(25, Some(1))]);
            let known = reached(&code, &[begin(0, Some(1)), second], &memory).expect("nothing is poisoned");
            let folded = folded(&code, &known, &memory);
            let mut other = memory.clone();
            let world = || World { now_ns: 7_000, ticks: 3, random: Random::new(number), ack: None };
            let mut worlds = [world(), world()];
            let places = |memory: &Memory| {
                let values = memory.storage.iter().map(|value| (value.bytes.clone(), value.is_held));
                (memory.socket, memory.sample, memory.stack.clone(), values.collect::<Vec<_>>())
            };
            // The second call begins with the memory that the first has left.
            for (entry, sample) in [(0, Some(1)), (second.at, second.sample), (0, Some(1))] {
                for memory in [&mut memory, &mut other] {
                    memory.context[8..16].copy_from_slice(&sample.map_or(5, |_| SAMPLE).to_le_bytes());
                }
                let expected = call(&code, entry, &mut memory, &mut worlds[0], &mut ());
                if matches!(expected, Err((Fault::Endless, _))) {
                    break;
                }
                let result = folded.call(entry, &mut other, &mut worlds[1]);
                assert_eq!(result, expected, "program {number}: {code:?}");
                assert_eq!(places(&other), places(&memory), "program {number}: {code:?}");
                assert_eq!(worlds[0].random, worlds[1].random, "program {number}");
                finished += usize::from(result.is_ok());
            }
            shorter += usize::from(folded.code.len() < code.len());
        }
        assert!(finished > 2_000 && shorter > 10_000, "{finished} programs ended, {shorter} became shorter");
    }
}
