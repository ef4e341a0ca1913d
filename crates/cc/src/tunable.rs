//! What algorithms can be told before they begin: the parameters of the BPF programs of the same algorithms, by the same
//! names.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Of a flag.
    Flag(bool),
    /// Of an integer.
    Number(i64),
}

/// Something that an algorithm can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Unique among those of its algorithm.
    pub name: &'static str,
    /// What it is if nobody sets it.
    pub default: Setting,
    /// The least and the most that mean anything; `None` of a flag.
    pub limits: Option<(i64, i64)>,
}

/// Why there can't be such an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// None has this name.
    Algorithm,
    /// It has no parameter of this name, but these.
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

/// How the parameter `name` is read from and written to a `P`; a flag is 0 or 1.
pub(crate) struct Tunable<P> {
    pub name: &'static str,
    pub limits: Option<(i64, i64)>,
    pub get: fn(&P) -> i64,
    pub set: fn(&mut P, i64),
}

/// An integer of the structure, by its field's name.
macro_rules! number {
    ($name:ident, $limits:expr) => {
        $crate::tunable::Tunable {
            name: stringify!($name),
            limits: Some($limits),
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
            limits: None,
            get: |parameters| i64::from(parameters.$name),
            set: |parameters, value| parameters.$name = value != 0,
        }
    };
}

pub(crate) use {flag, number};

impl<P> Tunable<P> {
    fn take(&self, parameters: &mut P, setting: Setting) -> Result<(), Unfit> {
        let value = match (setting, self.limits) {
            (Setting::Flag(flag), None) => i64::from(flag),
            (Setting::Number(number), Some((least, most))) if (least..=most).contains(&number) => number,
            (_, None) => return Err(Unfit::Misfit(self.name, String::from("true or false"))),
            (_, Some((least, most))) => {
                return Err(Unfit::Misfit(self.name, format!("an integer from {least} to {most}")));
            }
        };
        (self.set)(parameters, value);
        Ok(())
    }
}

/// All parameters, with what they are in `defaults`.
pub(crate) fn list<P>(known: &[Tunable<P>], defaults: &P) -> Vec<Parameter> {
    let listed = known.iter().map(|one| {
        let value = (one.get)(defaults);
        let default = if one.limits.is_none() { Setting::Flag(value != 0) } else { Setting::Number(value) };
        Parameter { name: one.name, default, limits: one.limits }
    });
    listed.collect()
}

/// `defaults` with `settings` in their places.
pub(crate) fn with<P>(known: &[Tunable<P>], mut defaults: P, settings: &[(&str, Setting)]) -> Result<P, Unfit> {
    for &(name, setting) in settings {
        let Some(found) = known.iter().find(|one| one.name == name) else {
            return Err(Unfit::Unknown(String::from(name), known.iter().map(|one| one.name).collect()));
        };
        found.take(&mut defaults, setting)?;
    }
    Ok(defaults)
}
