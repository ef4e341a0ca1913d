//! The parameters of algorithms, as their manifests declare them. The BPF programs of the same algorithms have the same
//! parameters.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::CongestionControl;
use crate::algorithms::Made;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The value of a flag.
    Flag(bool),
    /// The value of an integer.
    Number(i64),
}

/// A parameter of an algorithm, as its manifest declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Unique among those of its algorithm.
    pub name: &'static str,
    /// The value if nobody sets it.
    pub default: Setting,
    /// The least and the most that mean anything; `None` of a flag.
    pub limits: Option<(i64, i64)>,
    /// The parameter's effect, with its unit.
    pub meaning: &'static str,
}

/// Why there can't be such an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No algorithm has this name.
    Algorithm,
    /// Unknown parameter, and the names that exist.
    Unknown(String, Vec<&'static str>),
    /// The parameter of this name must be something else.
    Misfit(&'static str, String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Algorithm => write!(f, "there is no such algorithm"),
            Unfit::Unknown(name, known) if known.is_empty() => write!(f, "no parameter {name}: it has none"),
            Unfit::Unknown(name, known) => write!(f, "no parameter {name}: it has {}", known.join(", ")),
            Unfit::Misfit(name, expected) => write!(f, "{name}: expected {expected}"),
        }
    }
}

impl core::error::Error for Unfit {}

/// The place of the parameter `name` in a `P`; a flag is 0 or 1.
pub(crate) struct Tunable<P> {
    pub name: &'static str,
    pub get: fn(&P) -> i64,
    pub set: fn(&mut P, i64),
}

/// An integer of the structure, by its field's name.
macro_rules! number {
    ($name:ident) => {
        $crate::tunable::Tunable {
            name: stringify!($name),
            get: |parameters| parameters.$name as i64,
            set: |parameters, value| parameters.$name = value as _,
        }
    };
}

/// A flag of the structure, by its field's name.
macro_rules! flag {
    ($name:ident) => {
        $crate::tunable::Tunable {
            name: stringify!($name),
            get: |parameters| i64::from(parameters.$name),
            set: |parameters, value| parameters.$name = value != 0,
        }
    };
}

pub(crate) use {flag, number};

impl Setting {
    fn number(self) -> i64 {
        match self {
            Setting::Flag(flag) => i64::from(flag),
            Setting::Number(number) => number,
        }
    }
}

impl Parameter {
    fn check(&self, setting: Setting) -> Result<i64, Unfit> {
        match (setting, self.limits) {
            (Setting::Flag(_), None) => Ok(setting.number()),
            (Setting::Number(number), Some((least, most))) if (least..=most).contains(&number) => Ok(number),
            (_, None) => Err(Unfit::Misfit(self.name, String::from("true or false"))),
            (_, Some((least, most))) => Err(Unfit::Misfit(self.name, format!("an integer from {least} to {most}"))),
        }
    }
}

/// `blank` with the declared default of each of `known`, which are in the manifest's order.
///
/// # Panics
/// `known` are others than those that are declared.
pub(crate) fn defaults<P>(known: &[Tunable<P>], mut blank: P, declared: &[Parameter]) -> P {
    assert_eq!(known.len(), declared.len(), "the parameters of an algorithm are those of its manifest");
    for (one, parameter) in known.iter().zip(declared) {
        debug_assert_eq!(one.name, parameter.name, "the parameters of an algorithm are those of its manifest");
        (one.set)(&mut blank, parameter.default.number());
    }
    blank
}

/// `parameters` with `settings` in their places.
pub(crate) fn with<P>(
    known: &[Tunable<P>],
    mut parameters: P,
    declared: &'static [Parameter],
    settings: &[(&str, Setting)],
) -> Result<P, Unfit> {
    for &(name, setting) in settings {
        let Some(at) = declared.iter().position(|one| one.name == name) else {
            return Err(Unfit::Unknown(String::from(name), declared.iter().map(|one| one.name).collect()));
        };
        (known[at].set)(&mut parameters, declared[at].check(setting)?);
    }
    Ok(parameters)
}

/// An algorithm without parameters.
pub(crate) fn plain<C: CongestionControl + 'static>(algorithm: C, settings: &[(&str, Setting)]) -> Made {
    Ok(Box::new(with(&[], algorithm, &[], settings)?))
}
