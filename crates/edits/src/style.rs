//! How values are written: as their neighbours are, and so that no comment is lost or goes astray.

use anyhow::{Result, bail};
use toml_edit::{Array, ArrayOfTables, Decor, InlineTable, Item, Key, Table, Value};

use crate::json::Json;

/// How a new value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `key = value`.
    Inline,
    /// `[key]`.
    Section,
    /// `[[key]]`.
    Sections,
}

impl Shape {
    /// The shape of a value in a table with a header, by the number of parts of its key.
    ///
    /// Tables at the top have a header, and so have tables of tables one level below (`[topology.nodes]`), and lists of
    /// tables at both. All that is further down stands on its line.
    pub(crate) fn of(value: &Json, depth: usize) -> Shape {
        match value {
            Json::Table(keys)
                if depth == 1 || (depth == 2 && !keys.is_empty() && keys.iter().all(|(_, held)| held.is_table())) =>
            {
                Shape::Section
            }
            Json::List(items) if depth <= 2 && !items.is_empty() && items.iter().all(Json::is_table) => Shape::Sections,
            _ => Shape::Inline,
        }
    }
}

/// A value in a shape.
pub(crate) fn item(json: &Json, shape: Shape) -> Result<Item> {
    Ok(match (shape, json) {
        (Shape::Sections, Json::List(items)) => {
            let mut tables = ArrayOfTables::new();
            for one in items {
                tables.push(section(one)?);
            }
            Item::ArrayOfTables(tables)
        }
        (Shape::Section, Json::Table(_)) => Item::Table(section(json)?),
        _ => Item::Value(value(json)?),
    })
}

/// A table with a header: each of its values on a line.
pub(crate) fn section(json: &Json) -> Result<Table> {
    let Json::Table(keys) = json else { bail!("it is no table") };
    let mut table = Table::new();
    for (key, one) in keys {
        table.insert(key, Item::Value(value(one)?));
    }
    Ok(table)
}

/// A value on its line.
pub(crate) fn inline(table: InlineTable) -> Item {
    Item::Value(Value::InlineTable(table))
}

/// A value as TOML has it.
pub(crate) fn value(json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => bail!("TOML has no null"),
        Json::Truth(truth) => Value::from(*truth),
        Json::Whole(number) => Value::from(*number),
        Json::Real(number) => Value::from(*number),
        Json::Text(text) => Value::from(text.as_str()),
        Json::List(items) => {
            let mut array = Array::new();
            for one in items {
                array.push(value(one)?);
            }
            Value::Array(array)
        }
        Json::Table(keys) => {
            let mut table = InlineTable::new();
            for (key, one) in keys {
                table.insert(key, value(one)?);
            }
            Value::InlineTable(table)
        }
    })
}

/// Another value in place of one: the spaces and the comment around it stay.
pub(crate) fn replace(old: &mut Value, json: &Json) -> Result<()> {
    let decor = old.decor().clone();
    *old = value(json)?;
    *old.decor_mut() = decor;
    Ok(())
}

/// Add a key to an inline table. The space before its brace stays there.
pub(crate) fn add(table: &mut InlineTable, name: &str, mut new: Value) {
    let last = table.iter().last().map(|(key, _)| key.to_owned());
    if let Some(before) = last.and_then(|key| table.get_mut(&key)) {
        let end = suffix(before.decor());
        if !end.is_empty() {
            before.decor_mut().set_suffix("");
            *new.decor_mut() = Decor::new(" ", end);
        }
    }
    table.insert(name, new);
}

/// Remove a key of an inline table. The space before its brace stays there.
pub(crate) fn take(table: &mut InlineTable, name: &str) -> Option<Value> {
    let is_last = table.iter().last().is_some_and(|(key, _)| key == name);
    let taken = table.remove(name)?;
    let last = table.iter().last().map(|(key, _)| key.to_owned());
    if let (true, Some(now)) = (is_last, last.and_then(|key| table.get_mut(&key))) {
        let end = suffix(taken.decor());
        if !end.is_empty() {
            now.decor_mut().set_suffix(end);
        }
    }
    Some(taken)
}

