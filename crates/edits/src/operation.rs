//! The operations.

use std::fmt;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Deserialize;
use toml_edit::Table;

use crate::json::Json;
use crate::place::{Place, find};

/// A part of the way to a value: the key of a table, or an index of a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// An index, from 0.
    Index(usize),
    /// A key.
    Name(String),
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Index(index) => write!(out, "{index}"),
            Part::Name(name) => write!(out, "{name}"),
        }
    }
}

/// A change of a document.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Write a value. Tables on the way to it are made.
    Set {
        /// Where.
        key: Vec<Part>,
        /// Texts, numbers, truth values, lists and tables.
        value: Json,
    },
    /// Remove a key, or an item of a list. A list that this leaves empty goes, too.
    Unset {
        /// Key of the value.
        key: Vec<Part>,
    },
    /// Add an item to a list that is there.
    Insert {
        /// The list.
        key: Vec<Part>,
        /// The item's index.
        at: usize,
        /// The item.
        value: Json,
    },
    /// Give a key another name, in its place.
    Rename {
        /// The key.
        key: Vec<Part>,
        /// Its name from now on.
        to: String,
    },
}

impl Operation {
    /// Carry it out on a document.
    ///
    /// # Errors
    /// There is no such place, or the value is none that TOML has.
    pub(crate) fn apply(&self, root: &mut Table) -> Result<()> {
        match self {
            Operation::Set { key, value } => {
                let (parent, last) = Self::last(root, key, Some(value))?;
                parent.set(last, value, key.len()).map_err(|error| error.context(spelt(key)))
            }
            Operation::Unset { key } => {
                let (parent, last) = Self::last(root, key, None)?;
                let is_empty = parent.unset(last).map_err(|error| error.context(spelt(key)))?;
                if is_empty
                    && matches!(last, Part::Index(_))
                    && matches!(key[..key.len() - 1].last(), Some(Part::Name(_)))
                {
                    return Operation::Unset { key: key[..key.len() - 1].to_vec() }.apply(root);
                }
                Ok(())
            }
            Operation::Insert { key, at, value } => {
                let list = find(root, key, None)?;
                list.insert(*at, value).map_err(|error| error.context(spelt(key)))
            }
            Operation::Rename { key, to } => {
                let (parent, last) = Self::last(root, key, None)?;
                let Part::Name(name) = last else { bail!("{} has no name", spelt(key)) };
                ensure!(!name.is_empty(), "no name");
                parent.rename(name, to).map_err(|error| error.context(spelt(key)))
            }
        }
    }

    /// Finds the table or list that holds a key's last part, and that part. `made`: the value for which tables are made.
    fn last<'a, 'k>(root: &'a mut Table, key: &'k [Part], made: Option<&Json>) -> Result<(Place<'a>, &'k Part)> {
        let (last, way) = key.split_last().ok_or_else(|| anyhow!("no key"))?;
        Ok((find(root, way, made.map(|value| value.is_table()))?, last))
    }
}

/// `topology.links.0`.
pub(crate) fn spelt(key: &[Part]) -> String {
    key.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}
