//! An algorithm's object: opened, made ready for this kernel, loaded, registered.

use std::ffi::OsStr;

use anyhow::{Context, Result};
use events::Failure;
use libbpf_rs::btf::types::{DataSec, MemberAttr, Struct, Var};
use libbpf_rs::btf::{Btf, BtfType, ReferencesType};
use libbpf_rs::{AsRawLibbpf, Link, MapCore, MapType, Object, ObjectBuilder, OpenObject};

use crate::kernel::{self, Interface, Variant};
use crate::log;

const OPS: &str = "tcp_congestion_ops";
/// Longest name of a congestion control, without the terminating zero (TCP_CA_NAME_MAX).
pub const NAME_MAX: usize = 15;
/// TCP_CONG_NON_RESTRICTED: sockets of any user in any namespace may choose it.
const NON_RESTRICTED: u32 = 1;

/// An algorithm that is not loaded yet.
#[derive(Debug)]
pub struct Algorithm {
    open: OpenObject,
    map: String,
    variant: Option<Variant>,
}

/// An algorithm that sockets can choose. Dropping it takes its name away; connections that use it go on.
#[derive(Debug)]
pub struct Registered {
    name: String,
    variant: Option<Variant>,
    // In this order: the link ends before its map does.
    link: Link,
    object: Object,
}

impl Algorithm {
    /// Opens an object and picks the variant that fits the kernel. `label` is for messages.
    pub fn open(label: &str, object: &[u8], interface: Interface) -> Result<Algorithm> {
        let (open, said) = log::collecting(|| ObjectBuilder::default().open_memory(object));
        let mut open = open.map_err(|error| {
            Failure::new(format!("opening the BPF object of {label}"), format!("{error}\n{}", said.trim()))
                .hint("compile it with `dumbbell cc build`")
        })?;
        let all = ops_maps(&open);
        let maps: Vec<&str> = all.iter().map(String::as_str).collect();
        let (map, variant) = kernel::choose(&maps, interface).ok_or_else(|| ambiguous(label, &maps))?;
        let (map, variant) = (map.to_owned(), variant);
        for mut other in open.maps_mut() {
            if other.map_type() == MapType::StructOps && other.name() != OsStr::new(&map) {
                other.set_autocreate(false)?;
            }
        }
        Ok(Algorithm { open, map, variant })
    }

    /// Loads it and registers it as `name`, at most 15 characters out of `[A-Za-z0-9_.]`.
    pub fn register(mut self, label: &str, name: &str) -> Result<Registered> {
        self.rename(name)?;
        let Algorithm { open, map, variant } = self;
        let (object, said) = log::collecting(|| open.load());
        let mut object = object.map_err(|error| {
            Failure::new(format!("loading {label} into the kernel"), format!("{error}\n{}", said.trim()))
        })?;
        let mut ops = object.maps_mut().find(|m| m.name() == OsStr::new(&map)).context("the map was loaded")?;
        let (link, said) = log::collecting(|| ops.attach_struct_ops());
        let link = link.map_err(|error| {
            Failure::new(format!("registering {label} as {name}"), format!("{error} {}", said.trim()))
        })?;
        Ok(Registered { name: name.to_owned(), variant, link, object })
    }

    /// Writes the name and the flag that lets everybody use it into the map's initial value.
    fn rename(&mut self, name: &str) -> Result<()> {
        let bad = name.is_empty()
            || name.len() > NAME_MAX
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
        if bad {
            return Err(Failure::new(
                format!("registering a congestion control as {name:?}"),
                "the kernel takes 1 to 15 letters, digits, _ and .",
            )
            .into());
        }
        let (name_at, flags_at) = {
            let btf = btf_of(&self.open)?;
            let ops = ops_type(&btf, &self.map).context("it has a tcp_congestion_ops")?;
            (member_offset(&ops, "name"), member_offset(&ops, "flags"))
        };
        let name_at = name_at.context("its tcp_congestion_ops has no member `name`")?;
        let flags_at = flags_at.context("its tcp_congestion_ops has no member `flags`")?;
        let mut map = self.open.maps_mut().find(|m| m.name() == OsStr::new(&self.map)).context("the map is there")?;
        let value = map.initial_value_mut().context("a struct_ops map has a value")?;
        let field = value.get_mut(name_at..name_at + NAME_MAX + 1).context("`name` has 16 bytes")?;
        field.fill(0);
        field[..name.len()].copy_from_slice(name.as_bytes());
        let flags = value.get_mut(flags_at..flags_at + 4).context("`flags` has 4 bytes")?;
        let old = u32::from_ne_bytes(flags.try_into().expect("4 bytes"));
        flags.copy_from_slice(&(old | NON_RESTRICTED).to_ne_bytes());
        Ok(())
    }
}

impl Registered {
    /// As `TCP_CONGESTION` wants it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which variant was loaded.
    pub fn variant(&self) -> Option<Variant> {
        self.variant
    }

    /// Everything loaded: its maps and programs.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// What keeps it registered.
    pub fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

fn ambiguous(label: &str, maps: &[&str]) -> Failure {
    let what = format!("opening the BPF object of {label}");
    if maps.is_empty() {
        Failure::new(what, "it defines no congestion control")
            .hint("it needs a `struct tcp_congestion_ops` in the section `.struct_ops.link`")
    } else {
        Failure::new(what, format!("it defines several congestion controls: {}", maps.join(", ")))
            .hint("one per file; variants for kernels end in _v64, _v610, _v71")
    }
}

fn ops_maps(open: &OpenObject) -> Vec<String> {
    let maps = open.maps().filter(|map| map.map_type() == MapType::StructOps);
    maps.map(|map| map.name().to_string_lossy().into_owned()).collect()
}

fn btf_of(open: &OpenObject) -> Result<Btf<'_>> {
    // SAFETY: the object lives as long as the borrow.
    let object = unsafe { open.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(object)?.context("the object has no BTF: compile it with -g")
}

/// The type of a struct_ops map: a `tcp_congestion_ops` or a flavour of it (`tcp_congestion_ops___v71`).
fn ops_type<'a>(btf: &'a Btf<'_>, map: &str) -> Option<Struct<'a>> {
    for section in [".struct_ops.link", ".struct_ops"] {
        let Some(section) = btf.type_by_name::<DataSec<'_>>(section) else { continue };
        for index in 0..section.len() {
            let variable: Var<'_> = btf.type_by_id(section.get(index)?.ty)?;
            if variable.name() == Some(OsStr::new(map)) {
                let of: BtfType<'_> = variable.referenced_type().skip_mods_and_typedefs();
                let of = Struct::try_from(of).ok()?;
                let name = of.name()?.to_str()?;
                return (name.split("___").next() == Some(OPS)).then_some(of);
            }
        }
    }
    None
}

fn member_offset(of: &Struct<'_>, name: &str) -> Option<usize> {
    let index = (0..of.len()).find(|&i| of.get(i).is_some_and(|m| m.name == Some(OsStr::new(name))))?;
    match of.get(index)?.attr {
        MemberAttr::Normal { offset } => Some(offset as usize / 8),
        MemberAttr::BitField { .. } => None,
    }
}
