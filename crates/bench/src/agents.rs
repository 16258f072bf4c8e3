//! Agents that the server runs itself: what a turn costs beside its model and its tools, and how soon an answer wakes one.

mod house;
mod model;
mod resumes;
mod turns;
mod wake;
mod wide;

use crate::Fallible;
use crate::ground::Ground;
use crate::report::Section;

/// Measures turns, wide turns and resumes in process, and the way from an answer to the model from outside.
pub(crate) fn section(ground: &Ground) -> Fallible<Section> {
    let (turns, mut targets) = turns::measure(ground)?;
    let wide = wide::measure(ground)?;
    let resumes = resumes::measure(ground)?;
    let (wake, soon) = wake::measure(ground)?;
    targets.extend(soon);
    Ok(Section { name: "agents", tables: vec![turns, wide, resumes, wake], targets })
}
