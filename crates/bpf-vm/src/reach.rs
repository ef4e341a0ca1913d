//! Finds the instructions that a program can reach, and the registers' values there, as far as they are known. Its constants count:
//! rows for a reader that is not there, for example, stand behind a constant that says so.

use crate::callbacks::Entry;
use crate::code::{BEHIND, CALL, EXIT, Instruction, LD_IMM64, LOCAL, POISON, bytes, class, compute, is_taken};
use crate::interpreter::helper;
use crate::memory::{CONTEXT, FRAME_BYTES, Memory, SAMPLE, SOCKET, STACK};
use crate::storage::created;

/// The values of the 16 registers that an instruction can name, as far as they are known; and behind them the argument of the callback
/// that is the sample.
pub(crate) type Known = [Option<u64>; 17];

/// Registers before each instruction that can be reached from `entries`; `None`: it cannot. `memory`: a new flow's.
///
/// # Errors
/// An instruction that stands for what is not modelled can be reached.
pub(crate) fn reached(code: &[Instruction], entries: &[Entry], memory: &Memory) -> Result<Vec<Option<Known>>, usize> {
    let mut seen: Vec<Option<Known>> = vec![None; code.len()];
    let mut open: Vec<(usize, Known)> = entries.iter().map(|entry| (entry.at, begin(entry))).collect();
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
            return Err(at);
        }
        step(at, instruction, joined, memory, &mut open);
    }
    Ok(seen)
}

/// Registers at the beginning of a callback.
fn begin(entry: &Entry) -> Known {
    let mut known = [None; 17];
    known[1] = Some(CONTEXT);
    known[10] = Some(STACK + FRAME_BYTES as u64);
    known[16] = entry.sample;
    known
}

/// The argument at an address of the context, if it is the connection or the sample. A program cannot write there.
fn argument(address: u64, count: usize, known: &Known) -> Option<u64> {
    let word = address.checked_sub(CONTEXT).filter(|at| count == 8 && at % 8 == 0)? / 8;
    match word {
        0 => Some(SOCKET),
        _ => known[16].filter(|&sample| sample == word).map(|_| SAMPLE),
    }
}

/// Where it goes on behind an instruction, and what is known there.
fn step(at: usize, instruction: Instruction, mut known: Known, memory: &Memory, open: &mut Vec<(usize, Known)>) {
    let Instruction { code, off, imm, .. } = instruction;
    let (dst, src) = (usize::from(instruction.dst & 15), usize::from(instruction.src & 15));
    let operand = if instruction.has_register() { known[src] } else { Some(imm as u64) };
    let target = (at + 1).wrapping_add_signed(off as isize);
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
            let count = bytes(code);
            known[dst] = address
                .filter(|_| code & 0xe0 == 0x60)
                .and_then(|address| memory.load_constant(address, count).or_else(|| argument(address, count, &known)));
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
                    open.push((imm as usize, [None; 17]));
                    // A function keeps registers 6 to 9 of its caller alone.
                    known[10..].fill(None);
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
