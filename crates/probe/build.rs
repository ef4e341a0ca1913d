//! `struct db_ack` and the words in it, as `bpf/include/dumbbell/ack.h` declares them for the BPF programs: nothing of it is
//! written twice.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let header = "../../bpf/include/dumbbell/ack.h";
    println!("cargo:rerun-if-changed={header}");
    let text = fs::read_to_string(header).expect("a readable header");
    let mut code = row(&text);
    code.push_str(&words(&text, "db_ack_moment"));
    writeln!(code, "pub(crate) const DB_ACK_APP_LIMITED: u8 = {};", constant(&text, "DB_ACK_APP_LIMITED")).unwrap();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("ack.rs"), code).expect("writing ack.rs");
}

/// The lines of `text` between the one that is `opening` and the next `};`, without comments.
fn body<'a>(text: &'a str, opening: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split("/*").next().unwrap_or_default().trim());
    assert!(lines.any(|line| line == opening), "ack.h: there is no {opening}");
    lines.take_while(|line| *line != "};").filter(|line| !line.is_empty()).collect()
}

/// The row, member by member. It has no padding: every bit pattern is one.
fn row(text: &str) -> String {
    let mut code = String::from("#[derive(Clone, Copy, Debug, Default)]\n#[repr(C)]\npub(crate) struct RawAck {\n");
    let mut size = 0;
    for line in body(text, "struct db_ack {") {
        let member = line.strip_suffix(';').and_then(|line| line.split_once(' '));
        let (of, name) = member.unwrap_or_else(|| panic!("ack.h: no member of a row: {line}"));
        let bits: usize = of
            .strip_prefix("__u")
            .and_then(|bits| bits.parse().ok())
            .unwrap_or_else(|| panic!("ack.h: no __u: {line}"));
        let (name, count) = match name.split_once('[') {
            Some((name, "DB_STATE_SLOTS]")) => (name, manifests::SLOTS),
            Some((name, count)) => (name, count.trim_end_matches(']').parse().expect("a number of elements")),
            None => (name, 1),
        };
        match count {
            1 => writeln!(code, "    pub {name}: u{bits},").unwrap(),
            _ => writeln!(code, "    pub {name}: [u{bits}; {count}],").unwrap(),
        }
        size += count * bits / 8;
    }
    writeln!(code, "}}\n\nconst _: () = assert!(size_of::<RawAck>() == {size}, \"a row has no padding\");\n").unwrap();
    code
}

/// The names of an enumeration that counts from 0, in order.
fn words(text: &str, name: &str) -> String {
    let opening = format!("enum {name} {{");
    let names: Vec<_> = body(text, &opening).iter().map(|line| line.trim_end_matches(',')).collect();
    assert!(names.iter().all(|name| !name.contains('=')), "ack.h: {name} does not count from 0: {names:?}");
    let constants: String =
        (0..).zip(&names).map(|(value, name)| format!("pub(crate) const {name}: u8 = {value};\n")).collect();
    format!("{constants}\n#[cfg(test)]\npub(crate) const {}: &[&str] = &{names:?};\n\n", name.to_uppercase())
}

fn constant<'a>(text: &'a str, name: &str) -> &'a str {
    let value =
        text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.split_whitespace().next());
    value.unwrap_or_else(|| panic!("ack.h: there is no {name}")).trim_end_matches('U')
}
