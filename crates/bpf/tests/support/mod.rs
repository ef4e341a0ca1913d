//! Opening objects as the loader does, but with nothing hidden.
#![allow(dead_code)] // Not every test that includes this module needs all of it.

use std::io::Write;

use anyhow::{Context, Result};
use bpf::Interface;
use libbpf_rs::{
    AsRawLibbpf, Link, MapCore, MapFlags, MapMut, MapType, Object, ObjectBuilder, OpenObject, ProgramType,
};

/// An object of which only the variant for the running kernel will be created.
pub fn open(bytes: &[u8]) -> Result<OpenObject> {
    let suffix = match Interface::of_running_kernel()? {
        Interface { cong_control_parameters: 2, .. } => "_v64",
        Interface { has_tx_start: false, .. } => "_v610",
        _ => "_v71",
    };
    let mut open = ObjectBuilder::default().open_memory(bytes).context("opening an object")?;
    for mut map in open.maps_mut() {
        if map.map_type() == MapType::StructOps && !map.name().to_string_lossy().ends_with(suffix) {
            map.set_autocreate(false)?;
        }
    }
    Ok(open)
}

/// The number of instructions that the verifier looked at, by program, in the object's order.
pub fn complexity(bytes: &[u8]) -> Result<Vec<(String, u64)>> {
    let mut open = open(bytes)?;
    let mut logs = Vec::new();
    for mut program in open.progs_mut() {
        let mut log = vec![0u8; 1 << 16];
        program.set_log_level(4); // Statistics only.
        // SAFETY: the buffer outlives the load below.
        let rc = unsafe {
            let program = program.as_libbpf_object().as_ptr();
            libbpf_sys::bpf_program__set_log_buf(program, log.as_mut_ptr().cast(), log.len() as u64)
        };
        anyhow::ensure!(rc == 0, "giving libbpf a buffer: {rc}");
        logs.push((program.name().to_string_lossy().into_owned(), log));
    }
    let _object = open.load().context("loading an object into the kernel")?;
    // A program that belongs to another variant has no log.
    let told = logs.into_iter().filter_map(|(name, log)| {
        let text = String::from_utf8_lossy(&log);
        let words = text.split_once("processed ")?.1;
        Some((name, words.split(' ').next()?.parse().ok()?))
    });
    Ok(told.collect())
}

/// May BPF be loaded here? If not says so where it is seen even if the test passes: the harness keeps what `eprintln` says.
pub fn is_allowed(test: &str) -> bool {
    let missing = bpf::Privilege::now().missing();
    if !missing.is_empty() {
        let _ = writeln!(std::io::stderr(), "{test}: SKIPPED, nothing was checked: {missing:?} missing");
    }
    missing.is_empty()
}

/// Like [`is_allowed`]; files may also be written where root writes them.
pub fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        let _ = writeln!(std::io::stderr(), "{test}: SKIPPED, nothing was checked: it takes root");
    }
    root && is_allowed(test)
}

/// A test's own object, from `bpf/tests` or `crates/bpf/tests/objects`.
pub fn test_object(name: &str) -> Result<Vec<u8>> {
    let file = format!("{}/{name}.bpf.o", env!("TEST_OBJECTS"));
    std::fs::read(&file).with_context(|| format!("reading {file}"))
}

/// A test's congestion control, registered, and its tracing programs at work.
pub struct Running {
    /// The registered name: it is unique to this process, since registrations hold for the whole machine.
    pub name: String,
    _links: Vec<Link>,
    object: Object,
}

impl Running {
    /// Load the object `bpf/tests/NAME.bpf.c`.
    pub fn load(name: &str) -> Result<Running> {
        let mut opened = open(&test_object(name)?)?;
        let registered = format!("dbt_{:x}", std::process::id());
        for mut map in opened.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            let value = map.initial_value_mut().context("a struct_ops map has a value")?;
            let at = value.windows(4).position(|part| part == b"dbt_").context("its name begins with dbt_")?;
            value[at..at + 16].fill(0);
            value[at..at + registered.len()].copy_from_slice(registered.as_bytes());
        }
        let mut object = opened.load().with_context(|| format!("loading {name}"))?;
        let mut links = Vec::new();
        for program in object.progs_mut().filter(|program| program.prog_type() == ProgramType::Tracing) {
            links.push(program.attach().context("attaching a tracing program")?);
        }
        let is_ours = |map: &MapMut<'_>| map.map_type() == MapType::StructOps && map.autocreate();
        let mut map = object.maps_mut().find(is_ours).context("it has a congestion control")?;
        links.push(map.attach_struct_ops().context("registering the congestion control")?);
        Ok(Running { name: registered, _links: links, object })
    }

    /// The words of its `result`, which is all that lies in the section `.bss.result`.
    pub fn result(&self) -> Result<Vec<u64>> {
        let map = self.object.maps().find(|map| map.name() == ".bss.result").context("it has a result")?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).context("reading the result")?;
        let value = value.context("the result is there")?;
        Ok(value.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect())
    }
}
