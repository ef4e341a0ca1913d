//! `kernel/include/dumbbell/links.h`, to the letter.

use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

/// `DUMBBELL_LINKS_ABI`.
pub const ABI: c_uint = 2;
/// `DUMBBELL_NEVER`.
pub const NEVER: c_longlong = c_longlong::MAX;

/// `struct dumbbell_kernel`; a `struct dumbbell_part` is a `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kernel {
    pub abi: c_uint,
    pub send: unsafe extern "C" fn(port: c_uint, parts: *const libc::iovec, count: c_ulong, vnet: c_int) -> c_int,
}

/// `struct dumbbell_frame`.
#[repr(C)]
pub struct RawFrame {
    pub bytes: *const c_void,
    pub length: c_ulong,
    pub present: c_ulong,
    pub port: c_uint,
    pub checksum_missing: c_int,
    pub vnet: *const [u8; 10],
}

/// `struct dumbbell_library`.
#[repr(C)]
pub struct Library {
    pub abi: c_uint,
    pub order: unsafe extern "C" fn(*const c_void, c_ulong, *mut c_void, c_ulong, c_longlong) -> c_long,
    pub arrived: unsafe extern "C" fn(*const RawFrame, c_longlong),
    pub due: unsafe extern "C" fn(c_longlong),
    pub next: unsafe extern "C" fn() -> c_longlong,
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    /// The header is the truth: what it says must be what is here.
    const HEADER: &str = include_str!("../../../kernel/include/dumbbell/links.h");

    #[test]
    fn constants_are_the_headers() {
        assert!(HEADER.contains(&format!("#define DUMBBELL_LINKS_ABI {ABI}\n")));
        assert!(HEADER.contains(&format!("#define DUMBBELL_NEVER {NEVER:#x}LL\n")));
    }

    #[test]
    fn structs_have_the_headers_members_in_order() {
        let code: String =
            HEADER.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
        let members = |name: &str| -> Vec<String> {
            let (_, rest) = code.split_once(&format!("struct {name} {{")).expect("the header has the struct");
            let (body, _) = rest.split_once("\n};").expect("it ends");
            let statements = body.split(';').map(str::trim).filter(|statement| !statement.is_empty());
            let name = |statement: &str| match statement.split_once("(*") {
                Some((_, function)) => function.split(')').next().expect("its name").to_owned(),
                None => statement.rsplit([' ', '*']).next().expect("its name").to_owned(),
            };
            statements.map(name).collect()
        };
        assert_eq!(members("dumbbell_kernel"), ["abi", "send"]);
        assert_eq!(members("dumbbell_library"), ["abi", "order", "arrived", "due", "next"]);
        assert_eq!(members("dumbbell_frame"), ["bytes", "length", "present", "port", "checksum_missing", "vnet"]);
        assert_eq!((offset_of!(Kernel, send), size_of::<Library>()), (8, 40));
        assert_eq!((offset_of!(RawFrame, port), offset_of!(RawFrame, vnet), size_of::<RawFrame>()), (24, 32, 40));
    }
}
