//! Values as JSON says them, with tables in the order in which they were written: a map of `serde_json` has lost it.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use toml_edit::{Document, Item, Value};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`, which TOML does not have.
    Null,
    /// `true` or `false`.
    Truth(bool),
    /// A whole number of 64 bits.
    Whole(i64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// A table.
    Table(Vec<(String, Json)>),
}

impl Json {
    /// True for a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Json::Table(_))
    }
}

/// Returns the values of a TOML text.
///
/// # Errors
/// The text is no TOML, or has values that JSON lacks: times, infinite numbers, and those that are not numbers.
pub fn values(text: &str) -> Result<Json> {
    let document: Document<&str> = Document::parse(text).context("the text is no TOML")?;
    item(document.as_item())
}

fn item(of: &Item) -> Result<Json> {
    match of {
        Item::None => Ok(Json::Null),
        Item::Value(one) => value(one),
        Item::Table(table) => entries(table.iter()),
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| entries(table.iter())).collect::<Result<_>>().map(Json::List)
        }
    }
}

fn entries<'a>(of: impl Iterator<Item = (&'a str, &'a Item)>) -> Result<Json> {
    of.map(|(key, one)| Ok((key.to_owned(), item(one)?))).collect::<Result<_>>().map(Json::Table)
}

fn value(of: &Value) -> Result<Json> {
    Ok(match of {
        Value::String(text) => Json::Text(text.value().clone()),
        Value::Integer(number) => Json::Whole(*number.value()),
        Value::Float(number) if number.value().is_finite() => Json::Real(*number.value()),
        Value::Boolean(truth) => Json::Truth(*truth.value()),
        Value::Array(items) => Json::List(items.iter().map(value).collect::<Result<_>>()?),
        Value::InlineTable(table) => {
            let each = table.iter().map(|(key, one)| Ok((key.to_owned(), value(one)?)));
            Json::Table(each.collect::<Result<_>>()?)
        }
        Value::Float(_) | Value::Datetime(_) => bail!("JSON has no such value"),
    })
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => to.serialize_unit(),
            Json::Truth(truth) => to.serialize_bool(*truth),
            Json::Whole(number) => to.serialize_i64(*number),
            Json::Real(number) => to.serialize_f64(*number),
            Json::Text(text) => to.serialize_str(text),
            Json::List(items) => to.collect_seq(items),
            Json::Table(entries) => to.collect_map(entries.iter().map(|(key, one)| (key, one))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Whole(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Json, E> {
        i64::try_from(number).map(Json::Whole).map_err(|_| E::custom(format!("{number} is too large a number")))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Real(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element()? {
            found.push(item);
        }
        Ok(Json::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut found = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            found.push(entry);
        }
        Ok(Json::Table(found))
    }
}
