//! Edits TOML texts, and compares the outcome with the same edits of their values.
//!
//! An input is a TOML text, a zero byte, and bytes that choose the operations.
#![no_main]

mod random;

use edits::{Json, Operation, Part, edit};
use libfuzzer_sys::{Corpus, fuzz_target};
use toml::{Table, Value};

/// Operations per input.
const MOST: usize = 6;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else { return Corpus::Reject };
    let mut text = text.to_owned();
    // Who calls it keeps line ends and the byte order mark. Dotted keys of one table that stand apart come together, and toml_edit
    // keeps no spaces around the dots of a header whose tables have another header.
    let is_plain = !text.contains(['\r', '\u{feff}']);
    if let (true, Ok(same)) = (is_plain, edit(&text, &[])) {
        assert_eq!(sorted_lines(&same), sorted_lines(&text));
    }
    let Ok(mut values) = toml::from_str::<Table>(&text) else {
        let _ = edit(&text, &[Operation::Unset { key: vec![Part::Name("a".to_owned())] }]);
        return Corpus::Keep;
    };
    let mut choices = Choices(bytes[end..].iter());
    choices.byte();
    for _ in 0..MOST {
        if choices.0.len() == 0 {
            break;
        }
        let operation = operation(&values, &mut choices);
        let Ok(edited) = edit(&text, std::slice::from_ref(&operation)) else { continue };
        assert!(carry_out(&mut values, &operation).is_some(), "{operation:?} was done in\n{text}");
        let found: Table = match toml::from_str(&edited) {
            Ok(found) => found,
            Err(error) => panic!("{operation:?} makes of\n{text}\n--- no TOML:\n{edited}\n--- {error}"),
        };
        // Text, as two values that are no numbers are not equal.
        let (kept, expected) = (format!("{:?}", pruned(&found)), format!("{:?}", pruned(&values)));
        assert!(kept == expected, "{operation:?} makes of\n{text}\n---\n{edited}\n---\n{kept}\n--- not\n{expected}");
        values = found;
        text = edited;
    }
    Corpus::Keep
});

fn sorted_lines(text: &str) -> Vec<String> {
    let of_header = |line: &str| line.trim_start().starts_with('[');
    let line = |line: &str| if of_header(line) { line.replace([' ', '\t'], "") } else { line.to_owned() };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort_unstable();
    lines
}

/// The values without keys of empty tables: a table has no text if all that was below its key is gone.
fn pruned(table: &Table) -> Table {
    let kept = table.iter().map(|(key, value)| (key.clone(), pruned_value(value)));
    kept.filter(|(_, value)| value.as_table().is_none_or(|inner| !inner.is_empty())).collect()
}

fn pruned_value(value: &Value) -> Value {
    match value {
        Value::Table(inner) => Value::Table(pruned(inner)),
        Value::Array(items) => Value::Array(items.iter().map(pruned_value).collect()),
        _ => value.clone(),
    }
}

struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> usize {
        self.0.next().copied().map_or(0, usize::from)
    }

    fn of<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.byte() % values.len()]
    }
}

fn operation(values: &Table, choices: &mut Choices) -> Operation {
    let kind = choices.byte();
    let root = Value::Table(values.clone());
    let (mut key, mut at) = (Vec::new(), Some(&root));
    for _ in 0..1 + choices.byte() % 4 {
        let part = part(at, choices);
        at = at.and_then(|value| child(value, &part));
        key.push(part);
    }
    match kind % 4 {
        0 => Operation::Set { key, value: value(choices, 0) },
        1 => Operation::Unset { key },
        2 => Operation::Insert { key, at: choices.byte() % 4, value: value(choices, 0) },
        _ => Operation::Rename { key, to: text(choices) },
    }
}

/// Mostly a part of the way to something that is there.
fn part(at: Option<&Value>, choices: &mut Choices) -> Part {
    let choice = choices.byte();
    match at {
        Some(Value::Table(table)) if choice < 200 && !table.is_empty() => {
            Part::Name(table.keys().nth(choice % table.len()).expect("it has so many").clone())
        }
        Some(Value::Array(items)) if choice < 240 => Part::Index(choice % (items.len() + 1)),
        _ => Part::Name(text(choices)),
    }
}

fn child<'a>(value: &'a Value, part: &Part) -> Option<&'a Value> {
    match (value, part) {
        (Value::Table(table), Part::Name(name)) => table.get(name),
        (Value::Array(items), Part::Index(index)) => items.get(*index),
        _ => None,
    }
}

