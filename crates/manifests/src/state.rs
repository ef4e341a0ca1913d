//! The part of their private state that algorithms publish: 32 bits for each value, which records turn into columns.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Values that one algorithm can publish: a row of the per-ACK table has as much room.
pub const SLOTS: usize = 12;
/// A value that is not known, not used, or infinite.
pub const NONE: u32 = u32::MAX;

/// The values that one algorithm publishes, or a family of them.
#[derive(Clone, Debug)]
pub struct StateSet {
    /// The name of the algorithm, or of the family. Columns begin with it.
    pub name: String,
    /// The values in the order of their places.
    pub values: Vec<StateValue>,
}

/// A value that an algorithm publishes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateValue {
    /// Unique in its set: a name in C and in Rust.
    pub name: String,
    /// The meaning of its 32 bits.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// `us`, `ms`, `s`, `bytes` or `packets`, if it has a unit; the column's name ends with it.
    pub unit: Option<String>,
    /// The integer that stands for 1, of [`Kind::Fixed`]; for a packet per microsecond, of [`Kind::Bandwidth`].
    pub one: Option<u32>,
    /// The integer that means "none", besides [`NONE`].
    pub none: Option<u32>,
    /// The texts that it counts from 0, of [`Kind::Word`].
    #[serde(default)]
    pub words: Vec<String>,
    /// A sentence for readers.
    pub meaning: String,
}

/// The meaning of the 32 bits of a value.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An integer.
    Number,
    /// A number in fixed point.
    Fixed,
    /// Packets per time in fixed point: records have bits per second of payload.
    Bandwidth,
    /// 0 or 1.
    Flag,
    /// One of a few texts.
    Word,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    state: Vec<StateValue>,
}

impl StateSet {
    /// The name of a value's column.
    pub fn column(&self, value: &StateValue) -> String {
        let unit = if value.kind == Kind::Bandwidth { Some("bps") } else { value.unit.as_deref() };
        let ending = unit.map(|unit| format!("_{unit}")).unwrap_or_default();
        format!("{}_{}{ending}", self.name, value.name)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let n = self.values.len();
        ensure!(n <= SLOTS, "{}: {n} values of state, and a row has room for {SLOTS}", self.name);
        for (at, value) in self.values.iter().enumerate() {
            let is_new = self.values[..at].iter().all(|other| other.name != value.name);
            ensure!(is_new, "{}: state {}: the name is taken", self.name, value.name);
            value.check().with_context(|| format!("{}: state {}", self.name, value.name))?;
        }
        Ok(())
    }
}

impl StateValue {
    fn check(&self) -> Result<()> {
        let has_one = matches!(self.kind, Kind::Fixed | Kind::Bandwidth);
        ensure!(has_one == self.one.is_some_and(|one| one > 0), "`one` is that of a fixed-point number or a bandwidth");
        ensure!((self.kind == Kind::Word) != self.words.is_empty(), "`words` are those of a word");
        let may_have_unit = matches!(self.kind, Kind::Number | Kind::Fixed);
        ensure!(may_have_unit || self.unit.is_none(), "a {:?} has no unit of its own", self.kind);
        Ok(())
    }

    /// Bits per second of payload for a packet's byte and a raw value of 1, of a bandwidth: a numerator and a denominator.
    pub fn bps(&self) -> (u32, u32) {
        const BITS_PER_BYTE_AND_US_PER_S: u32 = 8_000_000;
        let one = self.one.unwrap_or(1);
        let (mut divisor, mut rest) = (BITS_PER_BYTE_AND_US_PER_S, one);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        (BITS_PER_BYTE_AND_US_PER_S / divisor, one / divisor)
    }
}

/// The sets of `bpf/NAME/state.toml`, which belong to a family or to users' own programs.
pub(crate) fn shared(bpf: &Path) -> Result<Vec<StateSet>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(bpf).with_context(|| format!("listing {}", bpf.display()))? {
        let folder = entry?.path();
        let path = folder.join("state.toml");
        if path.exists() {
            let name = folder.file_name().context("a folder has a name")?.to_string_lossy().into_owned();
            sets.push(StateSet { name, values: crate::parse::<Shared>(&path)?.state });
        }
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> StateValue {
        toml::from_str(&format!("name = \"x\"\nmeaning = \"x\"\n{text}")).unwrap()
    }

    #[test]
    fn a_column_ends_with_its_unit() {
        let set = StateSet { name: "mine".into(), values: Vec::new() };
        assert_eq!(set.column(&value("type = \"number\"\nunit = \"us\"")), "mine_x_us");
        assert_eq!(set.column(&value("type = \"bandwidth\"\none = 1")), "mine_x_bps");
        assert_eq!(set.column(&value("type = \"flag\"")), "mine_x");
    }

    #[test]
    fn a_declaration_that_contradicts_itself_is_refused() {
        for wrong in
            ["type = \"fixed\"", "type = \"fixed\"\none = 0", "type = \"word\"", "type = \"flag\"\nunit = \"us\""]
        {
            assert!(value(wrong).check().is_err(), "{wrong}");
        }
        let number = value("type = \"number\"");
        let set = |values: Vec<StateValue>| StateSet { name: "mine".into(), values };
        assert!(set(vec![number.clone(), number.clone()]).check().is_err(), "one name for two values");
        let many = (0..=SLOTS).map(|at| StateValue { name: format!("x{at}"), ..number.clone() }).collect();
        assert!(set(many).check().is_err(), "more values than a row has room for");
    }

    #[test]
    fn a_bandwidth_keeps_its_precision() {
        // Packets per microsecond << 24, packets per second, and those of 1024.
        let factors =
            [1 << 24, 1_000_000, 1_024_000_000].map(|one| value(&format!("type = \"bandwidth\"\none = {one}")).bps());
        assert_eq!(factors, [(15_625, 32_768), (8, 1), (1, 128)]);
    }
}
