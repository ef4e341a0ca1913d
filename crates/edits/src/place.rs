//! Places in a document, and what can be done there.

use anyhow::{Result, anyhow, bail, ensure};
use toml_edit::{Array, ArrayOfTables, InlineTable, Item, Key, Table, Value};

use crate::json::Json;
use crate::operation::{Part, spelt};
use crate::style::{self, Shape};

/// Value that can hold other values.
pub(crate) enum Place<'a> {
    /// A table with a header, or of dotted keys.
    Table(&'a mut Table),
    /// `{ a = 1 }`.
    Inline(&'a mut InlineTable),
    /// `[1, 2]`.
    Array(&'a mut Array),
    /// `[[a]]`, several times.
    Tables(&'a mut ArrayOfTables),
}

/// The place that a key leads to. `made`: tables that are missing are made, for a value that is a table, or is none.
pub(crate) fn find<'a>(root: &'a mut Table, key: &[Part], made: Option<bool>) -> Result<Place<'a>> {
    let mut place = Place::Table(root);
    for (depth, part) in key.iter().enumerate() {
        let is_last = depth + 1 == key.len();
        // What it will hold is a table, unless it is the value itself.
        let holds_table = if is_last { made == Some(true) } else { matches!(key[depth + 1], Part::Name(_)) };
        if made.is_some() {
            place.make(part, depth + 1, holds_table);
        }
        place = place.step(part).ok_or_else(|| anyhow!("there is no {}", spelt(&key[..=depth])))?;
    }
    Ok(place)
}

impl<'a> Place<'a> {
    fn step(self, part: &Part) -> Option<Place<'a>> {
        match (self, part) {
            (Place::Table(table), Part::Name(name)) => Place::of_item(table.get_mut(name)?),
            (Place::Inline(table), Part::Name(name)) => Place::of_value(table.get_mut(name)?),
            (Place::Array(array), Part::Index(index)) => Place::of_value(array.get_mut(*index)?),
            (Place::Tables(tables), Part::Index(index)) => Some(Place::Table(tables.get_mut(*index)?)),
            _ => None,
        }
    }

    fn of_item(item: &'a mut Item) -> Option<Place<'a>> {
        match item {
            Item::Table(table) => Some(Place::Table(table)),
            Item::ArrayOfTables(tables) => Some(Place::Tables(tables)),
            Item::Value(value) => Place::of_value(value),
            Item::None => None,
        }
    }

    fn of_value(value: &'a mut Value) -> Option<Place<'a>> {
        match value {
            Value::InlineTable(table) => Some(Place::Inline(table)),
            Value::Array(array) => Some(Place::Array(array)),
            _ => None,
        }
    }

    /// Make an empty table that is missing.
    fn make(&mut self, part: &Part, depth: usize, holds_table: bool) {
        let Part::Name(name) = part else { return };
        match self {
            Place::Table(table) if !table.contains_key(name) => {
                let is_section = !table.is_dotted() && (depth == 1 || (depth == 2 && holds_table));
                let empty = if is_section { Item::Table(Table::new()) } else { style::inline(InlineTable::new()) };
                table.insert(name, empty);
            }
            Place::Inline(table) if !table.contains_key(name) => {
                style::add(table, name, Value::InlineTable(InlineTable::new()));
            }
            _ => {}
        }
    }

    /// Write a value. `depth`: the number of parts of its key.
    pub(crate) fn set(self, part: &Part, value: &Json, depth: usize) -> Result<()> {
        match (self, part) {
            (Place::Table(table), Part::Name(name)) => {
                if let Some(Item::Value(old)) = table.get_mut(name) {
                    return style::replace(old, value);
                }
                let shape = if table.is_dotted() { Shape::Inline } else { Shape::of(value, depth) };
                let mut item = style::item(value, shape)?;
                match (table.get(name), &mut item) {
                    (Some(Item::Table(old)), Item::Table(new)) => {
                        *new.decor_mut() = old.decor().clone();
                        new.set_position(old.position());
                        table[name.as_str()] = item;
                    }
                    (Some(_), _) => {
                        // Its key was part of a header.
                        table.remove(name);
                        table.insert(name, item);
                    }
                    (None, _) => {
                        table.insert(name, item);
                    }
                }
            }
            (Place::Inline(table), Part::Name(name)) => match table.get_mut(name) {
                Some(old) => style::replace(old, value)?,
                None => style::add(table, name, style::value(value)?),
            },
            (Place::Array(array), Part::Index(index)) => {
                let old = array.get_mut(*index).ok_or_else(|| anyhow!("the list has no item {index}"))?;
                style::replace(old, value)?;
            }
            (Place::Tables(tables), Part::Index(index)) => {
                let old = tables.get_mut(*index).ok_or_else(|| anyhow!("the list has no item {index}"))?;
                let mut new = style::section(value)?;
                *new.decor_mut() = old.decor().clone();
                new.set_position(old.position());
                *old = new;
            }
            _ => bail!("{part} names nothing here: items of lists have numbers, keys of tables have names"),
        }
        Ok(())
    }

    /// Remove a key or an item. Returns whether this leaves nothing.
    pub(crate) fn unset(self, part: &Part) -> Result<bool> {
        let missing = || anyhow!("there is no {part}");
        match (self, part) {
            (Place::Table(table), Part::Name(name)) => {
                let next = following(table, name);
                let (key, item) = table.remove_entry(name).ok_or_else(missing)?;
                if let (Item::Value(_), Some(next)) = (&item, next) {
                    style::keep_detached(&key, table, &next);
                }
                Ok(table.is_empty())
            }
            (Place::Inline(table), Part::Name(name)) => {
                style::take(table, name).ok_or_else(missing)?;
                Ok(table.is_empty())
            }
            (Place::Array(array), Part::Index(index)) => {
                ensure!(*index < array.len(), missing());
                style::take_item(array, *index);
                Ok(array.is_empty())
            }
            (Place::Tables(tables), Part::Index(index)) => {
                ensure!(*index < tables.len(), missing());
                style::take_table(tables, *index);
                Ok(tables.is_empty())
            }
            _ => bail!("{part} names nothing here: items of lists have numbers, keys of tables have names"),
        }
    }

    /// Add an item to a list.
    pub(crate) fn insert(self, at: usize, value: &Json) -> Result<()> {
        match self {
            Place::Array(array) => {
                ensure!(at <= array.len(), "the list is too short for a new item {at}");
                style::add_item(array, at, style::value(value)?);
            }
            Place::Tables(tables) => {
                ensure!(at <= tables.len(), "the list is too short for a new item {at}");
                let mut table = style::section(value)?;
                // The text of tables is in the order of their positions. A new table without one comes right behind the table
                // before it. The first of a list has none of its own before it, and takes the place of the former first.
                table.set_position(tables.get(0).filter(|_| at == 0).and_then(Table::position));
                if at == tables.len() { tables.push(table) } else { tables.insert(at, table) }
            }
            Place::Table(_) | Place::Inline(_) => bail!("a table has no items: name a list"),
        }
        Ok(())
    }

    /// Give a key another name, in its place.
    pub(crate) fn rename(self, name: &str, to: &str) -> Result<()> {
        match self {
            Place::Table(table) => {
                ensure!(table.contains_key(name), "there is no key {name}");
                ensure!(!table.contains_key(to), "there is a key {to} already");
                let names: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
                for each in names {
                    let (key, item) = table.remove_entry(&each).expect("it was listed");
                    table.insert_formatted(&renamed(key, name, to), item);
                }
            }
            Place::Inline(table) => {
                ensure!(table.contains_key(name), "there is no key {name}");
                ensure!(!table.contains_key(to), "there is a key {to} already");
                let names: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
                for each in names {
                    let (key, value) = table.remove_entry(&each).expect("it was listed");
                    table.insert_formatted(&renamed(key, name, to), value);
                }
            }
            Place::Array(_) | Place::Tables(_) => bail!("an item of a list has no name to change"),
        }
        Ok(())
    }
}

/// The key after `name` whose value stands on a line of its own.
fn following(table: &Table, name: &str) -> Option<String> {
    let mut after = table.iter().skip_while(|(key, _)| *key != name).skip(1);
    after.find(|(_, item)| item.is_value()).map(|(key, _)| key.to_owned())
}

fn renamed(key: Key, name: &str, to: &str) -> Key {
    if key.get() != name {
        return key;
    }
    Key::new(to).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
}