fn text(choices: &mut Choices) -> String {
    let texts = [
        "a",
        "b",
        "a.b",
        "",
        "rate",
        "\"",
        "'",
        "\n",
        "#",
        "ä",
        "\u{7f}",
        "\\",
        "true",
        "1",
        "a b",
        "\r\n",
        "'''\"\"\"",
    ];
    (*choices.of(&texts)).to_owned()
}

fn value(choices: &mut Choices, depth: usize) -> Json {
    let most = if depth < 3 { 9 } else { 6 };
    match choices.byte() % most {
        0 => Json::Null,
        1 => Json::Truth(true),
        2 => Json::Whole(*choices.of(&[0, -1, i64::MAX, i64::MIN])),
        3 => Json::Real(*choices.of(&[0.0, -0.0, 1.5, 1e300, 5e-324, 1e17])),
        4 | 5 => Json::Text(text(choices)),
        6 => Json::List((0..choices.byte() % 3).map(|_| value(choices, depth + 1)).collect()),
        _ => {
            let mut keys: Vec<(String, Json)> = Vec::new();
            for _ in 0..choices.byte() % 3 {
                let key = text(choices);
                if keys.iter().all(|(other, _)| *other != key) {
                    keys.push((key, value(choices, depth + 1)));
                }
            }
            Json::Table(keys)
        }
    }
}

/// Carries out an operation on values. `None` if it does not fit.
fn carry_out(values: &mut Table, operation: &Operation) -> Option<()> {
    let mut root = Value::Table(std::mem::take(values));
    let done = apply(&mut root, operation);
    let Value::Table(changed) = root else { unreachable!("the root stays a table") };
    *values = changed;
    done
}

fn apply(root: &mut Value, operation: &Operation) -> Option<()> {
    match operation {
        Operation::Set { key, value } => {
            let (last, way) = key.split_last()?;
            let mut at = root;
            for part in way {
                at = match (at, part) {
                    (Value::Table(table), Part::Name(name)) => {
                        table.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()))
                    }
                    (Value::Array(items), Part::Index(index)) => items.get_mut(*index)?,
                    _ => return None,
                };
            }
            match (at, last) {
                (Value::Table(table), Part::Name(name)) => drop(table.insert(name.clone(), of_json(value)?)),
                (Value::Array(items), Part::Index(index)) => *items.get_mut(*index)? = of_json(value)?,
                _ => return None,
            }
        }
        Operation::Unset { key } => {
            let (last, way) = key.split_last()?;
            match (find(root, way)?, last) {
                (Value::Table(table), Part::Name(name)) => drop(table.remove(name)?),
                (Value::Array(items), Part::Index(index)) => {
                    if *index >= items.len() {
                        return None;
                    }
                    items.remove(*index);
                    if items.is_empty() && matches!(way.last(), Some(Part::Name(_))) {
                        return apply(root, &Operation::Unset { key: way.to_vec() });
                    }
                }
                _ => return None,
            }
        }
        Operation::Insert { key, at, value } => {
            let items = find(root, key)?.as_array_mut()?;
            if *at > items.len() {
                return None;
            }
            items.insert(*at, of_json(value)?);
        }
        Operation::Rename { key, to } => {
            let (last, way) = key.split_last()?;
            let (Value::Table(table), Part::Name(name)) = (find(root, way)?, last) else { return None };
            let value = table.remove(name)?;
            table.insert(to.clone(), value);
        }
    }
    Some(())
}

fn find<'a>(root: &'a mut Value, key: &[Part]) -> Option<&'a mut Value> {
    key.iter().try_fold(root, |at, part| match (at, part) {
        (Value::Table(table), Part::Name(name)) => table.get_mut(name),
        (Value::Array(items), Part::Index(index)) => items.get_mut(*index),
        _ => None,
    })
}

fn of_json(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Truth(truth) => Value::Boolean(*truth),
        Json::Whole(number) => Value::Integer(*number),
        Json::Real(number) => Value::Float(*number),
        Json::Text(text) => Value::String(text.clone()),
        Json::List(items) => Value::Array(items.iter().map(of_json).collect::<Option<_>>()?),
        Json::Table(keys) => {
            let keys = keys.iter().map(|(key, value)| Some((key.clone(), of_json(value)?)));
            Value::Table(keys.collect::<Option<_>>()?)
        }
    })
}
