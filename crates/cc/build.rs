//! The declarations of the manifests of `bpf/algorithms` as static data, and a way from each name to its algorithm.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use manifests::{Kind, Manifest, NONE, StateSet, StateValue, Value};

fn main() {
    let bpf = Path::new("../../bpf");
    println!("cargo:rerun-if-changed={}", bpf.join("algorithms").display());
    for shared in ["bbr/parameters.toml", "bbr/state.toml", "own/state.toml"] {
        println!("cargo:rerun-if-changed={}", bpf.join(shared).display());
    }
    let declared = manifests::read(bpf).expect("manifests of the algorithms");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("declared.rs"), code(&declared.manifests)).expect("writing declared.rs");
    fs::write(out.join("states.rs"), states(&declared.states)).expect("writing states.rs");
}

fn code(manifests: &[Manifest]) -> String {
    let mut code = format!(
        "/// Names that mean the kernel's own algorithms in every record.\npub const KERNEL: [&str; {}] = {:?};\n\n",
        manifests::KERNEL.len(),
        manifests::KERNEL
    );
    code.push_str("/// All that is declared of algorithms, by name.\npub static DECLARED: &[Declared] = &[\n");
    for one in manifests {
        let Manifest { name, sentence, needs_ecn, .. } = one;
        let parameters: String = one.parameters.iter().map(parameter).collect();
        writeln!(
            code,
            "    Declared {{ name: {name:?}, label: {:?}, sentence: {sentence:?}, needs_ecn: {needs_ecn}, simulated: {}, \
             parameters: &[{parameters}] }},",
            one.label(),
            one.simulated_by.is_some(),
        )
        .unwrap();
    }
    code.push_str("];\n\n");
    let simulated: Vec<_> =
        manifests.iter().filter_map(|one| Some((&one.name, one.simulated_by.as_deref()?))).collect();
    let names: Vec<_> = simulated.iter().map(|(name, _)| name).collect();
    writeln!(code, "/// The algorithms that can be simulated. `bbr` is BBRv1, as in Linux.").unwrap();
    writeln!(code, "pub const NAMES: [&str; {}] = {names:?};\n", names.len()).unwrap();
    writeln!(code, "fn instance(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {{").unwrap();
    writeln!(code, "    match declared.name {{").unwrap();
    for (name, module) in simulated {
        writeln!(code, "        {name:?} => crate::{module}::create(declared, settings),").unwrap();
    }
    code.push_str("        _ => Err(Unfit::Algorithm),\n    }\n}\n");
    code
}

fn parameter(declared: &manifests::Parameter) -> String {
    let default = match declared.default {
        Value::Flag(flag) => format!("Flag({flag})"),
        Value::Number(number) => format!("Number({number})"),
    };
    let (name, limits, meaning) = (&declared.name, declared.limits, &declared.meaning);
    format!("Parameter {{ name: {name:?}, default: Setting::{default}, limits: {limits:?}, meaning: {meaning:?} }}, ")
}

/// The sets of state: their columns, and for each a structure that its algorithms fill.
fn states(sets: &[StateSet]) -> String {
    let mut code = format!("const SLOTS: usize = {};\n\n", manifests::SLOTS);
    code.push_str("/// All that algorithms publish, by name.\npub const STATE_SETS: &[StateSet] = &[\n");
    for (set, of) in sets.iter().zip(1u8..) {
        let columns: String = set.values.iter().enumerate().map(|(at, value)| column(set, value, of, at)).collect();
        writeln!(code, "    StateSet {{ name: {:?}, columns: &[\n{columns}    ] }},", set.name).unwrap();
    }
    code.push_str("];\n");
    for (set, of) in sets.iter().zip(1u8..) {
        code.push_str(&structure(set, of));
        set.values.iter().filter(|value| value.kind == Kind::Word).for_each(|value| code.push_str(&words(set, value)));
    }
    code
}

fn column(set: &StateSet, value: &StateValue, of: u8, at: usize) -> String {
    let kind = match value.kind {
        Kind::Number => "Number".to_owned(),
        Kind::Fixed => format!("Fixed({})", value.one.expect("checked")),
        Kind::Bandwidth => format!("Bandwidth{:?}", value.bps()),
        Kind::Flag => "Flag".to_owned(),
        Kind::Word => format!("Word(&{:?})", value.words),
    };
    let (name, none, meaning) = (set.column(value), value.none.unwrap_or(NONE), &value.meaning);
    format!(
        "        StateColumn {{ name: {name:?}, of: {of}, at: {at}, kind: Kind::{kind}, none: {none}, meaning: {meaning:?} }},\n"
    )
}

/// Its members are 32 bits each, as in C. Nothing is known by default.
fn structure(set: &StateSet, of: u8) -> String {
    let name = format!("{}State", title(&set.name));
    let members = |line: &dyn Fn(&StateValue) -> String| set.values.iter().map(line).collect::<String>();
    let fields = members(&|value| format!("    pub {}: u32, // {}\n", value.name, value.meaning));
    let nothing = members(&|value| format!("{}: NONE, ", value.name));
    let values = members(&|value| format!("{}, ", value.name));
    let names = members(&|value| format!("of.{}, ", value.name));
    let rest = vec!["NONE"; manifests::SLOTS - set.values.len()].join(", ");
    format!(
        "\n/// What {} publishes; each member is a column of the per-ACK table.\n\
         #[allow(missing_docs)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub struct {name} {{\n{fields}}}\n\n\
         impl Default for {name} {{\n    fn default() -> {name} {{\n        {name} {{ {nothing}}}\n    }}\n}}\n\n\
         impl From<{name}> for State {{\n    fn from(of: {name}) -> State {{\n        \
         State {{ of: {of}, values: [{names}{rest}] }}\n    }}\n}}\n\n\
         impl {name} {{\n    /// That of `state`; `None` if it is another's.\n    \
         pub fn of(published: &State) -> Option<{name}> {{\n        let [{values}..] = published.values;\n        \
         (published.of == {of}).then_some({name} {{ {values}}})\n    }}\n}}\n",
        set.name
    )
}

/// The numbers of a word's texts.
fn words(set: &StateSet, value: &StateValue) -> String {
    let all = value.words.iter().enumerate();
    let constants: String =
        all.map(|(at, word)| format!("    pub const {}: u32 = {at};\n", word.to_uppercase())).collect();
    format!(
        "\n/// The words of {0}_{1}.\n#[allow(missing_docs)]\npub mod {0}_{1} {{\n{constants}}}\n",
        set.name, value.name
    )
}

fn title(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}
