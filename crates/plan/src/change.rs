use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use units::Time;

use crate::{Delays, Link, LinkChange, Plan, Variation};

impl Plan {
    /// Gives events the rates and delays that their links had before: the text of a plan has each once.
    pub(crate) fn fill_events(&mut self) {
        let is_short = |event: &LinkChange| {
            event.link.variation == Some(Variation::AsBefore) || event.link.delays == Some(Delays::AsBefore)
        };
        if !self.events.iter().any(is_short) {
            return;
        }
        let first = self.links.iter().map(|link| (link.name.as_str(), (&link.variation, &link.delays)));
        let mut now: HashMap<&str, (&Option<Variation>, &Option<Delays>)> = first.collect();
        for event in &mut self.events {
            let LinkChange { link, .. } = event;
            if let Some(&(variation, delays)) = now.get(link.name.as_str()) {
                if link.variation == Some(Variation::AsBefore) {
                    link.variation = variation.clone();
                }
                if link.delays == Some(Delays::AsBefore) {
                    link.delays = delays.clone();
                }
            }
            let link = &*link;
            now.insert(&link.name, (&link.variation, &link.delays));
        }
    }

    /// A link is another from `at` on, which nobody planned. The plan is then that of the run as it is.
    ///
    /// # Errors
    /// The link cannot be what it is to be; the plan is as it was.
    pub fn change_link(&mut self, at: Time, link: Link) -> Result<()> {
        let index = self.links.iter().position(|known| known.name == link.name);
        let index = index.with_context(|| format!("there is no link {}", link.name))?;
        let planned = &self.links[index];
        ensure!(
            planned.is_between_the_ends_of(&link),
            "link {} leads from {} to {}",
            link.name,
            planned.from,
            planned.to
        );
        ensure!(
            planned.overhead_bytes == link.overhead_bytes,
            "packets on link {} have an overhead of {} bytes, which cannot change",
            link.name,
            planned.overhead_bytes
        );
        ensure!(link.delay_ns >= units::Duration::ZERO, "link {}: negative delay", link.name);
        ensure!(
            link.is_transparent() || !self.transparent_links()[index],
            "nothing can happen to a packet on link {}, so the run keeps no record of it",
            link.name
        );
        let behind = self.events.partition_point(|event| event.at_ns <= at);
        self.events.insert(behind, LinkChange { at_ns: at, link });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use units::{Duration, Rate};

    use super::*;

    fn plan() -> Plan {
        let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
        let slow = Link { rate_bps: Rate::from_bps(1_000_000), ..Link::transparent("ab", "a", "b") };
        let plan = json!({"name": "change", "duration_ns": 1, "seed": 1, "flows": [],
            "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
            "links": [slow, Link::transparent("ba", "b", "a")],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    #[test]
    fn a_change_stands_among_the_events_in_the_order_of_time() {
        let mut plan = plan();
        for at in [5, 3, 4] {
            plan.change_link(Time(at), Link { delay_ns: Duration(at), ..plan.links[0].clone() }).unwrap();
        }
        assert_eq!(plan.events.iter().map(|event| event.at_ns.as_nanos()).collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn events_may_say_that_rate_and_delay_go_on_as_before() {
        let mut json = serde_json::to_value(plan()).unwrap();
        let steps = |first: i64| json!({"kind": "steps", "steps": [[0, first], [5, 9]], "period_ns": null});
        json["links"][0]["variation"] = steps(7);
        json["links"][0]["delays"] = steps(7);
        json["links"][0]["delay_ns"] = json!(7);
        let before = json!({"kind": "as-before"});
        let event = |at: i64, variation: serde_json::Value, delays: serde_json::Value| {
            let mut link = json["links"][0].clone();
            let least = if delays["kind"] == "steps" { delays["steps"][0][1].clone() } else { json!(7) };
            (link["variation"], link["delays"], link["delay_ns"]) = (variation, delays, least);
            json!({"at_ns": at, "link": link})
        };
        let mut short = json.clone();
        short["events"] = json!([
            event(1, before.clone(), before.clone()),
            event(2, steps(8), before.clone()),
            event(3, before.clone(), before.clone())
        ]);
        let mut long = json.clone();
        long["events"] =
            json!([event(1, steps(7), steps(7)), event(2, steps(8), steps(7)), event(3, steps(8), steps(7))]);
        let [short, long] = [short, long].map(|json| Plan::parse(&json.to_string()).unwrap());
        assert_eq!(serde_json::to_value(short).unwrap(), serde_json::to_value(long).unwrap());
    }

    #[test]
    fn what_cannot_change_is_refused() {
        let mut plan = plan();
        let link = plan.links[0].clone();
        let free = Link { delay_ns: Duration(5), ..plan.links[1].clone() };
        for (link, why) in [
            (Link { name: "xy".into(), ..link.clone() }, "no link xy"),
            (Link { to: "c".into(), ..link.clone() }, "leads from a to b"),
            (Link { overhead_bytes: 9, ..link.clone() }, "overhead of 0 bytes"),
            (Link { delay_ns: Duration(-1), ..link }, "negative delay"),
            (free, "keeps no record"),
        ] {
            let error = plan.change_link(Time(1), link).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(plan.events.is_empty());
    }
}
