//! Instructions, decoded.

/// An instruction of RFC 9669. Its meaning is in `code`, as there, but for [`BEHIND`] and [`POISON`]. Codes above 255 are those of
/// [`folded`](crate::fold::folded), which no object can contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub code: u16,
    pub dst: u8,
    pub src: u8,
    /// A distance of a jump in instructions, or of memory in bytes.
    pub off: i32,
    /// Sign-extended; of [`LD_IMM64`] all 64 bits, of a local call the index of the function's first instruction.
    pub imm: i64,
}

/// Loads 64 bits. The second half of it stays in the code as [`BEHIND`], so that distances are those of the object.
pub(crate) const LD_IMM64: u16 = 0x18;
/// Calls a helper by its number, or (src 1) a function of the program.
pub(crate) const CALL: u16 = 0x85;
pub(crate) const EXIT: u16 = 0x95;
/// The second half of [`LD_IMM64`]: nothing to be executed.
pub(crate) const BEHIND: u16 = 0x00;
/// Stands for an instruction that needs a thing which is not modelled: `imm` is the thing's number. No code of the kernel's.
pub(crate) const POISON: u16 = 0xf5;

/// `src` of [`CALL`]: a function of the program.
pub(crate) const LOCAL: u8 = 1;

/// The classes of instructions: the lowest three bits.
pub(crate) mod class {
    pub(crate) const LDX: u16 = 1;
    pub(crate) const ST: u16 = 2;
    pub(crate) const STX: u16 = 3;
    pub(crate) const ALU: u16 = 4;
    pub(crate) const JMP: u16 = 5;
    pub(crate) const ALU64: u16 = 7;
}

/// Places that a load or a store finds by itself, at the offset `off`: they stand above its code.
pub(crate) mod direct {
    pub(crate) const SOCKET: u16 = 0x100;
    pub(crate) const STACK: u16 = 0x200;
    pub(crate) const SAMPLE: u16 = 0x300;
    pub(crate) const CONTEXT: u16 = 0x400;
}

impl Instruction {
    pub(crate) fn class(self) -> u16 {
        self.code & 7
    }

    /// The operand is a register, not a constant.
    pub(crate) fn has_register(self) -> bool {
        self.code & 8 != 0
    }
}

/// The bytes that a load or a store of this code moves.
pub(crate) const fn bytes(code: u16) -> usize {
    match code & 0x18 {
        0x00 => 4,
        0x08 => 2,
        0x10 => 1,
        _ => 8,
    }
}

/// The instructions of a section: 8 bytes each, the second half of a 64-bit load included.
pub(crate) fn decoded(section: &[u8]) -> Vec<Instruction> {
    let mut code: Vec<Instruction> = section.chunks_exact(8).map(decode).collect();
    for at in 0..code.len().saturating_sub(1) {
        if code[at].code == LD_IMM64 {
            let low = code[at].imm as u32;
            code[at].imm = (code[at + 1].imm << 32) | i64::from(low);
        }
    }
    code
}

fn decode(bytes: &[u8]) -> Instruction {
    Instruction {
        code: bytes[0].into(),
        dst: bytes[1] & 15,
        src: bytes[1] >> 4,
        off: i16::from_le_bytes([bytes[2], bytes[3]]).into(),
        imm: i64::from(i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])),
    }
}

/// The result of an operation on two numbers (codes of the classes ALU and ALU64 without their operand's bit); `None`: there is no
/// such operation. A division by zero gives 0, its remainder the dividend. `off` of 1 makes division signed; else it is the width of
/// a sign-extending move.
#[inline(always)]
pub(crate) fn compute(code: u16, off: i32, a: u64, b: u64) -> Option<u64> {
    let is_wide = code & 7 == class::ALU64;
    let result =
        if is_wide { wide(code & 0xf0, off, a, b)? } else { u64::from(narrow(code & 0xf0, off, a as u32, b as u32)?) };
    Some(result)
}

/// Operations on 64 bits, and on 32: the same but for types.
macro_rules! operations {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        #[inline(always)]
        fn $name(operation: u16, off: i32, a: $unsigned, b: $unsigned) -> Option<$unsigned> {
            let shift = (b & <$unsigned>::from(<$unsigned>::BITS as u8 - 1)) as u32;
            Some(match (operation, off) {
                (0x00, _) => a.wrapping_add(b),
                (0x10, _) => a.wrapping_sub(b),
                (0x20, _) => a.wrapping_mul(b),
                (0x30, 1) => {
                    if b == 0 {
                        0
                    } else {
                        (a as $signed).wrapping_div(b as $signed) as $unsigned
                    }
                }
                (0x30, _) => a.checked_div(b).unwrap_or(0),
                (0x40, _) => a | b,
                (0x50, _) => a & b,
                (0x60, _) => a << shift,
                (0x70, _) => a >> shift,
                (0x80, _) => a.wrapping_neg(),
                (0x90, 1) => {
                    if b == 0 {
                        a
                    } else {
                        (a as $signed).wrapping_rem(b as $signed) as $unsigned
                    }
                }
                (0x90, _) => a.checked_rem(b).unwrap_or(a),
                (0xa0, _) => a ^ b,
                (0xb0, 8) => b as i8 as $signed as $unsigned,
                (0xb0, 16) => b as i16 as $signed as $unsigned,
                (0xb0, 32) => b as i32 as $signed as $unsigned,
                (0xb0, _) => b,
                (0xc0, _) => ((a as $signed) >> shift) as $unsigned,
                _ => return None,
            })
        }
    };
}

operations!(wide, u64, i64);
operations!(narrow, u32, i32);

/// Whether a jump on two numbers is taken; `None`: there is no such jump.
#[inline(always)]
pub(crate) fn is_taken(code: u16, a: u64, b: u64) -> Option<bool> {
    let (a, b, signed_a, signed_b) = if code & 7 == class::JMP {
        (a, b, a as i64, b as i64)
    } else {
        (u64::from(a as u32), u64::from(b as u32), i64::from(a as i32), i64::from(b as i32))
    };
    Some(match code & 0xf0 {
        0x10 => a == b,
        0x20 => a > b,
        0x30 => a >= b,
        0x40 => a & b != 0,
        0x50 => a != b,
        0x60 => signed_a > signed_b,
        0x70 => signed_a >= signed_b,
        0xa0 => a < b,
        0xb0 => a <= b,
        0xc0 => signed_a < signed_b,
        0xd0 => signed_a <= signed_b,
        _ => return None,
    })
}

/// The value in the byte order that is asked for, of `bits` (codes 0xd4 and 0xdc: to the little and to the big end; 0xd7: swapped).
pub(crate) fn swapped(code: u16, bits: i64, value: u64) -> Option<u64> {
    let swap = code != 0xd4;
    Some(match bits {
        16 => u64::from(if swap { (value as u16).swap_bytes() } else { value as u16 }),
        32 => u64::from(if swap { (value as u32).swap_bytes() } else { value as u32 }),
        64 => {
            if swap {
                value.swap_bytes()
            } else {
                value
            }
        }
        _ => return None,
    })
}
