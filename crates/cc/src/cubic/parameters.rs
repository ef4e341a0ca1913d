use crate::tunable::{Tunable, defaults, flag, number};

/// The parameters of CUBIC: `bpf/algorithms/cubic/algorithm.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// The share of the window that a loss leaves, of 1024 (RFC 9438 section 4.6).
    pub(super) beta: u32,
    /// A loss below the last maximum lowers the plateau (RFC 9438 section 4.7).
    pub(super) fast_convergence: bool,
    /// True: it is never slower than Reno (RFC 9438 section 4.3).
    pub(super) reno_friendliness: bool,
    /// Leave slow start before the first loss.
    pub(super) hystart: bool,
}

impl Default for Parameters {
    fn default() -> Parameters {
        let blank = Parameters { beta: 0, fast_convergence: false, reno_friendliness: false, hystart: false };
        defaults(&TUNABLES, blank, crate::parameters("cubic").unwrap_or_default())
    }
}

pub(crate) const TUNABLES: [Tunable<Parameters>; 4] =
    [number!(beta), flag!(fast_convergence), flag!(reno_friendliness), flag!(hystart)];

impl Parameters {
    /// 8/3 * (1 + beta) / (1 - beta) of 8: the inverse of alpha_cubic (RFC 9438 section 4.3), ACKs per packet of Reno's
    /// growth.
    pub(super) fn reno_scale(self) -> u32 {
        // A loss that leaves all would need no growth at all.
        let share = self.beta.min(1023);
        8 * (1024 + share) / 3 / (1024 - share)
    }
}
