//! The state that a BBR publishes, in the form of records.

use cc::{Column, CongestionControl, Value};
use records::acks::{BbrAck, BbrAckPhase, BbrState};

/// A BBR's columns of the records. Bandwidths are packets per microsecond in fixed point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    state: BbrState,
    ack_phase: Option<BbrAckPhase>,
    pub bw: u64,
    max_bw: u64,
    bw_lo: Option<u64>,
    bw_hi: Option<u64>,
    pub min_rtt_us: Option<u32>,
    pub pacing_gain: f32,
    pub cwnd_gain: f32,
    inflight_lo: Option<u32>,
    inflight_hi: Option<u32>,
    round: u32,
    probes: Option<u32>,
    cycle_idx: Option<u32>,
}

/// Fraction bits of a bandwidth.
const BW_SHIFT: u32 = 24;

impl Model {
    /// A bandwidth in bits per second of payload.
    pub(crate) fn bps(&self, bw: u64, mss: u32) -> u64 {
        let bits = (u128::from(bw) * u128::from(mss) * 8_000_000) >> BW_SHIFT;
        u64::try_from(bits).unwrap_or(u64::MAX)
    }

    /// The part of a row of `acks`.
    pub(crate) fn row(&self, mss: u32) -> BbrAck {
        let is_v1 = self.ack_phase.is_none();
        let bps = |bw: u64| self.bps(bw, mss);
        BbrAck {
            state: self.state,
            ack_phase: self.ack_phase,
            bw_bps: (self.bw > 0).then(|| bps(self.bw)),
            bw_lo_bps: self.bw_lo.map(bps),
            bw_hi_bps: (!is_v1).then(|| bps(self.bw_hi.unwrap_or(u64::MAX).min(self.max_bw))),
            min_rtt_us: self.min_rtt_us,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            inflight_lo_packets: self.inflight_lo,
            inflight_hi_packets: self.inflight_hi,
            round: self.round,
            cycle: if is_v1 { self.cycle_idx.filter(|_| self.state == BbrState::ProbeBw) } else { self.probes },
        }
    }
}

/// Columns that make a [`Model`].
const COLUMNS: [&str; 14] = [
    "bbr.state",
    "bbr.ack_phase",
    "bbr.bw",
    "bbr.max_bw",
    "bbr.bw_lo",
    "bbr.bw_hi",
    "bbr.min_rtt",
    "bbr.pacing_gain",
    "bbr.cwnd_gain",
    "bbr.inflight_lo",
    "bbr.inflight_hi",
    "bbr.round",
    "bbr.probes",
    "bbr.cycle_idx",
];

/// The places of a [`Model`]'s columns among an algorithm's. An algorithm always publishes the same columns in the
/// same order, so names are compared once.
#[derive(Clone, Debug)]
struct Layout {
    algorithm: &'static str,
    /// The index in [`COLUMNS`] of each published column; beyond it: not wanted. Empty: it is no BBR.
    wanted: Vec<usize>,
}

impl Layout {
    fn of(cc: &dyn CongestionControl) -> Layout {
        let mut wanted = Vec::new();
        cc.publish(&mut |column| {
            wanted.push(COLUMNS.iter().position(|name| *name == column.name).unwrap_or(COLUMNS.len()));
        });
        if !wanted.contains(&0) {
            wanted.clear();
        }
        Layout { algorithm: cc.name(), wanted }
    }
}

/// Reads what BBRs publish.
#[derive(Debug, Default)]
pub(crate) struct Reader(Vec<Layout>);

impl Reader {
    /// `None` if it is no BBR.
    pub(crate) fn read(&mut self, cc: &dyn CongestionControl) -> Option<Model> {
        // There are only a few algorithms, and their names are mostly the same piece of memory.
        let known = self.0.iter().position(|layout| layout.algorithm == cc.name());
        let at = known.unwrap_or_else(|| {
            self.0.push(Layout::of(cc));
            self.0.len() - 1
        });
        let wanted = &self.0[at].wanted;
        if wanted.is_empty() {
            return None;
        }
        let (mut values, mut column) = ([None; COLUMNS.len() + 1], 0);
        cc.publish(&mut |Column { value, .. }| {
            values[wanted[column]] = Some(value);
            column += 1;
        });
        model(&values)
    }
}

