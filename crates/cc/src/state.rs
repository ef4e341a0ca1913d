//! The private state that an algorithm publishes, for the per-ACK table: 32 bits for each value that its manifest
//! declares. The kernel's programs publish the same, as `bpf/include/dumbbell/ack.h` says.

/// A value that is not known, not used, or infinite.
pub const NONE: u32 = u32::MAX;

/// The state that an algorithm publishes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The set of the state: its place in [`STATE_SETS`] plus 1, or 0 for an algorithm that publishes nothing.
    of: u8,
    /// The values in the order of the set.
    values: [u32; SLOTS],
}

/// The state that one algorithm publishes, or a family of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSet {
    /// The name of the algorithm, or of the family.
    pub name: &'static str,
    /// The columns in the order of a [`State`].
    pub columns: &'static [StateColumn],
}

/// A value that an algorithm publishes, as a column of the per-ACK table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateColumn {
    /// Its name in every file and frame.
    pub name: &'static str,
    /// Its place in [`STATE_SETS`] plus 1.
    of: u8,
    /// Its place in a [`State`].
    at: u8,
    /// The meaning of its 32 bits.
    pub kind: Kind,
    /// The value that means "none", besides [`NONE`].
    none: u32,
    /// A sentence for readers.
    pub meaning: &'static str,
}

/// The meaning of the 32 bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Number,
    /// A number in fixed point: so much is 1.
    Fixed(u32),
    /// Packets per time; times the bytes of a packet's payload and this fraction they are bits per second.
    Bandwidth(u32, u32),
    /// 0 or 1.
    Flag,
    /// One of these texts, counted from 0.
    Word(&'static [&'static str]),
}

include!(concat!(env!("OUT_DIR"), "/states.rs"));

impl State {
    /// The state of an algorithm that publishes nothing.
    pub const EMPTY: State = State { of: 0, values: [NONE; SLOTS] };

    /// The state that a program in the kernel has published: whose it is, and its values. `None` if it is not known whose,
    /// or a value is none that its column has.
    pub fn published(of: u8, values: [u32; SLOTS]) -> Option<State> {
        let state = State { of, values };
        if of == 0 {
            return Some(State::EMPTY);
        }
        let set = STATE_SETS.get(usize::from(of) - 1)?;
        set.columns.iter().all(|column| column.is_readable(values[usize::from(column.at)])).then_some(state)
    }

    /// The set and the values, of which [`State::published`] makes the same again.
    pub fn parts(&self) -> (u8, [u32; SLOTS]) {
        (self.of, self.values)
    }

    /// True if no algorithm publishes it.
    pub fn is_empty(&self) -> bool {
        self.of == 0
    }
}

impl StateColumn {
    /// True if an algorithm that publishes `state` has this column.
    pub fn is_of(&self, state: &State) -> bool {
        state.of == self.of
    }

    /// The 32 bits that `state` has of it; `None` if it has none.
    pub fn value(&self, state: &State) -> Option<u32> {
        let value = state.values[usize::from(self.at)];
        (state.of == self.of && value != NONE && value != self.none).then_some(value)
    }

    fn is_readable(&self, value: u32) -> bool {
        match self.kind {
            Kind::Flag => value <= 1 || value == NONE,
            Kind::Word(words) => (value as usize) < words.len() || value == NONE,
            Kind::Number | Kind::Fixed(_) | Kind::Bandwidth(..) => true,
        }
    }
}

/// 64 bits as 32: a larger value is none.
pub(crate) fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str) -> StateColumn {
        *STATE_SETS.iter().flat_map(|set| set.columns).find(|column| column.name == name).unwrap()
    }

    #[test]
    fn a_value_is_in_the_columns_of_its_set_alone() {
        let state = State::from(CubicState { w_max: 100, ..CubicState::default() });
        assert_eq!(column("cubic_w_max_packets").value(&state), Some(100));
        assert_eq!((column("cubic_k_s").value(&state), column("own_value_1").value(&state)), (None, None));
        assert_eq!(column("cubic_w_max_packets").value(&State::EMPTY), None);
        // A window of 0 is none at all.
        let state = State::from(CubicState { w_max: 0, ..CubicState::default() });
        assert_eq!(column("cubic_w_max_packets").value(&state), None);
    }

    #[test]
    fn what_a_program_publishes_is_checked() {
        let bbr = State::from(BbrState { state: bbr_state::PROBE_RTT, ..BbrState::default() });
        assert_eq!(State::published(bbr.of, bbr.values), Some(bbr));
        let mut wrong = bbr.values;
        wrong[0] = 8;
        assert_eq!(State::published(bbr.of, wrong), None, "a word that is not known");
        assert_eq!(State::published(STATE_SETS.len() as u8 + 1, bbr.values), None, "a set that is not known");
        assert_eq!(State::published(0, wrong), Some(State::EMPTY));
    }

    #[test]
    fn each_column_has_a_name_of_its_own() {
        let mut names: alloc::vec::Vec<_> =
            STATE_SETS.iter().flat_map(|set| set.columns).map(|column| column.name).collect();
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
    }
}
