//! The names of algorithms: a label in scenario, plan and records, and a name of at most 15 characters in the kernel.

use std::collections::BTreeMap;

use libbpf_rs::ObjectBuilder;
use plan::Parameter;
use sha2::{Digest, Sha256};

use crate::{log, parameters};

/// Digits of the hash in a registered name.
const DIGITS: usize = 6;

/// Labels and the kernel's names. Other names are the same on both sides.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(String, String)>);

impl Names {
    pub(crate) fn push(&mut self, label: &str, kernel: &str) {
        self.0.push((label.to_owned(), kernel.to_owned()));
    }

    /// The kernel's name.
    pub fn kernel<'a>(&'a self, label: &'a str) -> &'a str {
        self.0.iter().find(|(known, _)| known == label).map_or(label, |(_, kernel)| kernel)
    }

    /// The name in records.
    pub fn label<'a>(&'a self, kernel: &'a str) -> &'a str {
        self.0.iter().find(|(_, known)| known == kernel).map_or(kernel, |(label, _)| label)
    }
}

/// SHA-256 of an object, in hexadecimal.
pub(crate) fn sha256(object: &[u8]) -> String {
    hexadecimal(&Sha256::digest(object))
}

/// The name under which an algorithm is registered: short for its label, and a hash of all that makes it differ from
/// others. With an empty nonce it is the name of an algorithm loaded to stay, which everybody can compute.
pub(crate) fn registered(label: &str, object: &[u8], parameters: &BTreeMap<String, Parameter>, nonce: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(object));
    hash.update(serde_json::to_vec(&differing(object, parameters)).expect("parameters are plain data"));
    hash.update([0]);
    hash.update(nonce);
    format!("{}_{}", prefix(label), &hexadecimal(&hash.finalize())[..DIGITS])
}

/// The parameters that are not at their defaults: a default that is spelled out makes no other algorithm.
fn differing(object: &[u8], given: &BTreeMap<String, Parameter>) -> BTreeMap<String, Parameter> {
    let mut differing = given.clone();
    if given.is_empty() {
        return differing;
    }
    let defaults = || -> anyhow::Result<_> { parameters::all(&mut ObjectBuilder::default().open_memory(object)?) };
    // An unreadable object has no known defaults; loading it says why.
    for known in log::collecting(defaults).0.unwrap_or_default() {
        if given.get(&known.name) == Some(&known.default) {
            differing.remove(&known.name);
        }
    }
    differing
}

/// The beginning of registered names of a label.
pub(crate) fn prefix(label: &str) -> String {
    // A label with parameters, such as `bbr3 (beta_keep=200)`, is short for the same algorithm.
    let mut words = label.split_whitespace();
    let base = words.next().unwrap_or_default();
    // A file that is called as a bundled one, `bbr3 (file)`, must not pass for it.
    let long = match words.next() {
        Some("(file)") if crate::bundled_labels().contains(&base) => format!("f_{base}"),
        _ => base.to_owned(),
    };
    match long.as_str() {
        "bbr2" => "db2".into(),
        "bbr3" => "db3".into(),
        other => other.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(8).collect(),
    }
}

/// The prefix of a kernel's name, if the name looks like one of ours.
pub(crate) fn prefix_of(kernel: &str) -> Option<&str> {
    let (prefix, digits) = kernel.rsplit_once('_')?;
    let hash = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (hash && !prefix.is_empty() && prefix.len() <= 8).then_some(prefix)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::NAME_MAX;

    #[test]
    fn names_are_short_and_hang_on_everything() {
        let none = BTreeMap::new();
        let some = BTreeMap::from([("beta_keep".to_owned(), Parameter::Integer(200))]);
        let name = registered("bbr3", b"object", &none, b"");
        assert!(name.starts_with("db3_") && name.len() == 10, "{name}");
        assert_eq!(name, registered("bbr3 (beta_keep=200)", b"object", &none, b""));
        for other in [
            registered("bbr3", b"another", &none, b""),
            registered("bbr3", b"object", &some, b""),
            registered("bbr3", b"object", &none, b"run"),
        ] {
            assert_ne!(name, other);
        }
        assert!(registered("bbr3 (file)", b"object", &none, b"").starts_with("f_bbr3_"));
        assert_eq!((prefix("bpf_reno (file) (a=1)").as_str(), prefix("cubic (file)").as_str()), ("f_bpf_re", "cubic"));
        let long = registered("my-very-long.name", b"", &none, b"");
        assert!(long.starts_with("my_very__") && long.len() == NAME_MAX, "{long}");
    }

    #[test]
    fn a_default_that_is_spelled_out_changes_no_name() {
        let object = crate::bundled("bbr3").expect("it is bundled");
        let name = |values: &[(&str, Parameter)]| {
            let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            registered("bbr3", object, &values, b"")
        };
        let of = |wanted: &str| {
            let all = parameters::all(&mut ObjectBuilder::default().open_memory(object).unwrap()).unwrap();
            all.into_iter().find(|known| known.name == wanted).unwrap().default
        };
        let (beta, undo) = (("beta_keep", of("beta_keep")), ("undo_state", of("undo_state")));
        assert_eq!(name(&[]), name(&[beta, undo]));
        let other = ("beta_keep", Parameter::Integer(200));
        assert_ne!(name(&[]), name(&[other]));
        assert_eq!(name(&[other]), name(&[other, undo]));
    }

    #[test]
    fn our_names_are_told_from_the_kernels() {
        assert_eq!(prefix_of("db3_0a1b2c"), Some("db3"));
        assert_eq!(prefix_of("bpf_reno_0a1b2c"), Some("bpf_reno"));
        for other in ["cubic", "bbr", "dbt_tiny_1", "_0a1b2c", "bbr_0A1B2C"] {
            assert_eq!(prefix_of(other), None, "{other}");
        }
    }

    #[test]
    fn unknown_names_stand_for_themselves() {
        let mut names = Names::default();
        names.push("bbr3", "db3_0a1b2c");
        assert_eq!((names.kernel("bbr3"), names.kernel("cubic")), ("db3_0a1b2c", "cubic"));
        assert_eq!((names.label("db3_0a1b2c"), names.label("cubic")), ("bbr3", "cubic"));
    }
}
