//! Rows of an analysis, kept.

use connections::Sink;
use connections::rows::{ConnectionRow, DirectionRow, EventRow, GapRow, IntervalRow, RttRow, SegmentRow};

/// All rows, table by table.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub connections: Vec<ConnectionRow>,
    pub directions: Vec<DirectionRow>,
    pub intervals: Vec<IntervalRow>,
    pub rtt: Vec<RttRow>,
    pub events: Vec<EventRow>,
    pub gaps: Vec<GapRow>,
    /// Rows of every packet, if they are wanted.
    pub segments: Option<Vec<SegmentRow>>,
}

impl Sink for Rows {
    fn connection(&mut self, row: ConnectionRow) {
        self.connections.push(row);
    }
    fn direction(&mut self, row: DirectionRow) {
        self.directions.push(row);
    }
    fn interval(&mut self, row: IntervalRow) {
        self.intervals.push(row);
    }
    fn rtt(&mut self, row: RttRow) {
        self.rtt.push(row);
    }
    fn event(&mut self, row: EventRow) {
        self.events.push(row);
    }
    fn gap(&mut self, row: GapRow) {
        self.gaps.push(row);
    }
    fn wants(&self, _: u64, _: i64) -> bool {
        self.segments.is_some()
    }
    fn segment(&mut self, row: SegmentRow) {
        self.segments.get_or_insert_default().push(row);
    }
}
