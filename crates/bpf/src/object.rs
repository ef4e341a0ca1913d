//! An algorithm's object: opened, made ready for this kernel, loaded, registered.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;

use anyhow::{Context, Result};
use libbpf_rs::btf::BtfKind;
use libbpf_rs::{
    AsRawLibbpf, ErrorKind, Link, MapCore, MapType, Object, ObjectBuilder, OpenMapMut, OpenObject, OpenProgram,
};
use messages::Failure;
use plan::Parameter as Value;

use crate::kernel::{self, Interface, Variant};
use crate::parameters::{self, Parameter};
use crate::verifier::{self, Refusal};
use crate::{elf, log, names, types};

/// Longest name of a congestion control, without the terminating zero (TCP_CA_NAME_MAX).
pub const NAME_MAX: usize = 15;
/// A flag of a map: it is registered by a link.
const BPF_F_LINK: u32 = 1 << 13;
/// TCP_CONG_NON_RESTRICTED: sockets of any user in any namespace may choose it.
const NON_RESTRICTED: u32 = 1;
/// TCP_CONG_NEEDS_ECN: its connections negotiate ECN, and it gets the marks. The flag is set if a parameter of that
/// name is true, by default or because it is set.
const NEEDS_ECN: u32 = 2;
const ECN: &str = "ecn";
/// The ring buffer to which algorithms of ours write a row per ACK, and the flag that makes them do it
/// (`<dumbbell/ack.h>`).
const ACKS: &str = "db_acks";
const EMIT_ACKS: &str = "db_emit_acks";
/// The map of senders of which they write rows. Its entries, `MOST_FLOWS` at most, take memory only where used.
const FLOWS: &str = "db_flows";
/// The variable that names the state at the head of an algorithm's private state (`<dumbbell/congestion_control.h>`).
const PUBLISHES: &str = "db_publishes";
const MOST_FLOWS: u32 = 1 << 16;
/// The licences that the kernel takes as compatible with the GPL, which it demands.
const LICENCES: [&str; 6] =
    ["GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"];

/// An algorithm that is not loaded yet.
#[derive(Debug)]
pub struct Algorithm {
    label: String,
    open: OpenObject,
    map: String,
    variant: Option<Variant>,
    licence: String,
}

/// An algorithm that the kernel's verifier has accepted, but that nobody can choose yet.
#[derive(Debug)]
pub struct Loaded {
    label: String,
    object: Object,
    map: String,
    variant: Option<Variant>,
    publishes: u8,
}

/// Why an algorithm could not be loaded.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The failure for a person to read.
    pub failure: Failure,
    /// Its parts, if it was the verifier that refused.
    pub refusal: Option<Box<Refusal>>,
}

/// An algorithm that sockets can choose. Dropping it takes its name away; connections that use it go on.
#[derive(Debug)]
pub struct Registered {
    name: String,
    // The order of the fields matters: the link ends before its map does.
    link: Link,
    loaded: Loaded,
}

