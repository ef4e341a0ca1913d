use std::sync::OnceLock;

use anyhow::{Context, Result};
use plan::Plan;

use super::Run;

/// A batch's plans. Each is parsed once, unless they are so large that memory would fill up with them. A plan of
/// several runs is kept for the next.
#[derive(Debug)]
pub(super) struct Plans<'a> {
    texts: &'a [String],
    /// The plans with several runs; `None`: not kept.
    parsed: Vec<Option<OnceLock<Plan>>>,
}

/// Plans are kept up to so many bytes of text; parsed, they take about twice that.
const KEPT_BYTES: usize = 64 << 20;

impl<'a> Plans<'a> {
    pub(super) fn new(texts: &'a [String], runs: &[Run]) -> Plans<'a> {
        let mut uses = vec![0; texts.len()];
        runs.iter().for_each(|run| uses[run.plan as usize] += 1);
        let keeps = texts.iter().map(String::len).sum::<usize>() <= KEPT_BYTES;
        Plans { texts, parsed: uses.iter().map(|&uses| (keeps && uses > 1).then(OnceLock::new)).collect() }
    }

    /// A plan, with a seed.
    pub(super) fn plan(&self, plan: u32, seed: u64) -> Result<Plan> {
        let index = plan as usize;
        let parse = || Plan::parse(&self.texts[index]).with_context(|| format!("plan {index}"));
        let Some(kept) = &self.parsed[index] else { return Ok(Plan { seed, ..parse()? }) };
        let plan = match kept.get() {
            Some(plan) => plan,
            None => {
                let plan = parse()?;
                kept.get_or_init(|| plan)
            }
        };
        Ok(Plan { seed, ..plan.clone() })
    }
}