/// `None` if a word is none that records know.
fn model(values: &[Option<Value>]) -> Option<Model> {
    let u32 = |at: usize| if let Some(Value::U32(value)) = values[at] { value } else { None };
    let u64 = |at: usize| if let Some(Value::U64(value)) = values[at] { value } else { None };
    let text = |at: usize| if let Some(Value::Text(text)) = values[at] { Some(text) } else { None };
    let gain = |at: usize| u32(at).unwrap_or(0) as f32 / 256.0;
    Some(Model {
        state: state(text(0)?)?,
        ack_phase: text(1).and_then(ack_phase),
        bw: u64(2).unwrap_or(0),
        max_bw: u64(3).unwrap_or(0),
        bw_lo: u64(4),
        bw_hi: u64(5),
        min_rtt_us: u32(6),
        pacing_gain: gain(7),
        cwnd_gain: gain(8),
        inflight_lo: u32(9),
        inflight_hi: u32(10),
        round: u32(11).unwrap_or(0),
        probes: u32(12),
        cycle_idx: u32(13),
    })
}

fn state(name: &str) -> Option<BbrState> {
    Some(match name {
        "STARTUP" => BbrState::Startup,
        "DRAIN" => BbrState::Drain,
        "PROBE_BW" => BbrState::ProbeBw,
        "PROBE_BW_DOWN" => BbrState::ProbeBwDown,
        "PROBE_BW_CRUISE" => BbrState::ProbeBwCruise,
        "PROBE_BW_REFILL" => BbrState::ProbeBwRefill,
        "PROBE_BW_UP" => BbrState::ProbeBwUp,
        "PROBE_RTT" => BbrState::ProbeRtt,
        _ => return None,
    })
}

fn ack_phase(name: &str) -> Option<BbrAckPhase> {
    Some(match name {
        "INIT" => BbrAckPhase::Init,
        "REFILLING" => BbrAckPhase::Refilling,
        "PROBE_STARTING" => BbrAckPhase::ProbeStarting,
        "PROBE_FEEDBACK" => BbrAckPhase::ProbeFeedback,
        "PROBE_STOPPING" => BbrAckPhase::ProbeStopping,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Option<Model> {
        let mut sk = cc::Socket { min_rtt_us: 20_000, ..cc::Socket::new(1448, 1) };
        let mut cc = cc::create(name).unwrap();
        cc.init(&mut sk);
        Reader::default().read(&*cc)
    }

    #[test]
    fn every_bbr_is_read_and_nothing_else() {
        for name in cc::NAMES {
            let model = read(name);
            assert_eq!(model.is_some(), name.starts_with("bbr"), "{name}");
            let Some(model) = model else { continue };
            let row = model.row(1448);
            assert_eq!((row.state, row.min_rtt_us, row.bw_bps), (BbrState::Startup, Some(20_000), None), "{name}");
            assert!((2.7..3.0).contains(&row.pacing_gain), "{name}: {}", row.pacing_gain);
            let is_v1 = name == "bbr";
            assert_eq!(row.ack_phase, (!is_v1).then_some(BbrAckPhase::Init), "{name}");
            assert_eq!((row.bw_hi_bps, row.cycle), if is_v1 { (None, None) } else { (Some(0), Some(0)) }, "{name}");
            assert_eq!((row.bw_lo_bps, row.inflight_lo_packets, row.inflight_hi_packets), (None, None, None), "{name}");
        }
    }

    #[test]
    fn a_reader_keeps_algorithms_apart() {
        let mut reader = Reader::default();
        for name in ["cubic", "bbr", "bbr3", "bbr", "cubic"] {
            let mut sk = cc::Socket::new(1448, 1);
            let mut cc = cc::create(name).unwrap();
            cc.init(&mut sk);
            let phase = reader.read(&*cc).map(|model| model.ack_phase);
            let expected = match name {
                "cubic" => None,
                "bbr" => Some(None),
                _ => Some(Some(BbrAckPhase::Init)),
            };
            assert_eq!(phase, expected, "{name}");
        }
    }

    #[test]
    fn bandwidths_are_payload_bits_per_second() {
        // A packet per millisecond.
        let bw = read("bbr3").unwrap().bps((1 << BW_SHIFT) / 1000, 1448);
        assert!((11_583_000..=11_584_000).contains(&bw), "{bw}");
    }
}