impl Algorithm {
    /// Opens an object and picks the variant that fits the kernel. `label` is for messages.
    ///
    /// # Errors
    /// The object has a fault that shows without the kernel: no congestion control in it, or several; an operation
    /// missing; a licence that the kernel will refuse.
    pub fn open(label: &str, object: &[u8], interface: Interface) -> Result<Algorithm> {
        let what = format!("opening the BPF object of {label}");
        let licence = elf::section(object, "license").map(|text| elf::string(text).to_owned());
        let (open, said) = log::collecting(|| ObjectBuilder::default().name(names::prefix(label))?.open_memory(object));
        let mut open = open.map_err(|error| {
            let said = said.trim().replace("libbpf: ", "");
            Failure::new(&what, if said.is_empty() { error.to_string() } else { said })
                .hint("compile it with `dumbbell cc build`")
        })?;
        let all = ops_maps(&open);
        let maps: Vec<&str> = all.iter().map(String::as_str).collect();
        let (map, variant) = kernel::choose(&maps, interface).ok_or_else(|| ambiguous(&what, &maps))?;
        let map = map.to_owned();
        for mut ops in open.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
            if ops.name() != OsStr::new(&map) {
                ops.set_autocreate(false)?;
            }
            // The flag is also set if the section is called `.struct_ops`: without a link it would stay registered for
            // ever.
            ops.set_map_flags(ops.map_flags() | BPF_F_LINK)?;
        }
        let licence = licence.unwrap_or_default();
        let mut algorithm = Algorithm { label: label.to_owned(), open, map, variant, licence };
        algorithm.check(&what)?;
        Ok(algorithm)
    }

    fn check(&mut self, what: &str) -> Result<(), Failure> {
        let operations = self.operations().map_err(|error| {
            Failure::new(what, format!("{error:#}")).hint("it needs a `struct tcp_congestion_ops`, and -g to compile")
        })?;
        let has = |name: &str| operations.iter().any(|(operation, _)| operation == name);
        for required in ["ssthresh", "undo_cwnd"] {
            if !has(required) {
                return Err(Failure::new(what, format!("it has no `{required}`"))
                    .hint("the kernel demands `ssthresh`, `undo_cwnd`, and `cong_avoid` or `cong_control`"));
            }
        }
        if !has("cong_avoid") && !has("cong_control") {
            return Err(Failure::new(what, "it has neither `cong_avoid` nor `cong_control`")
                .hint("`cong_avoid` grows a window per ACK; `cong_control` sets window and pacing rate itself"));
        }
        match self.licence.as_str() {
            known if LICENCES.contains(&known) => Ok(()),
            "" => Err(Failure::new(what, "it states no licence")
                .hint("add `char LICENSE[] SEC(\"license\") = \"GPL\";`, or another that is compatible with it")),
            other => Err(Failure::new(what, format!("its licence is {other:?}"))
                .hint(format!("the kernel takes only what is compatible with the GPL: {}", LICENCES.join(", ")))),
        }
    }

    /// The members of `tcp_congestion_ops` that are set, each with the name of its program.
    pub fn operations(&mut self) -> Result<Vec<(String, String)>> {
        let pointers: Vec<(String, usize)> = {
            let btf = types::of_object(&self.open)?;
            let ops = types::congestion_ops(&btf, &self.map).context("its operations are no tcp_congestion_ops")?;
            let members = types::members(&btf, &ops).into_iter();
            let functions = members.filter(|(.., of)| of.skip_mods_and_typedefs().kind() == BtfKind::Ptr);
            functions.map(|(name, offset, _)| (name.to_owned(), offset)).collect()
        };
        let value = self.ops_map()?.initial_value().context("a struct_ops map has a value")?.to_vec();
        // libbpf puts its handle of the program there.
        let program = |offset: usize| {
            let handle = value.get(offset..offset + size_of::<usize>())?;
            let is_it = |program: &OpenProgram<'_>| program.as_libbpf_object().as_ptr().addr().to_ne_bytes() == *handle;
            self.open.progs().find(is_it).map(|program| program.name().to_string_lossy().into_owned())
        };
        Ok(pointers.into_iter().filter_map(|(name, offset)| Some((name, program(offset)?))).collect())
    }

    /// The variant that fits the kernel; `None` if there is only one, of no particular name.
    pub fn variant(&self) -> Option<Variant> {
        self.variant
    }

    /// The licence that the object states.
    pub fn licence(&self) -> &str {
        &self.licence
    }

    /// The parameters that can be set, without the loader's.
    pub fn parameters(&mut self) -> Result<Vec<Parameter>> {
        let mut all = parameters::all(&mut self.open)?;
        all.retain(|parameter| !parameter.name.starts_with(parameters::RESERVED));
        Ok(all)
    }

    /// Sets what `values` names.
    ///
    /// # Errors
    /// A name that it doesn't know, a value that doesn't fit.
    pub fn set_parameters(&mut self, values: &BTreeMap<String, Value>) -> Result<()> {
        parameters::set(&mut self.open, &self.label, values)
    }

    /// Lets it write a row per ACK to `ring`, of the senders in its map `db_flows`, which whoever reads the ring fills. An
    /// algorithm that knows nothing of it stays as it is.
    pub fn emit_acks(&mut self, ring: BorrowedFd<'_>) -> Result<()> {
        let Some(mut map) = self.open.maps_mut().find(|map| map.name() == OsStr::new(ACKS)) else { return Ok(()) };
        map.reuse_fd(ring).context("handing over the ring buffer for ACKs")?;
        if let Some(mut flows) = self.open.maps_mut().find(|map| map.name() == OsStr::new(FLOWS)) {
            flows.set_max_entries(MOST_FLOWS)?;
        }
        parameters::set_reserved(&mut self.open, EMIT_ACKS, true).map(drop)
    }

    /// Loads it, to be registered as `name`: at most 15 characters out of `[A-Za-z0-9_.]`.
    pub fn load(self, name: &str) -> Result<Loaded> {
        Ok(self.try_load(name)?.map_err(|refused| refused.failure)?)
    }

    /// The same as [`Algorithm::load`], with the parts of a refusal.
    pub(crate) fn try_load(mut self, name: &str) -> Result<Result<Loaded, Refused>> {
        self.rename(name)?;
        let publishes = self.publishes()?;
        let Algorithm { label, open, map, variant, .. } = self;
        let (object, said) = log::collecting(|| open.load());
        Ok(match object {
            Ok(object) => Ok(Loaded { label, object, map, variant, publishes }),
            Err(error) => {
                let refusal = verifier::refusal(&said).map(Box::new);
                let failure = verifier::failure(&label, &error.to_string(), &said, refusal.as_deref());
                Err(Refused { failure, refusal })
            }
        })
    }

    /// Loads it, and gives all that the verifier says of each program, as libbpf prints it.
    pub(crate) fn load_with_statistics(mut self, name: &str) -> Result<(Loaded, String)> {
        /// BPF_LOG_STATS
        const STATISTICS: u32 = 4;
        self.rename(name)?;
        let publishes = self.publishes()?;
        let Algorithm { label, mut open, map, variant, .. } = self;
        open.progs_mut().for_each(|mut program| program.set_log_level(STATISTICS));
        let (object, said) = log::collecting_all(|| open.load());
        Ok((Loaded { label, object: object?, map, variant, publishes }, said))
    }

    /// Writes the name, and the flags that are added, into the map's initial value.
    fn rename(&mut self, name: &str) -> Result<()> {
        let taken = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
        if name.is_empty() || name.len() > NAME_MAX || !name.bytes().all(taken) {
            let why = format!("the kernel takes 1 to {NAME_MAX} letters, digits, _ and .");
            return Err(Failure::new(format!("registering a congestion control as {name:?}"), why).into());
        }
        let (name_at, flags_at) = {
            let btf = types::of_object(&self.open)?;
            let ops = types::congestion_ops(&btf, &self.map).context("its operations are no tcp_congestion_ops")?;
            let members = types::members(&btf, &ops);
            let offset = |wanted: &str| {
                let found = members.iter().find(|(name, ..)| *name == wanted).map(|(_, offset, _)| *offset);
                found.with_context(|| format!("its tcp_congestion_ops has no member `{wanted}`"))
            };
            (offset("name")?, offset("flags")?)
        };
        let added = self.added_flags()?;
        let mut map = self.ops_map()?;
        let value = map.initial_value_mut().context("a struct_ops map has a value")?;
        let field = value.get_mut(name_at..name_at + NAME_MAX + 1).context("`name` has 16 bytes")?;
        field.fill(0);
        field[..name.len()].copy_from_slice(name.as_bytes());
        let flags = value.get_mut(flags_at..flags_at + 4).context("`flags` has 4 bytes")?;
        let old = u32::from_ne_bytes(flags.try_into().expect("4 bytes"));
        flags.copy_from_slice(&(old | added).to_ne_bytes());
        Ok(())
    }

    /// The bits that its `flags` gets in addition.
    fn added_flags(&mut self) -> Result<u32> {
        let is_true = |known: &Parameter| known.name == ECN && known.default == Value::Bool(true);
        let asks_for_ecn = parameters::all(&mut self.open)?.iter().any(is_true);
        Ok(if asks_for_ecn { NON_RESTRICTED | NEEDS_ECN } else { NON_RESTRICTED })
    }

    fn publishes(&mut self) -> Result<u8> {
        let all = parameters::all(&mut self.open)?;
        let found = all.into_iter().find(|known| known.name == PUBLISHES).map(|known| known.default);
        Ok(if let Some(Value::Integer(of)) = found { u8::try_from(of).unwrap_or(0) } else { 0 })
    }

    fn ops_map(&mut self) -> Result<OpenMapMut<'_>> {
        let map = self.open.maps_mut().find(|map| map.name() == OsStr::new(&self.map));
        map.context("the map was found when the object was opened")
    }
}

