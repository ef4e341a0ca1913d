/// A piece of an algorithm's private state, for tests that look inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The algorithm and the variable, e.g. `bbr.min_rtt`.
    pub name: &'static str,
    /// The unit of the number, e.g. `us` or `packets`; empty if it has none.
    pub unit: &'static str,
    /// The value now. Its type never changes.
    pub value: Value,
}

/// The value of a [`Column`]. `None`: not known yet, or no bound is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A number that the kernel keeps in 32 bits.
    U32(Option<u32>),
    /// A number that it keeps in 64 bits.
    U64(Option<u64>),
    /// The name of a state.
    Text(&'static str),
}

impl Column {
    pub(crate) const fn flag(name: &'static str, value: bool) -> Column {
        Column { name, unit: "", value: Value::Bool(value) }
    }

    pub(crate) const fn text(name: &'static str, value: &'static str) -> Column {
        Column { name, unit: "", value: Value::Text(value) }
    }

    /// A 32-bit number; `u32::MAX`, which the kernel uses for "none", becomes a missing value.
    pub(crate) const fn number(name: &'static str, unit: &'static str, value: u32) -> Column {
        Column { name, unit, value: Value::U32(if value == u32::MAX { None } else { Some(value) }) }
    }

    /// A 64-bit number; `u64::MAX` is "none".
    pub(crate) const fn wide(name: &'static str, unit: &'static str, value: u64) -> Column {
        Column { name, unit, value: Value::U64(if value == u64::MAX { None } else { Some(value) }) }
    }
}
