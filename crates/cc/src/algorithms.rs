use alloc::boxed::Box;

use crate::bbr::{Bbr, Bbr1, Parameters};
use crate::{CongestionControl, Cubic, Dctcp, Reno, Vegas};

/// The algorithms that there are. `bbr` is BBRv1, as in Linux.
pub const NAMES: [&str; 8] = ["bbr", "bbr2", "bbr3", "bbr3-draft", "cubic", "dctcp", "reno", "vegas"];

/// A new instance of the algorithm `name`, with its default parameters; `None` if there is no such algorithm.
pub fn create(name: &str) -> Option<Box<dyn CongestionControl>> {
    Some(match name {
        "bbr" => Box::new(Bbr1::default()),
        "bbr2" => Box::new(Bbr::new(Parameters::v2())),
        "bbr3" => Box::new(Bbr::new(Parameters::v3())),
        "bbr3-draft" => Box::new(Bbr::new(Parameters::v3_draft())),
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
