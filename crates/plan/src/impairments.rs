use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// A process that loses packets. Probabilities are of the nth packet that comes, whenever that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Each packet on its own.
    Independent {
        /// The probability of loss.
        probability: f64,
    },
    /// A two-state Markov chain whose marginal rate is `probability`.
    Correlated {
        /// The probability of loss.
        probability: f64,
        /// The correlation of a packet's fate with that of the one before (lag-1 autocorrelation), 0 to 1.
        correlation: f64,
    },
    /// netem's correlator: uniform numbers smoothed by an exponential average, whose spread, and with it the rate of
    /// small losses, shrinks with the correlation.
    Netem {
        /// The probability, as netem's `loss PERCENT`.
        probability: f64,
        /// The correlation, as netem's `loss PERCENT CORRELATION`, 0 to 1.
        correlation: f64,
    },
    /// Gilbert-Elliott: a good and a bad state, each with its own loss (netem's `gemodel`).
    GilbertElliott {
        /// From good to bad.
        p: f64,
        /// From bad to good.
        r: f64,
        /// In the bad state (netem's `1-h`).
        loss_bad: f64,
        /// In the good state (netem's `1-k`).
        loss_good: f64,
    },
    /// Four states (netem's `loss state`): 1 good reception in a gap, 2 good reception in a burst, 3 loss in a burst,
    /// 4 isolated loss in a gap. Salsano, Ludovici, Ordine: "Definition of a general and intuitive loss model for
    /// packet networks and its implementation in the Netem module in the Linux kernel", 2012.
    FourState {
        /// From 1 to 3: a burst begins.
        p13: f64,
        /// From 3 to 2.
        p32: f64,
        /// From 2 to 3.
        p23: f64,
        /// From 1 to 4.
        p14: f64,
        /// From 3 to 1: a burst ends.
        p31: f64,
    },
    /// Bursts of equal length at random; `probability` is the share of lost packets.
    Burst {
        /// The probability of loss.
        probability: f64,
        /// Consecutive packets that each burst loses.
        packets: u64,
    },
    /// Every nth packet.
    Periodic {
        /// n.
        every: u64,
        /// The number of packets that pass before the first loss, less than n.
        offset: u64,
    },
    /// The fates of packets, as recorded.
    Trace {
        /// Indices of lost packets, rising.
        lost: Vec<u64>,
        /// Length of the record; after it, it begins again. `None`: after it, nothing is lost.
        period: Option<u64>,
    },
}

/// Comes on top of a link's delay, drawn for each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The distribution of the additional delay; values below zero become zero.
    pub distribution: Distribution,
    /// The correlation of a packet's normal score with that of the one before, 0 to 1: the distribution is kept (a
    /// Gaussian copula).
    pub correlation: f64,
}

/// A named distribution of times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// Between two times.
    Uniform {
        /// Least.
        min_ns: Duration,
        /// Most.
        max_ns: Duration,
    },
    /// Gauss.
    Normal {
        /// Before truncation at zero.
        mean_ns: Duration,
        /// Standard deviation, before truncation.
        sd_ns: Duration,
    },
    /// Pareto (type I): P(X > x) = (min / x)^shape.
    Pareto {
        /// Least.
        min_ns: Duration,
        /// Above 1, or there is no mean.
        shape: f64,
    },
    /// Measured: quantiles at equal steps of probability, between them linear.
    Table {
        /// Rising; the first is the minimum, the last the maximum.
        quantiles_ns: Vec<Duration>,
    },
}

/// Packets that skip the delay line and so overtake those in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a candidate is reordered.
    pub probability: f64,
    /// The correlation of a candidate's fate with that of the candidate before, 0 to 1; the rate is kept.
    pub correlation: f64,
    /// Every nth packet is a candidate; 1: each.
    pub gap: u64,
    /// The delay that it takes instead of the link's delay and jitter.
    pub delay_ns: Duration,
}

/// Something happens to some packets. By default to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// Probability per packet.
    pub probability: f64,
    /// The correlation of a packet's fate with that of the packet before, 0 to 1; the rate is kept.
    pub correlation: f64,
}