/// Add an item to a list on one line or on several, as the others stand.
pub(crate) fn add_item(array: &mut Array, at: usize, mut new: Value) {
    let count = array.len();
    let first = array.get(0).map(|one| prefix(one.decor()));
    let other = array.get(count.saturating_sub(1)).filter(|_| count > 1).map(|one| prefix(one.decor()));
    let of_others = blank(&other.unwrap_or_else(|| {
        let only = first.clone().unwrap_or_default();
        if only.contains('\n') { only } else { " ".to_owned() }
    }));
    let mut own = Decor::new(of_others.clone(), "");
    if let (0, Some(first)) = (at, first) {
        own = Decor::new(blank(&first), "");
        if !first.contains('\n') {
            array.get_mut(0).expect("it has a first").decor_mut().set_prefix(of_others);
        }
    } else if count == 0 {
        own = Decor::new("", "");
    }
    if at == count && count > 0 && !array.trailing_comma() {
        // What stands before the bracket is the last item's.
        let before = array.get_mut(count - 1).expect("it has a last").decor_mut();
        own.set_suffix(suffix(before));
        before.set_suffix("");
    }
    *new.decor_mut() = own;
    array.insert_formatted(at, new);
}

/// Remove an item of a list. A comment behind the item before it stays.
pub(crate) fn take_item(array: &mut Array, at: usize) {
    let count = array.len();
    let taken = array.remove(at);
    let begin = prefix(taken.decor());
    // What follows a comma up to the line's end is said of the item before the comma.
    let (said, _) = begin.split_once('\n').unwrap_or(("", ""));
    let said = if said.contains('#') && at > 0 { said } else { "" };
    if at < array.len() {
        let next = array.get_mut(at).expect("it is in the list").decor_mut();
        let own = prefix(next);
        let rest = own.split_once('\n').map(|(_, rest)| rest.to_owned());
        let kept = match rest {
            Some(rest) => format!("{said}\n{rest}"),
            None if at == 0 => begin.clone(),
            None => own,
        };
        next.set_prefix(kept);
    } else if at > 0 {
        let end = suffix(taken.decor());
        if count == at + 1 && !array.trailing_comma() {
            array.get_mut(at - 1).expect("it is in the list").decor_mut().set_suffix(end);
        }
        if !said.is_empty() {
            let trailing = array.trailing().as_str().unwrap_or_default().to_owned();
            let rest = trailing.split_once('\n').map_or(trailing.as_str(), |(_, rest)| rest).to_owned();
            if array.trailing_comma() {
                array.set_trailing(format!("{said}\n{rest}"));
            } else {
                array.get_mut(at - 1).expect("it is in the list").decor_mut().set_suffix(format!("{said}\n"));
            }
        }
    }
}

/// Remove a table of a list of tables. Its comment goes with it; one with an empty line below it stays.
pub(crate) fn take_table(tables: &mut ArrayOfTables, at: usize) {
    let taken = tables.remove(at);
    if let Some(next) = tables.get_mut(at) {
        let detached = detached(&prefix(taken.decor()));
        if !detached.is_empty() {
            let own = prefix(next.decor());
            next.decor_mut().set_prefix(joined(&detached, &own));
        }
    }
}

/// Move a comment that has an empty line below it from a key that was removed to the next one.
pub(crate) fn keep_detached(removed: &Key, table: &mut Table, next: &str) {
    let detached = detached(&prefix(removed.leaf_decor()));
    if let (false, Some(mut key)) = (detached.is_empty(), table.key_mut(next)) {
        let own = prefix(key.leaf_decor());
        key.leaf_decor_mut().set_prefix(joined(&detached, &own));
    }
}

/// The comments of a prefix that are about no key: all above its last empty line.
fn detached(prefix: &str) -> String {
    match prefix.rfind("\n\n") {
        Some(end) if prefix[..end].contains('#') => prefix[..end + 1].to_owned(),
        _ => String::new(),
    }
}

/// Comments with one empty line below them.
fn joined(detached: &str, own: &str) -> String {
    let line = if own.starts_with('\n') { "" } else { "\n" };
    format!("{detached}{line}{own}")
}

/// The spaces of a prefix, from its last line on.
fn blank(prefix: &str) -> String {
    match prefix.rfind('\n') {
        Some(line) => prefix[line..].to_owned(),
        None => prefix.to_owned(),
    }
}

fn prefix(decor: &Decor) -> String {
    decor.prefix().and_then(|raw| raw.as_str()).unwrap_or_default().to_owned()
}

fn suffix(decor: &Decor) -> String {
    decor.suffix().and_then(|raw| raw.as_str()).unwrap_or_default().to_owned()
}
