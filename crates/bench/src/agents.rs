//! Hosted agents: cost of a turn besides its model and tools, and the time until an answer wakes a step.

mod bench_worker;
mod model;
mod resumes;
mod turns;
mod wake;
mod wide;

use crate::Fallible;
use crate::ground::Ground;
use crate::report::Section;

/// Measures turns, wide turns and resumes in process, and the time from an answer to the model over HTTP.
pub(crate) fn section(ground: &Ground) -> Fallible<Section> {
    let (turns, mut targets) = turns::measure(ground)?;
    let wide = wide::measure(ground)?;
    let resumes = resumes::measure(ground)?;
    let (wake, soon) = wake::measure(ground)?;
    targets.extend(soon);
    Ok(Section { name: "agents", tables: vec![turns, wide, resumes, wake], targets })
}
