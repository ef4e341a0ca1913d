//! What the manifests of `bpf/algorithms` declare, as static data, and a way from each name to its algorithm.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use manifests::{Manifest, Value};

fn main() {
    let bpf = Path::new("../../bpf");
    println!("cargo:rerun-if-changed={}", bpf.join("algorithms").display());
    println!("cargo:rerun-if-changed={}", bpf.join("bbr/parameters.toml").display());
    let manifests = manifests::read(bpf).expect("manifests of the algorithms");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("declared.rs"), code(&manifests)).expect("writing declared.rs");
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

fn parameter(one: &manifests::Parameter) -> String {
    let default = match one.default {
        Value::Flag(flag) => format!("Flag({flag})"),
        Value::Number(number) => format!("Number({number})"),
    };
    let (name, limits, meaning) = (&one.name, one.limits, &one.meaning);
    format!("Parameter {{ name: {name:?}, default: Setting::{default}, limits: {limits:?}, meaning: {meaning:?} }}, ")
}
