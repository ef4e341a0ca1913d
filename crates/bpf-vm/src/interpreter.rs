//! Executes the instructions of a program.

use cc::Random;

use crate::code::{CALL, EXIT, Instruction, LD_IMM64, LOCAL, POISON, bytes, class, compute, is_taken, swapped};
use crate::fault::{Fault, MOST_INSTRUCTIONS};
use crate::memory::{CONTEXT, FRAME_BYTES, FRAMES, Memory, STACK};
use crate::model::demands_cwr;
use crate::storage;
use crate::trace::Watch;

/// The moment of a call, and what a program has done by helpers.
#[derive(Debug)]
pub(crate) struct World {
    /// The kernel's clock, ns.
    pub now_ns: u64,
    /// The same in jiffies.
    pub ticks: u64,
    /// The flow's random numbers.
    pub random: Random,
    /// An ACK that it has sent: up to which sequence number, and whether with ECE.
    pub ack: Option<(u32, bool)>,
}

/// Numbers of the helpers that are modelled (linux/bpf.h).
pub(crate) mod helper {
    pub(super) const KTIME_GET_NS: i64 = 5;
    pub(super) const TRACE_PRINTK: i64 = 6;
    pub(super) const GET_PRANDOM_U32: i64 = 7;
    pub(crate) const SK_STORAGE_GET: i64 = 107;
    pub(super) const SK_STORAGE_DELETE: i64 = 108;
    pub(super) const PROBE_READ_KERNEL: i64 = 113;
    pub(super) const TCP_SEND_ACK: i64 = 116;
    pub(super) const JIFFIES64: i64 = 118;
    pub(super) const KTIME_GET_BOOT_NS: i64 = 125;
    pub(super) const TRACE_VPRINTK: i64 = 177;
    pub(super) const KTIME_GET_COARSE_NS: i64 = 160;
}

