use alloc::boxed::Box;

use crate::{CongestionControl, Cubic, Dctcp, Reno, Vegas};

/// The algorithms that there are.
pub const NAMES: [&str; 4] = ["cubic", "dctcp", "reno", "vegas"];

/// A new instance of the algorithm `name`, with its default parameters; `None` if there is no such algorithm.
pub fn create(name: &str) -> Option<Box<dyn CongestionControl>> {
    Some(match name {
        "cubic" => Box::new(Cubic::default()),
        "dctcp" => Box::new(Dctcp::default()),
        "reno" => Box::new(Reno),
        "vegas" => Box::new(Vegas::default()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_the_algorithm_of_that_name() {
        for name in NAMES {
            assert_eq!(create(name).unwrap().name(), name);
        }
        assert!(create("unknown").is_none());
    }
}
