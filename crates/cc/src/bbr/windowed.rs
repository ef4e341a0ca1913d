/// The maximum over a sliding window, in constant memory: the best three samples, each later than the one before it
/// (Kathleen Nichols' estimator). A sample that falls out of the window is replaced by the next best that is still in
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowedMax {
    best: [(u32, u64); 3],
}

impl WindowedMax {
    pub(super) fn get(&self) -> u64 {
        self.best[0].1
    }

    /// A `value` at time `t` (wraps); the window is `window` long.
    pub(super) fn update(&mut self, window: u32, t: u32, value: u64) {
        let new = (t, value);
        let age = |sample: (u32, u64)| t.wrapping_sub(sample.0);
        if value >= self.best[0].1 || age(self.best[2]) > window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].1 {
            self.best = [self.best[0], new, new];
        } else if value >= self.best[2].1 {
            self.best[2] = new;
        }
        if age(self.best[0]) > window {
            self.best = [self.best[1], self.best[2], new];
            if age(self.best[0]) > window {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age(self.best[0]) > window / 4 {
            // A quarter of the window without a second best: take one of now, so that there is one when it is needed.
            self.best = [self.best[0], new, new];
        } else if self.best[2].0 == self.best[1].0 && age(self.best[0]) > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_forgotten_when_the_window_has_passed() {
        let mut max = WindowedMax::default();
        max.update(10, 0, 100);
        for t in 1..=10 {
            max.update(10, t, 50);
            assert_eq!(max.get(), 100, "round {t}");
        }
        max.update(10, 11, 50);
        assert_eq!(max.get(), 50);
    }

    #[test]
    fn a_new_maximum_counts_at_once() {
        let mut max = WindowedMax::default();
        max.update(10, u32::MAX, 1);
        max.update(10, 0, 2);
        assert_eq!(max.get(), 2);
    }
}