/// Calls the function at `entry` with the arguments in the context, and returns its result.
///
/// # Errors
/// What it did, and the instruction that did it.
#[inline(never)]
pub(crate) fn call<W: Watch>(
    code: &[Instruction],
    entry: usize,
    memory: &mut Memory,
    world: &mut World,
    watch: &mut W,
) -> Result<u64, (Fault, usize)> {
    let mut registers = [0; 16];
    registers[1] = CONTEXT;
    registers[10] = STACK + FRAME_BYTES as u64;
    memory.depth = 0;
    let mut at = entry;
    for _ in 0..MOST_INSTRUCTIONS {
        let Some(one) = code.get(at) else { return Err((Fault::Read(8), at)) };
        let fault = |fault| (fault, at);
        let unknown = || (Fault::Unknown(one.code), at);
        let jump = |distance: i32| (at + 1).wrapping_add_signed(distance as isize);
        // Each arm reads the parts of the instruction that it needs: to read all of them before is slower.
        macro_rules! dst {
            () => {
                registers[usize::from(one.dst & 15)]
            };
        }
        macro_rules! src {
            () => {
                registers[usize::from(one.src & 15)]
            };
        }
        // One arm for each code: what is constant in it is known to the compiler. Its value is the next instruction.
        macro_rules! arms {
            (computes: $($c:literal)*; jumps: $($j:literal)*; loads: $($l:literal)*; stores: $($s:literal)*;
                $([$place:ident loads: $($dl:literal)*; stores: $($ds:literal)*])* rest: $($rest:tt)*) => {
                match one.code {
                    $($c => {
                        let operand = if $c & 8 != 0 { src!() } else { one.imm as u64 };
                        dst!() = compute($c, one.off, dst!(), operand).ok_or_else(unknown)?;
                        at + 1
                    })*
                    $($j => {
                        let operand = if $j & 8 != 0 { src!() } else { one.imm as u64 };
                        if is_taken($j, dst!(), operand).ok_or_else(unknown)? { jump(one.off) } else { at + 1 }
                    })*
                    $($l => {
                        let address = src!().wrapping_add(one.off as u64);
                        let value = memory.load(address, bytes($l)).map_err(fault)?;
                        watch.read(address, bytes($l));
                        // Loads that extend the sign take it from the highest bit of the bytes.
                        let shift = if $l & 0xe0 == 0x80 { 64 - 8 * bytes($l) as u32 } else { 0 };
                        dst!() = (((value << shift) as i64) >> shift) as u64;
                        at + 1
                    })*
                    $($s => {
                        let value = if $s & 7 == class::STX { src!() } else { one.imm as u64 };
                        let address = dst!().wrapping_add(one.off as u64);
                        memory.store(address, bytes($s), value).map_err(fault)?;
                        watch.written(address, bytes($s));
                        at + 1
                    })*
                    $($($dl => {
                        let from = usize::from(one.off as u16);
                        let found = memory.$place.get(from..from + bytes($dl));
                        dst!() = number(found.ok_or_else(|| fault(Fault::Read(bytes($dl))))?);
                        at + 1
                    })*
                    $($ds => {
                        let value = if $ds & 7 == class::STX { src!() } else { one.imm as u64 };
                        let from = usize::from(one.off as u16);
                        let found = memory.$place.get_mut(from..from + bytes($ds));
                        let found = found.ok_or_else(|| fault(Fault::Written(bytes($ds))))?;
                        found.copy_from_slice(&value.to_le_bytes()[..bytes($ds)]);
                        at + 1
                    })*)*
                    $($rest)*
                }
            };
        }
        at = arms! {
            computes: 0x07 0x0f 0x17 0x1f 0x27 0x2f 0x37 0x3f 0x47 0x4f 0x57 0x5f 0x67 0x6f 0x77 0x7f 0x87 0x97 0x9f 0xa7
                0xaf 0xb7 0xbf 0xc7 0xcf 0x04 0x0c 0x14 0x1c 0x24 0x2c 0x34 0x3c 0x44 0x4c 0x54 0x5c 0x64 0x6c 0x74 0x7c
                0x84 0x94 0x9c 0xa4 0xac 0xb4 0xbc 0xc4 0xcc;
            jumps: 0x15 0x1d 0x25 0x2d 0x35 0x3d 0x45 0x4d 0x55 0x5d 0x65 0x6d 0x75 0x7d 0xa5 0xad 0xb5 0xbd 0xc5 0xcd 0xd5
                0xdd 0x16 0x1e 0x26 0x2e 0x36 0x3e 0x46 0x4e 0x56 0x5e 0x66 0x6e 0x76 0x7e 0xa6 0xae 0xb6 0xbe 0xc6 0xce
                0xd6 0xde;
            loads: 0x61 0x69 0x71 0x79 0x81 0x89 0x91;
            stores: 0x62 0x6a 0x72 0x7a 0x63 0x6b 0x73 0x7b;
            [socket loads: 0x161 0x169 0x171 0x179; stores: 0x162 0x16a 0x172 0x17a 0x163 0x16b 0x173 0x17b]
            [stack loads: 0x261 0x269 0x271 0x279; stores: 0x262 0x26a 0x272 0x27a 0x263 0x26b 0x273 0x27b]
            [sample loads: 0x361 0x369 0x371 0x379; stores: ]
            [context loads: 0x461 0x469 0x471 0x479; stores: ]
            rest:
            0xd4 | 0xdc | 0xd7 => {
                dst!() = swapped(one.code, one.imm, dst!()).ok_or_else(unknown)?;
                at + 1
            }
            LD_IMM64 => {
                dst!() = one.imm as u64;
                at + 2
            }
            EXIT => {
                let Some(depth) = memory.depth.checked_sub(1) else { return Ok(registers[0]) };
                memory.depth = depth;
                let (kept, next) = memory.callers[depth];
                registers[6..10].copy_from_slice(&kept);
                registers[10] = registers[10].wrapping_sub(FRAME_BYTES as u64);
                next
            }
            CALL if one.src == LOCAL => {
                if memory.depth + 1 == FRAMES {
                    return Err(fault(Fault::Deep));
                }
                let kept = [registers[6], registers[7], registers[8], registers[9]];
                memory.callers[memory.depth] = (kept, at + 1);
                memory.depth += 1;
                registers[10] = registers[10].wrapping_add(FRAME_BYTES as u64);
                one.imm as usize
            }
            CALL => {
                registers[0] = help(one.imm, &registers, memory, world).map_err(fault)?;
                at + 1
            }
            POISON => return Err(fault(Fault::Unmodelled(one.imm as usize))),
            0x05 => jump(one.off),
            0x06 => jump(one.imm as i32),
            _ => return Err(unknown()),
        };
    }
    Err((Fault::Endless, at))
}

