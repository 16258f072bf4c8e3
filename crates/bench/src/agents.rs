//! Hosted agents: cost of a turn besides its model and tools, and the time until an answer wakes a step.

mod bench_worker;
mod model;
mod resumes;
mod turns;
mod wake;
mod wide;

use crate::Fallible;
use crate::report::Section;
use crate::setup::BenchSetup;

/// Measures turns, wide turns and resumes in process, and the time from an answer to the model over HTTP.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let (turns, mut targets) = turns::measure(setup)?;
    let wide = wide::measure(setup)?;
    let resumes = resumes::measure(setup)?;
    let (wake, soon) = wake::measure(setup)?;
    targets.extend(soon);
    Ok(Section { name: "agents", tables: vec![turns, wide, resumes, wake], targets })
}
