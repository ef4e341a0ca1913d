use std::sync::OnceLock;

use anyhow::{Context, Result};
use plan::Plan;

/// A batch's plans. Each is parsed once, unless they are so large that memory would fill up with them.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    texts: &'a [String],
    /// Empty if none is kept.
    parsed: Vec<OnceLock<Plan>>,
}

/// Plans are kept up to so many bytes of text; parsed, they take about twice that.
const KEPT_BYTES: usize = 64 << 20;

impl<'a> Cells<'a> {
    pub(super) fn new(texts: &'a [String]) -> Cells<'a> {
        let keeps = texts.iter().map(String::len).sum::<usize>() <= KEPT_BYTES;
        Cells { texts, parsed: if keeps { vec![OnceLock::new(); texts.len()] } else { Vec::new() } }
    }

    /// The plan of a cell, with a seed.
    pub(super) fn plan(&self, cell: u32, seed: u64) -> Result<Plan> {
        let cell = cell as usize;
        let parse = || Plan::parse(&self.texts[cell]).with_context(|| format!("the plan of cell {cell}"));
        let Some(kept) = self.parsed.get(cell) else { return Ok(Plan { seed, ..parse()? }) };
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