/// The number in at most 8 bytes.
#[inline(always)]
fn number(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(whole)
}

/// The helpers of the kernel.
fn help(number: i64, registers: &[u64; 16], memory: &mut Memory, world: &mut World) -> Result<u64, Fault> {
    Ok(match number {
        helper::KTIME_GET_NS | helper::KTIME_GET_BOOT_NS | helper::KTIME_GET_COARSE_NS => world.now_ns,
        helper::JIFFIES64 => world.ticks,
        helper::GET_PRANDOM_U32 => world.random.next_u32().into(),
        // Nobody reads it.
        helper::TRACE_PRINTK | helper::TRACE_VPRINTK => 0,
        helper::PROBE_READ_KERNEL => {
            let count = registers[2] as u32 as usize;
            if count > FRAME_BYTES {
                return Err(Fault::Written(count));
            }
            for at in 0..count as u64 {
                let byte = memory.load(registers[3].wrapping_add(at), 1)?;
                memory.store(registers[1].wrapping_add(at), 1, byte)?;
            }
            0
        }
        helper::SK_STORAGE_GET => storage::get(memory, registers[1], registers[2], registers[3], registers[4])?,
        helper::SK_STORAGE_DELETE => storage::delete(memory, registers[1], registers[2])?,
        helper::TCP_SEND_ACK => {
            world.ack = Some((registers[2] as u32, demands_cwr(&memory.socket)));
            0
        }
        _ => return Err(Fault::Helper(number)),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::code::decoded;
    use crate::memory::{CONSTANTS, SOCKET};

    /// An instruction as it lies in an object.
    fn op(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> [u8; 8] {
        let mut bytes = [0; 8];
        (bytes[0], bytes[1]) = (code, src << 4 | dst);
        bytes[2..4].copy_from_slice(&off.to_le_bytes());
        bytes[4..].copy_from_slice(&imm.to_le_bytes());
        bytes
    }

    const END: [u8; 8] = [EXIT as u8, 0, 0, 0, 0, 0, 0, 0];

    /// The instructions, with the places of functions.
    fn linked(code: &[[u8; 8]]) -> Vec<Instruction> {
        let mut code = decoded(code.as_flattened());
        for (at, one) in code.iter_mut().enumerate().filter(|(_, one)| one.code == CALL && one.src == LOCAL) {
            one.imm += at as i64 + 1;
        }
        code
    }

    fn run(code: &[[u8; 8]]) -> Result<u64, Fault> {
        let constants = Arc::from([1, 2, 3, 4, 5, 6, 7, 0xff]);
        let mut memory = Memory::new(constants, FRAMES, &[16, 8]);
        let mut world = World { now_ns: 7_000, ticks: 3, random: Random::new(1), ack: None };
        let code = linked(code);
        call(&code, 0, &mut memory, &mut world, &mut ()).map_err(|(fault, _)| fault)
    }

    /// r0 = a; r0 = r0 OPERATION b.
    fn computed(a: i32, code: u8, off: i16, b: i32) -> i64 {
        run(&[op(0xb7, 0, 0, 0, a), op(code, 0, 0, off, b), END]).unwrap() as i64
    }

    #[test]
    fn arithmetic_is_that_of_rfc_9669() {
        assert_eq!(computed(7, 0x37, 0, 0), 0, "a division by zero");
        assert_eq!(computed(7, 0x97, 0, 0), 7, "and its remainder");
        assert_eq!(computed(-7, 0x37, 1, 2), -3, "a signed division");
        assert_eq!(computed(i32::MIN, 0x34, 1, -1), i64::from(i32::MIN as u32), "one that overflows");
        assert_eq!(computed(-1, 0x04, 0, 0), 0xffff_ffff, "32 bits fill the upper half with zeros");
        assert_eq!(computed(1, 0x67, 0, 65), 2, "shifts are modulo the width");
        assert_eq!(computed(-16, 0xc7, 0, 2), -4, "a shift that keeps the sign");
        assert_eq!(computed(0, 0xb7, 8, 0x180), -128, "a move that extends the sign");
        assert_eq!(computed(0x1234, 0xdc, 0, 16), 0x3412, "the other byte order");
        assert_eq!(computed(0x1234, 0xd4, 0, 64), 0x1234, "the machine's own");
        assert_eq!(run(&[op(0xe7, 0, 0, 0, 0), END]), Err(Fault::Unknown(0xe7)));
    }

    #[test]
    fn jumps_compare_numbers_with_and_without_a_sign() {
        let taken = |a: i32, code: u8, b: i32| {
            let (no, yes) = (op(0xb7, 0, 0, 0, 0), op(0xb7, 0, 0, 0, 1));
            run(&[op(0xb7, 1, 0, 0, a), op(code, 1, 0, 2, b), no, END, yes, END]).unwrap() == 1
        };
        // Greater, signed greater, both of 64 bits and of 32; and a bit of it.
        assert!(taken(-1, 0x25, 1) && !taken(-1, 0x65, 1) && taken(-1, 0x26, 1) && !taken(-1, 0x66, 1));
        assert!(taken(6, 0x45, 2) && !taken(5, 0x45, 2));
        assert!(taken(-2, 0xc5, -1) && !taken(-2, 0xa5, 1));
    }

    #[test]
    fn memory_has_bounds() {
        let load = |place: u64, code: u8, off: i16| {
            run(&[op(LD_IMM64 as u8, 1, 0, 0, 0), op(0, 0, 0, 0, (place >> 32) as i32), op(code, 0, 1, off, 0), END])
        };
        assert_eq!(load(CONSTANTS, 0x61, 0), Ok(0x0403_0201));
        assert_eq!(load(CONSTANTS, 0x91, 7), Ok(u64::MAX), "a load that extends the sign");
        assert_eq!(load(CONSTANTS, 0x61, 5), Err(Fault::Read(4)));
        assert_eq!(load(CONSTANTS, 0x61, -1), Err(Fault::Read(4)));
        assert_eq!(load(0, 0x79, 0), Err(Fault::Read(8)), "a null pointer");
        let store = |place: u64, off: i16| {
            run(&[op(LD_IMM64 as u8, 1, 0, 0, 0), op(0, 0, 0, 0, (place >> 32) as i32), op(0x62, 1, 0, off, 5), END])
        };
        for place in [CONSTANTS, CONTEXT, SOCKET] {
            // Of the socket, the ninth field is the first that it may not write.
            assert_eq!(store(place, 64), Err(Fault::Written(4)), "{place:x}");
        }
        assert_eq!((store(SOCKET, 0), store(SOCKET, 6)), (Ok(0), Err(Fault::Written(4))));
        let stack = [op(0x7a, 10, 0, -8, 5), op(0x79, 0, 10, -8, 0), END];
        assert_eq!(run(&stack), Ok(5));
        assert_eq!(run(&[op(0x7a, 10, 0, -513, 5), END]), Err(Fault::Written(8)));
    }

    #[test]
    fn functions_keep_their_callers_registers_and_end() {
        // r6 = 4; call f; r0 += r6; exit. f: r6 = 9; r0 = r6; exit.
        let kept = [
            op(0xb7, 6, 0, 0, 4),
            op(CALL as u8, 0, LOCAL, 0, 2),
            op(0x0f, 0, 6, 0, 0),
            END,
            op(0xb7, 6, 0, 0, 9),
            op(0xbf, 0, 6, 0, 0),
            END,
        ];
        assert_eq!(run(&kept), Ok(13));
        assert_eq!(run(&[op(CALL as u8, 0, LOCAL, 0, -1), END]), Err(Fault::Deep));
        assert_eq!(run(&[op(0x05, 0, 0, -1, 0), END]), Err(Fault::Endless));
        assert_eq!(run(&[op(0xb7, 0, 0, 0, 1)]), Err(Fault::Read(8)), "it runs beyond its end");
    }

    #[test]
    fn helpers_are_those_of_the_kernel() {
        let asked = |number: i64| run(&[op(CALL as u8, 0, 0, 0, number as i32), END]);
        assert_eq!(asked(helper::KTIME_GET_NS), Ok(7_000));
        assert_eq!(asked(helper::JIFFIES64), Ok(3));
        assert_eq!(asked(helper::GET_PRANDOM_U32), Ok(Random::new(1).next_u32().into()));
        assert_eq!(asked(1), Err(Fault::Helper(1)));
    }
}
