use super::State;
use crate::chance::threshold;
use plan::Stream;

/// A channel that is good or bad, with a loss for each state. Elliott: "Estimates of error rates for codes on
/// burst-noise channels", Bell System Technical Journal 42 (1963). The first packet finds it good.
#[derive(Clone, Debug)]
pub(super) struct GilbertElliott {
    good: Channel,
    bad: Channel,
    is_bad: bool,
}

/// Limits for uniform numbers.
#[derive(Clone, Copy, Debug)]
struct Channel {
    loss: u128,
    leave: u128,
}

impl GilbertElliott {
    pub(super) fn new(p: f64, r: f64, loss_bad: f64, loss_good: f64) -> GilbertElliott {
        let channel = |loss, leave| Channel { loss: threshold(loss), leave: threshold(leave) };
        GilbertElliott { good: channel(loss_good, p), bad: channel(loss_bad, r), is_bad: false }
    }
}

impl State for GilbertElliott {
    /// The state in which the packet finds the channel decides; then the state changes, or not. Two numbers a packet.
    fn loses(&mut self, n: u64, numbers: Stream) -> bool {
        let (for_loss, for_change) = (numbers.at(2 * n), numbers.at(2 * n + 1));
        let channel = if self.is_bad { self.bad } else { self.good };
        self.is_bad ^= u128::from(for_change) < channel.leave;
        u128::from(for_loss) < channel.loss
    }
}

/// Gaps with isolated losses, and bursts in which some packets get through. Salsano, Ludovici, Ordine: "Definition of a
/// general and intuitive loss model for packet networks and its implementation in the Netem module in the Linux kernel",
/// 2012. The first packet comes after one that got through in a gap.
#[derive(Clone, Debug)]
pub(super) struct FourState {
    /// Probability to go from state 1 to 4, and to 4 or 3.
    from_1: [u128; 2],
    /// Probability to go from state 2 to 3.
    from_2: u128,
    /// Probability to go from state 3 to 1, and to 1 or 2.
    from_3: [u128; 2],
    /// State of the last packet, numbered as in the paper.
    state: u8,
}

impl FourState {
    pub(super) fn new(p13: f64, p31: f64, p32: f64, p23: f64, p14: f64) -> FourState {
        FourState {
            from_1: [threshold(p14), threshold(p14 + p13)],
            from_2: threshold(p23),
            from_3: [threshold(p31), threshold(p31 + p32)],
            state: 1,
        }
    }
}

impl State for FourState {
    /// The state that the packet enters decides.
    fn loses(&mut self, n: u64, numbers: Stream) -> bool {
        let number = u128::from(numbers.at(n));
        self.state = match self.state {
            1 if number < self.from_1[0] => 4,
            1 if number < self.from_1[1] => 3,
            2 if number < self.from_2 => 3,
            3 if number < self.from_3[0] => 1,
            3 if number < self.from_3[1] => 2,
            4 => 1,
            same => same,
        };
        self.state >= 3
    }
}
