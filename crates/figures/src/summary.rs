//! Figures as JSON: parts of `summary.json`.

use anyhow::Result;
use plan::{Network, Plan};
use records::Values;
use serde_json::{Map, Value, json};
use units::{Duration, Time};

use crate::figure::Figure;
use crate::flow::{self, seconds};
use crate::link;
use crate::run::{Run, Span};

/// The groups that a summary has even if nothing is known of them.
const ALWAYS: [&str; 1] = ["rtt_ms"];

impl Run {
    /// `flows`, `links`, `jain_index`, `jain_window_s`, `responsiveness` and `rerouting` of the run's summary.
    ///
    /// # Errors
    /// A flow has no path.
    pub fn summary(&self, plan: &Plan) -> Result<Value> {
        let window_s = |(start, end): (Time, Time)| [seconds(start - Time::ZERO), seconds(end - Time::ZERO)];
        Ok(json!({
            "flows": self.flows(plan)?,
            "links": self.links(plan),
            "jain_index": self.jain_index,
            "jain_window_s": self.jain_window.map(window_s),
            "responsiveness": self.responsiveness,
            "rerouting": self.rerouting,
        }))
    }

    fn flows(&self, plan: &Plan) -> Result<Vec<Value>> {
        let base_rtts = match &self.base_rtts {
            Some(known) => known.clone(),
            None => base_rtts(plan, &plan.network()?),
        };
        let flow = |(flow, base_rtt): (&flow::Flow, Duration)| {
            let mut told = figures(flow::FIGURES, flow);
            told.insert("base_rtt_ms".into(), json!(base_rtt.as_nanos() as f64 / 1e6));
            told.insert("rtt_sample".into(), json!("srtt, polled"));
            told.extend(flow.report.summarised().map(|(kind, account)| (kind.into(), json!(account))));
            told.insert("error".into(), json!(flow.report.error));
            Value::Object(told)
        };
        Ok(self.flows.iter().zip(base_rtts).map(flow).collect())
    }

    fn links(&self, plan: &Plan) -> Vec<Value> {
        let link = |(link, spec): (&link::Link, &plan::Link)| {
            let mut told = figures(link::FIGURES, link);
            told.insert("from".into(), json!(spec.from));
            told.insert("to".into(), json!(spec.to));
            told.insert("rate_bps".into(), json!(spec.rate_bps));
            told.insert("delay_ms".into(), json!(spec.delay_ns.as_nanos() as f64 / 1e6));
            told.insert("buffer".into(), json!(spec.buffer));
            Value::Object(told)
        };
        self.links.iter().zip(&plan.links).map(link).collect()
    }
}

impl Span {
    /// `received_bytes` by flow, `jain_index`, and `utilisation` by link.
    pub fn summary(&self, plan: &Plan) -> Value {
        let flows = plan.flows.iter().zip(&self.received_bytes).map(|(flow, bytes)| (flow.id.clone(), json!(bytes)));
        let links = plan.links.iter().zip(&self.utilisation).map(|(link, used)| (link.name.clone(), json!(used)));
        json!({
            "received_bytes": flows.collect::<Map<_, _>>(),
            "jain_index": self.jain_index,
            "utilisation": links.collect::<Map<_, _>>(),
        })
    }
}

/// Each figure at its place. A group is null if nothing is known of it.
fn figures<R>(figures: &[Figure<R>], row: &R) -> Map<String, Value> {
    let mut told = Map::new();
    for figure in figures {
        let value = value(&figure.column.values, row);
        match figure.keys()[..] {
            [group, key] => {
                let group = told.entry(group).or_insert_with(|| json!({}));
                group[key] = value;
            }
            _ => {
                told.insert(figure.keys()[0].into(), value);
            }
        }
    }
    for (key, value) in &mut told {
        let is_unknown = value.as_object().is_some_and(|group| group.values().all(Value::is_null));
        if is_unknown && !ALWAYS.contains(&key.as_str()) {
            *value = Value::Null;
        }
    }
    told
}

fn value<R>(values: &Values<R>, row: &R) -> Value {
    match values {
        Values::I64(of) => json!(of(row)),
        Values::U16(of) => json!(of(row)),
        Values::U32(of) => json!(of(row)),
        Values::U64(of) => json!(of(row)),
        Values::F32(of) => json!(of(row)),
        Values::F64(of) => json!(of(row)),
        Values::Bool(of) => json!(of(row)),
        Values::Text(of) => json!(of(row)),
        Values::Word(of, words) => json!(of(row).map(|word| words[usize::from(word)])),
        Values::Flow(of) | Values::Link(of) => json!(of(row)),
        Values::Published(..) => unreachable!("a figure is not an algorithm's state"),
    }
}

/// Each flow's propagation delay on its path, there and back, as the links are at first.
pub(crate) fn base_rtts(plan: &Plan, network: &Network) -> Vec<Duration> {
    let of = |flow: usize| {
        let path = network.path(flow);
        path.there.iter().chain(&path.back).fold(Duration::ZERO, |sum, &link| sum + plan.links[link].delay_ns)
    };
    (0..plan.flows.len()).map(of).collect()
}
