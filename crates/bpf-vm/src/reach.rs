//! Finds the instructions that a program can reach. Its constants count: rows for a reader that is not there, for example,
//! stand behind a constant that says so.

use crate::code::{BEHIND, CALL, EXIT, Instruction, LD_IMM64, LOCAL, POISON, bytes, class, compute, is_taken};
use crate::interpreter::helper;
use crate::memory::Memory;
use crate::storage::created;

/// The registers' values, as far as they are known.
type Known = [Option<u64>; 16];

/// The first instruction that stands for what is not modelled, of those that can be reached from `entries`. `memory`: a new flow's.
pub(crate) fn poisoned(code: &[Instruction], entries: &[usize], memory: &Memory) -> Option<usize> {
    let mut seen: Vec<Option<Known>> = vec![None; code.len()];
    let mut open: Vec<(usize, Known)> = entries.iter().map(|&entry| (entry, [None; 16])).collect();
    while let Some((at, known)) = open.pop() {
        let Some(before) = seen.get_mut(at) else { continue };
        let joined =
            before.map_or(known, |before| std::array::from_fn(|i| before[i].filter(|_| before[i] == known[i])));
        if *before == Some(joined) {
            continue;
        }
        *before = Some(joined);
        let instruction = code[at];
        if instruction.code == POISON {
            return Some(at);
        }
        step(at, instruction, joined, memory, &mut open);
    }
    None
}

/// Where it goes on behind an instruction, and what is known there.
fn step(at: usize, instruction: Instruction, mut known: Known, memory: &Memory, open: &mut Vec<(usize, Known)>) {
    let Instruction { code, off, imm, .. } = instruction;
    let (dst, src) = (usize::from(instruction.dst & 15), usize::from(instruction.src & 15));
    let operand = if instruction.has_register() { known[src] } else { Some(imm as u64) };
    let target = (at + 1).wrapping_add_signed(off.into());
    match instruction.class() {
        class::ALU | class::ALU64 => {
            let moves = code & 0xf0 == 0xb0;
            let a = if moves { Some(0) } else { known[dst] };
            known[dst] =
                a.zip(operand).and_then(|(a, b)| if code & 0xf0 == 0xd0 { None } else { compute(code, off, a, b) });
            open.push((at + 1, known));
        }
        class::LDX => {
            let address = known[src].map(|base| base.wrapping_add(off as u64));
            known[dst] =
                address.filter(|_| code & 0xe0 == 0x60).and_then(|address| memory.load_constant(address, bytes(code)));
            open.push((at + 1, known));
        }
        class::ST | class::STX => open.push((at + 1, known)),
        _ => match code {
            LD_IMM64 => {
                known[dst] = Some(imm as u64);
                open.push((at + 2, known));
            }
            BEHIND | EXIT => {}
            CALL => {
                if instruction.src == LOCAL {
                    open.push((imm as usize, [None; 16]));
                }
                let result = match (instruction.src, imm, known[1], known[4]) {
                    (0, helper::SK_STORAGE_GET, Some(map), Some(flags)) => created(map, flags, memory),
                    _ => None,
                };
                known[..6].fill(None);
                known[0] = result;
                open.push((at + 1, known));
            }
            0x05 => open.push((target, known)),
            0x06 => open.push(((at + 1).wrapping_add_signed(imm as isize), known)),
            _ => {
                let taken = known[dst].zip(operand).and_then(|(a, b)| is_taken(code, a, b));
                if taken != Some(true) {
                    open.push((at + 1, known));
                }
                if taken != Some(false) {
                    open.push((target, known));
                }
            }
        },
    }
}