impl Loaded {
    /// Everything loaded: its maps and programs.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The variant that was loaded.
    pub fn variant(&self) -> Option<Variant> {
        self.variant
    }

    /// The state at the head of its private state: an `enum db_state_of` of `<dumbbell/state.h>`; 0 if it says nothing.
    pub fn publishes(&self) -> u8 {
        self.publishes
    }

    /// Makes it available to all sockets of the machine, under the name that it was loaded with.
    pub fn register(mut self, name: &str) -> Result<Registered> {
        let mut ops =
            self.object.maps_mut().find(|map| map.name() == OsStr::new(&self.map)).context("it was loaded")?;
        let (link, said) = log::collecting(|| ops.attach_struct_ops());
        let link = link.map_err(|error| {
            let what = format!("registering {} as {name}", self.label);
            let failure = Failure::new(what, format!("{error} {}", said.trim()));
            match error.kind() {
                ErrorKind::AlreadyExists => failure.hint("another congestion control has this name"),
                _ => failure,
            }
        })?;
        Ok(Registered { name: name.to_owned(), link, loaded: self })
    }
}

impl Registered {
    /// The name for `TCP_CONGESTION`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The loaded object behind the registration.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The link that keeps it registered.
    pub(crate) fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

fn ambiguous(what: &str, maps: &[&str]) -> Failure {
    if maps.is_empty() {
        Failure::new(what, "it defines no congestion control")
            .hint("it needs a `struct tcp_congestion_ops` in the section `.struct_ops.link`")
    } else {
        Failure::new(what, format!("it defines several congestion controls: {}", maps.join(", ")))
            .hint("one per file; variants of one for different kernels end in _v64, _v610 and _v71")
    }
}

fn ops_maps(open: &OpenObject) -> Vec<String> {
    let maps = open.maps().filter(|map| map.map_type() == MapType::StructOps);
    maps.map(|map| map.name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecn_is_negotiated_where_the_parameter_is_true_in_the_end() {
        let flags = |default: &str, set: Option<bool>| {
            let text = format!(
                r#"#include <dumbbell/congestion_control.h>
                #include <dumbbell/window.h>
                const volatile bool ecn = {default};
                static __u32 threshold(struct sock *sk) {{ return ecn ? 2 : 3; }}
                CONGESTION_CONTROL(mine, (ssthresh, threshold), (cong_avoid, reno_cong_avoid),
                                   (undo_cwnd, reno_undo_cwnd));
                char LICENSE[] SEC("license") = "GPL";"#
            );
            let dir = tempfile::tempdir().unwrap();
            let (source, object) = (dir.path().join("mine.bpf.c"), dir.path().join("mine.bpf.o"));
            std::fs::write(&source, text).unwrap();
            let built = crate::build(&source, &object).unwrap();
            assert!(built.ok, "{}", built.text);
            let interface = Interface { cong_control_parameters: 4, has_tx_start: false };
            let mut opened = Algorithm::open("mine", &std::fs::read(&object).unwrap(), interface).unwrap();
            let values = set.map(|flag| (ECN.to_owned(), Value::Bool(flag))).into_iter().collect();
            opened.set_parameters(&values).unwrap();
            opened.added_flags().unwrap()
        };
        assert_eq!(flags("false", None), NON_RESTRICTED);
        assert_eq!(flags("false", Some(true)), NON_RESTRICTED | NEEDS_ECN);
        assert_eq!(flags("true", None), NON_RESTRICTED | NEEDS_ECN);
        assert_eq!(flags("true", Some(false)), NON_RESTRICTED);
    }
}
