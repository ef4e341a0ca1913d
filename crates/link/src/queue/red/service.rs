use units::Time;

/// Older observations count half after this much time of service, so that a rate that changes is followed.
const MEMORY_NS: f64 = 1e9;

/// The link's time for a byte, from the times at which it takes packets while others wait: the time between two packets
/// is the first one's transmission.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    /// The last packet that was taken while another waited.
    taken: Option<(u32, Time)>,
    bytes: f64,
    time_ns: f64,
}

impl Service {
    /// The link took a packet of `bytes` at `now`; `others` wait.
    pub fn took(&mut self, bytes: u32, now: Time, others: bool) {
        if let Some((bytes, since)) = self.taken.take() {
            if self.time_ns > MEMORY_NS {
                self.bytes /= 2.0;
                self.time_ns /= 2.0;
            }
            self.bytes += f64::from(bytes);
            self.time_ns += (now - since).as_nanos() as f64;
        }
        self.taken = others.then_some((bytes, now));
    }

    /// The queue was emptied.
    pub fn interrupt(&mut self) {
        self.taken = None;
    }

    /// Nanoseconds for `bytes`; 0 while unknown.
    pub fn time_of(&self, bytes: f64) -> f64 {
        if self.bytes == 0.0 { 0.0 } else { bytes * self.time_ns / self.bytes }
    }
}
