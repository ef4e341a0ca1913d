use plan::Stream;

/// `probability` as a limit that numbers of a [`Stream`] are below. Exact for every f64 from 2^-12 to 1, and to 2^-64 for
/// all others: scaling by a power of two only moves the exponent.
pub(crate) fn threshold(probability: f64) -> u128 {
    (probability * (1u128 << 64) as f64) as u128
}

/// A coin that remembers its last toss: a Markov chain over yes and no whose marginal rate is `probability` from the
/// first toss on, and whose autocorrelation at lag n is `correlation`^n. Given random numbers, it draws none itself.
///
/// With rate p and correlation c, yes follows yes with probability p + c (1 - p) and no with p (1 - c).
#[derive(Clone, Debug)]
pub(crate) struct Coin {
    /// After no, after yes, and for the first toss, whose only condition is the marginal rate.
    thresholds: [u128; 3],
    state: usize,
}

const NO: usize = 0;
const YES: usize = 1;
const FIRST: usize = 2;

impl Coin {
    pub(crate) fn new(probability: f64, correlation: f64) -> Coin {
        let after_no = probability * (1.0 - correlation);
        let after_yes = probability + correlation * (1.0 - probability);
        Coin { thresholds: [after_no, after_yes, probability].map(threshold), state: FIRST }
    }

    /// `number` is uniform over all of `u64`, and of no other toss.
    pub(crate) fn toss(&mut self, number: u64) -> bool {
        let yes = u128::from(number) < self.thresholds[self.state];
        self.state = if yes { YES } else { NO };
        yes
    }
}

/// Happens to some packets and not to others.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    coin: Coin,
    /// Nothing needs to be drawn with probability 0.
    never: bool,
    stream: Stream,
    packets: u64,
}

impl Chance {
    /// `element` names its stream.
    pub(crate) fn new(of: plan::Chance, seed: u64, element: &str) -> Chance {
        let coin = Coin::new(of.probability, of.correlation);
        Chance { coin, never: of.probability == 0.0, stream: Stream::new(seed, element), packets: 0 }
    }

    /// True if it happens to the next packet.
    pub(crate) fn next(&mut self) -> bool {
        let index = self.packets;
        self.packets += 1;
        !self.never && self.coin.toss(self.stream.at(index))
    }

    /// True if it can happen to a packet.
    pub(crate) fn acts(&self) -> bool {
        !self.never
    }

    /// Counts packets that passed while no packet could be chosen.
    pub(crate) fn skip(&mut self, packets: u64) {
        self.packets += packets;
    }

    /// Go on with other parameters: the next packet keeps its number, and the fate of the one before counts. A chance
    /// that was 0 has no fate to remember: it starts at the marginal rate.
    pub(crate) fn configure(&mut self, to: plan::Chance) {
        let never = to.probability == 0.0;
        let state = if never { FIRST } else { self.coin.state };
        self.coin = Coin { state, ..Coin::new(to.probability, to.correlation) };
        self.never = never;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{assert_chi_square, assert_mean, batches, lag_product};

    const N: usize = 1 << 20;

    fn of(probability: f64, correlation: f64) -> plan::Chance {
        plan::Chance { probability, correlation }
    }

    fn fates(probability: f64, correlation: f64) -> Vec<f64> {
        let mut chance = Chance::new(of(probability, correlation), 42, "link/x");
        (0..N).map(|_| f64::from(u8::from(chance.next()))).collect()
    }

    #[test]
    fn the_rate_is_the_probability_whatever_the_correlation() {
        for p in [0.0001, 0.005, 0.2, 0.5, 0.97] {
            for correlation in [0.0, 0.25, 0.9] {
                let what = format!("rate at p {p}, correlation {correlation}");
                let fates = fates(p, correlation);
                assert_mean(&batches(&fates, |x| x.iter().sum::<f64>() / x.len() as f64), p, &what);
            }
        }
    }

    #[test]
    fn the_autocorrelation_is_geometric() {
        for (p, correlation) in [(0.005, 0.25), (0.2, 0.0), (0.2, 0.5), (0.5, 0.9)] {
            let fates = fates(p, correlation);
            for lag in [1, 2, 5] {
                let expected = correlation.powi(lag) * p * (1.0 - p);
                let what = format!("autocovariance of p {p}, correlation {correlation} at lag {lag}");
                assert_mean(&batches(&fates, |x| lag_product(x, p, lag as usize)), expected, &what);
            }
        }
    }

    #[test]
    fn runs_have_geometric_lengths() {
        let (p, correlation) = (0.1, 0.6);
        let stay = p + correlation * (1.0 - p);
        let mut counts = [0.0; 12];
        for run in fates(p, correlation).split(|&fate| fate == 0.0).filter(|run| !run.is_empty()) {
            counts[(run.len() - 1).min(11)] += 1.0;
        }
        let tail = |k: i32| f64::powi(stay, k);
        let shares: Vec<f64> = (0..12).map(|k| if k < 11 { tail(k) - tail(k + 1) } else { tail(k) }).collect();
        assert_chi_square(&counts, &shares, "lengths of runs");
    }

    #[test]
    fn the_first_toss_has_the_marginal_rate() {
        let first = |seed| f64::from(u8::from(Chance::new(of(0.3, 0.8), seed, "x").next()));
        let firsts: Vec<f64> = (0..100_000).map(first).collect();
        assert_mean(&batches(&firsts, |x| x.iter().sum::<f64>() / x.len() as f64), 0.3, "first tosses");
    }

    #[test]
    fn never_and_always() {
        for correlation in [0.0, 0.5, 1.0] {
            let mut never = Chance::new(of(0.0, correlation), 1, "x");
            let mut always = Chance::new(of(1.0, correlation), 1, "x");
            assert!((0..10_000).all(|_| !never.next() && always.next()));
        }
    }

    #[test]
    fn with_correlation_1_all_fates_are_as_the_first() {
        let mut seen = [false; 2];
        for seed in 0..20 {
            let mut chance = Chance::new(of(0.5, 1.0), seed, "x");
            let first = chance.next();
            assert!((0..1000).all(|_| chance.next() == first));
            seen[usize::from(first)] = true;
        }
        assert_eq!(seen, [true, true]);
    }

    #[test]
    fn packets_keep_their_numbers_when_the_probability_changes() {
        let mut straight = Chance::new(of(0.5, 0.0), 9, "x");
        let mut changed = Chance::new(of(0.0, 0.0), 9, "x");
        (0..100).for_each(|_| assert!(!changed.next()));
        (0..100).for_each(|_| _ = straight.next());
        changed.configure(of(0.5, 0.0));
        assert!((0..1000).all(|_| straight.next() == changed.next()));
    }

    #[test]
    fn a_change_remembers_the_last_fate_but_not_one_from_before_a_rate_of_0() {
        let mut chance = Chance::new(of(1.0, 0.0), 1, "x");
        assert!(chance.next());
        chance.configure(of(0.5, 1.0));
        assert!((0..100).all(|_| chance.next()), "correlation 1 keeps the fate");
        chance.configure(of(0.0, 1.0));
        assert!((0..100).all(|_| !chance.next()));
        chance.configure(of(1e-18, 1.0));
        assert!(!chance.next());
    }
}
