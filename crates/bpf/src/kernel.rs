//! The types of the running kernel, and the variant of an algorithm that fits it.

use anyhow::{Context, Result};
use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType, ReferencesType};
use messages::Failure;

/// The differences between kernels in `struct tcp_congestion_ops`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Parameters of `cong_control`: 2 before Linux 6.10, 4 since.
    pub cong_control_parameters: usize,
    /// `cwnd_event_tx_start` is a separate operation since Linux 7.1.
    pub has_tx_start: bool,
}

impl Interface {
    /// Reads the kernel's BTF.
    pub fn of_running_kernel() -> Result<Interface> {
        let btf = Btf::from_vmlinux().context("reading the kernel's types (/sys/kernel/btf/vmlinux)")?;
        let ops: Struct<'_> = btf.type_by_name("tcp_congestion_ops").context("the kernel has no tcp_congestion_ops")?;
        let member = |name: &str| ops.iter().find(|m| m.name.is_some_and(|n| n == name)).map(|m| m.ty);
        let cong_control = member("cong_control").context("the kernel's tcp_congestion_ops has no cong_control")?;
        Ok(Interface {
            cong_control_parameters: parameters(&btf, cong_control).context("cong_control is no function")?,
            has_tx_start: member("cwnd_event_tx_start").is_some(),
        })
    }

    fn supports(self, variant: Variant) -> bool {
        match variant {
            Variant::V64 => true,
            Variant::V610 => self.cong_control_parameters == 4,
            Variant::V71 => self.cong_control_parameters == 4 && self.has_tx_start,
        }
    }
}

/// Fails on kernels whose registrations don't end with their processes: links to congestion controls are of Linux 6.4.
pub(crate) fn is_new_enough() -> Result<()> {
    let release = nix::sys::utsname::uname().context("asking for the kernel's version")?;
    let release = release.release().to_string_lossy();
    if at_least(&release, (6, 4)) {
        return Ok(());
    }
    Err(Failure::new("loading a congestion control into the kernel", format!("this is Linux {release}"))
        .hint("Linux 6.4 or later can; the kernel's own congestion controls work everywhere")
        .into())
}

/// True if a release such as `6.18.4-arch1` is of this version or a later one.
fn at_least(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= version
}

fn parameters(btf: &Btf<'_>, pointer: libbpf_rs::btf::TypeId) -> Option<usize> {
    let pointer: Ptr<'_> = btf.type_by_id(pointer)?;
    let function: BtfType<'_> = pointer.referenced_type().skip_mods_and_typedefs();
    FuncProto::try_from(function).ok().map(|function| function.len())
}

/// A form of `tcp_congestion_ops`, named by the first kernel that has it. An algorithm carries one map for each, their
/// names ending like this; the highest that the kernel supports is the one to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// `cong_control(sk, rs)`.
    V64,
    /// `cong_control(sk, ack, flag, rs)`.
    V610,
    /// `cwnd_event_tx_start` is called where `cwnd_event` was, as a transmission starts.
    V71,
}

impl Variant {
    const ALL: [(Variant, &'static str); 3] =
        [(Variant::V64, "_v64"), (Variant::V610, "_v610"), (Variant::V71, "_v71")];

    fn of(map: &str) -> Option<Variant> {
        Variant::ALL.iter().find(|(_, suffix)| map.ends_with(suffix)).map(|(variant, _)| *variant)
    }

    /// The end of a map's name, without the underscore.
    pub fn name(self) -> &'static str {
        &Variant::ALL.iter().find(|(variant, _)| *variant == self).expect("all are listed").1[1..]
    }
}

/// Choose the struct_ops map of an object to load. A single one is taken whatever its name.
pub fn choose<'a>(maps: &[&'a str], interface: Interface) -> Option<(&'a str, Option<Variant>)> {
    if let [only] = maps {
        return Some((only, Variant::of(only)));
    }
    let variants: Option<Vec<(Variant, &str)>> = maps.iter().map(|map| Some((Variant::of(map)?, *map))).collect();
    let variants = variants?;
    let base = |(_, map): &(Variant, &'a str)| map.rsplit_once('_').map(|(base, _)| base);
    if variants.windows(2).any(|pair| base(&pair[0]) != base(&pair[1])) {
        return None;
    }
    let fitting = variants.into_iter().filter(|(variant, _)| interface.supports(*variant));
    fitting.max().map(|(variant, map)| (map, Some(variant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V6_6: Interface = Interface { cong_control_parameters: 2, has_tx_start: false };
    const V6_18: Interface = Interface { cong_control_parameters: 4, has_tx_start: false };
    const V7_1: Interface = Interface { cong_control_parameters: 4, has_tx_start: true };

    #[test]
    fn the_highest_variant_that_the_kernel_supports_is_chosen() {
        let all = ["cc_v64", "cc_v71", "cc_v610"];
        assert_eq!(choose(&all, V6_6), Some(("cc_v64", Some(Variant::V64))));
        assert_eq!(choose(&all, V6_18), Some(("cc_v610", Some(Variant::V610))));
        assert_eq!(choose(&all, V7_1), Some(("cc_v71", Some(Variant::V71))));
    }

    #[test]
    fn without_cong_control_two_variants_are_enough() {
        let two = ["cc_v64", "cc_v71"];
        assert_eq!(choose(&two, V6_18), Some(("cc_v64", Some(Variant::V64))));
        assert_eq!(choose(&two, V7_1), Some(("cc_v71", Some(Variant::V71))));
    }

    #[test]
    fn a_single_map_needs_no_suffix() {
        assert_eq!(choose(&["mine"], V6_18), Some(("mine", None)));
        assert_eq!(choose(&["mine", "yours"], V6_18), None);
        assert_eq!(choose(&["mine", "yours_v64"], V6_18), None);
        assert_eq!(choose(&["mine_v64", "yours_v610"], V6_18), None);
        assert_eq!(choose(&[], V6_18), None);
    }

    #[test]
    fn releases_are_compared_by_number() {
        assert!(at_least("6.18.44-arch1", (6, 4)) && at_least("7.0", (6, 4)) && at_least("6.4.0", (6, 4)));
        assert!(!at_least("6.1.0-30-amd64", (6, 4)) && !at_least("5.15", (6, 4)));
    }

    #[test]
    fn the_running_kernel_has_the_interface() {
        let interface = Interface::of_running_kernel().unwrap();
        assert!([2, 4].contains(&interface.cong_control_parameters));
    }
}
