//! The times in which flows are active, and the time in which all those are that could have all the rate.

use plan::{Flow, Plan};
use records::accounts::FlowReport;
use units::Time;

/// The start and the stop of a flow's activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// The time at which it began to connect or to send; if it never did, at which it was to.
    pub start: Time,
    /// The time at which it ceased to be active.
    pub stop: Time,
    /// True if the flow did begin.
    pub has_begun: bool,
}

impl Active {
    /// The activity as measured. A flow does not end when it last receives something: a starved flow would not count
    /// then. A flow that failed ends with its last sample, which is taken as it fails; a sized flow ends when it is
    /// complete, an external program that ends by itself with its last byte; every other one at its stop, or with the
    /// run.
    pub fn measured(flow: &Flow, report: &FlowReport, run_end: Time, last_sample: Option<Time>) -> Active {
        let end = report.end_ns.map(Time);
        let ended = match &report.error {
            Some(_) => last_sample.or(end),
            None if flow.workload.runs_programs() => end.filter(|_| report.command.is_some_and(|c| !c.ended_by_us)),
            None => end.filter(|_| flow.workload.size_bytes().is_some() && report.completed),
        };
        Active {
            start: report.start_ns.map_or(flow.start_ns, Time),
            stop: ended.unwrap_or(flow.stop_ns).min(run_end),
            has_begun: report.start_ns.is_some(),
        }
    }
}

/// The time in which all bulk flows are to be active by the plan; `None` if never.
pub fn planned_window(plan: &Plan) -> Option<(Time, Time)> {
    let run_end = Time::ZERO + plan.duration_ns;
    let bulk = plan.flows.iter().filter(|flow| flow.workload.is_bulk());
    common(bulk.map(|flow| (flow.start_ns, flow.stop_ns.min(run_end))))
}

/// The time in which all bulk flows were active; `None` if never, or if one has not begun. `active`: one of each flow.
pub fn measured_window(plan: &Plan, active: &[Active]) -> Option<(Time, Time)> {
    let bulk = || plan.flows.iter().zip(active).filter(|(flow, _)| flow.workload.is_bulk()).map(|(_, active)| active);
    if bulk().any(|active| !active.has_begun) {
        return None;
    }
    common(bulk().map(|active| (active.start, active.stop)))
}

/// The time at which the last flow that has a size was complete; `None` if no flow has one, or one never was.
/// `reports`, `active`: one of each flow.
pub(crate) fn last_completion(plan: &Plan, reports: &[FlowReport], active: &[Active]) -> Option<Time> {
    let sized =
        || (plan.flows.iter().zip(reports).zip(active)).filter(|((flow, _), _)| flow.workload.size_bytes().is_some());
    let is_complete = sized().all(|((_, report), _)| report.completed && report.end_ns.is_some());
    sized().map(|(_, active)| active.stop).max().filter(|_| is_complete)
}

/// The time in which all of some spans overlap.
fn common(spans: impl Iterator<Item = (Time, Time)>) -> Option<(Time, Time)> {
    let (start, end) = spans.reduce(|(start, end), (from, to)| (start.max(from), end.min(to)))?;
    (start < end).then_some((start, end))
}

/// The time after which no event changes anything until the end of a window.
pub(crate) fn last_change(plan: &Plan, (start, end): (Time, Time)) -> Time {
    plan.events.iter().map(|event| event.at_ns).filter(|&at| at < end).fold(start, Time::max)
}

#[cfg(test)]
mod tests {
    use plan::Workload;

    use super::*;
    use records::accounts::CommandReport;

    fn flow(workload: Workload) -> Flow {
        Flow {
            id: "f1".into(),
            group: None,
            from: "a".into(),
            to: "b".into(),
            start_ns: Time(0),
            stop_ns: Time(10),
            port: 1,
            ip: units::Ip::V4,
            workload,
        }
    }

    fn tcp(bytes: Option<u64>) -> Workload {
        Workload::Tcp { cc: "reno".into(), bytes, ecn: false, on_off: None }
    }

    fn stop(workload: Workload, report: FlowReport, run_end: i64, last_sample: Option<i64>) -> i64 {
        Active::measured(&flow(workload), &report, Time(run_end), last_sample.map(Time)).stop.0
    }

    #[test]
    fn a_flow_that_starves_stays_active() {
        let report = |end_ns, completed| FlowReport { end_ns, completed, ..FlowReport::default() };
        assert_eq!(stop(tcp(None), report(Some(3), false), 20, Some(4)), 10);
        assert_eq!(stop(tcp(None), report(None, false), 20, Some(4)), 10);
        let udp = Workload::Udp {
            rate_bps: units::Rate::from_bps(1_000_000).unwrap(),
            payload_bytes: 1,
            bytes: None,
            ecn: plan::Ecn::NotEct,
            on_off: None,
        };
        assert_eq!(stop(udp, report(Some(3), true), 20, Some(4)), 10);
        assert_eq!(stop(tcp(None), report(Some(3), false), 7, Some(4)), 7, "interrupted at 7");
        assert_eq!(stop(tcp(Some(5)), report(Some(3), true), 20, Some(4)), 3);
        assert_eq!(stop(tcp(Some(5)), report(Some(3), false), 20, Some(4)), 10);
    }

    #[test]
    fn a_flow_that_fails_ends_with_its_last_sample() {
        let report = |end_ns| FlowReport { end_ns, error: Some("reset".into()), ..FlowReport::default() };
        assert_eq!(stop(tcp(None), report(Some(3)), 20, Some(4)), 4);
        assert_eq!(stop(tcp(None), report(None), 20, None), 10);
    }

    #[test]
    fn a_program_ends_by_itself_or_at_its_stop() {
        let program = || Workload::Command { command: "true".into(), server_command: None, cc: None };
        let report = |end_ns, ended_by_us| FlowReport {
            end_ns,
            command: Some(CommandReport {
                exit_code: Some(0),
                ended_by_us,
                server_exit_code: None,
                server_ended_by_us: false,
            }),
            ..FlowReport::default()
        };
        assert_eq!(stop(program(), report(Some(3), true), 20, Some(4)), 10);
        assert_eq!(stop(program(), report(Some(3), false), 20, Some(4)), 3);
        assert_eq!(stop(program(), report(None, false), 20, Some(4)), 10);
    }

    #[test]
    fn the_window_is_where_all_overlap() {
        let span = |start, end| (Time(start), Time(end));
        assert_eq!(common([span(0, 10), span(4, 12)].into_iter()), Some(span(4, 10)));
        assert_eq!(common([span(0, 4), span(4, 12)].into_iter()), None);
        assert_eq!(common([].into_iter()), None);
    }
}
