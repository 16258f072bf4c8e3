//! Programs that `find -exec` starts. The line lists each of them as a run of its own, so that the words that start them do nothing more.

use command_line::{Effects, HazardKind, ProgramRun, RunPosition, ShellWord, effects};

/// Options of `find` whose value is a command.
const ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// The effects of a run, without those of the runs that the line lists beside it.
pub(crate) fn own_effects(run: &ProgramRun, line: &[ProgramRun]) -> Effects {
    let mut effects = effects(run);
    if effects.name != "find" {
        return effects;
    }
    let is_action = |at: usize| run.words.get(at).and_then(ShellWord::text).is_some_and(|word| ACTIONS.contains(&word));
    let actions = effects.hazards.iter().filter(|hazard| hazard.kind == HazardKind::Runs && is_action(hazard.word));
    if actions.count() <= line.iter().filter(|one| is_started_by(one, run)).count() {
        effects.hazards.retain(|hazard| hazard.kind != HazardKind::Runs || !is_action(hazard.word));
    }
    effects
}

/// Says whether a run of the line is one that a run of `find` starts.
fn is_started_by(one: &ProgramRun, find: &ProgramRun) -> bool {
    let further = one.position.strip_prefix(find.position.as_slice()).and_then(<[RunPosition]>::first);
    one.span == find.span
        && further.is_some_and(|at| matches!(at, RunPosition::Arguments(program) if program == "find"))
}
