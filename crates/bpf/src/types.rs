//! Looking things up in BTF, the type information of an object.

use std::ffi::OsStr;

use anyhow::{Context, Result};
use libbpf_rs::btf::types::{DataSec, MemberAttr, Struct, Var};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{AsRawLibbpf, OpenObject, ReferencesType};

const OPS: &str = "tcp_congestion_ops";

/// An object's types.
pub(crate) fn of_object(open: &OpenObject) -> Result<Btf<'_>> {
    // SAFETY: the object lives as long as the borrow.
    let object = unsafe { open.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(object)?.context("the object has no type information: compile it with -g")
}

/// The variables of a section: name, offset, and type with all its qualifiers.
pub(crate) fn variables<'a>(btf: &'a Btf<'_>, section: &str) -> Vec<(&'a str, usize, BtfType<'a>)> {
    let Some(section) = btf.type_by_name::<DataSec<'_>>(section) else { return Vec::new() };
    let variable = |index| {
        let entry = section.get(index)?;
        let variable: Var<'_> = btf.type_by_id(entry.ty)?;
        let name = variable.name()?.to_str()?;
        Some((name, entry.offset as usize, variable.referenced_type()))
    };
    (0..section.len()).filter_map(variable).collect()
}

/// The members of a structure: name, offset in bytes, and type. Bitfields are left out.
pub(crate) fn members<'a>(btf: &'a Btf<'_>, of: &Struct<'a>) -> Vec<(&'a str, usize, BtfType<'a>)> {
    let member = |index| {
        let member = of.get(index)?;
        let MemberAttr::Normal { offset } = member.attr else { return None };
        Some((member.name?.to_str()?, offset as usize / 8, btf.type_by_id(member.ty)?))
    };
    (0..of.len()).filter_map(member).collect()
}

/// The type of a struct_ops map: `tcp_congestion_ops` or a flavour of it (`tcp_congestion_ops___v71`).
pub(crate) fn congestion_ops<'a>(btf: &'a Btf<'_>, map: &str) -> Option<Struct<'a>> {
    let sections = [".struct_ops.link", ".struct_ops"].into_iter();
    let (_, _, of) = sections.flat_map(|section| variables(btf, section)).find(|(name, ..)| *name == map)?;
    let of = Struct::try_from(of.skip_mods_and_typedefs()).ok()?;
    let name = of.name().and_then(OsStr::to_str)?;
    (name.split("___").next() == Some(OPS)).then_some(of)
}
