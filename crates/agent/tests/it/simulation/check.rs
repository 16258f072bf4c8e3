//! Invariants of every session, its steps and their journals.

use domain::step::StepPhase;
use domain::{ActionState, Delivery, SessionStatus, Status, StepEnding};
use holdpoint_agent::history::history;
use holdpoint_agent::machine::{Activity, Input, MachineState};
use holdpoint_agent::model::{Message, Turn};

use crate::simulation::play::Play;
use crate::simulation::stored_state::{StoredSession, StoredState, StoredStep};

type Verdict = Result<(), String>;

/// Text that a history shows as the result of a call whose outcome is not recorded.
const NOTHING_KNOWN: &str = "The step ended before the outcome of this call was known.";

/// Returns an error with this message unless the condition holds.
macro_rules! holds {
    ($holds:expr, $($said:tt)+) => {
        if !$holds {
            return Err(format!($($said)+));
        }
    };
}
pub(crate) use holds;

/// Checks a request to a model: it contains the whole journal, every call has its result, and the turn is not recorded
/// yet.
pub(crate) fn asked(play: &Play, shown: &[Message]) -> Verdict {
    paired(shown)?;
    let untold = |message: &Message| matches!(message, Message::Result { content, .. } if content == NOTHING_KNOWN);
    holds!(!shown.iter().any(untold), "a model is asked before the outcomes of its calls were looked up: {shown:?}");
    let task = match shown.first() {
        Some(Message::User { content }) => content.split(':').next().unwrap_or_default(),
        other => return Err(format!("a model is asked about {other:?}")),
    };
    let (stored_state, drifts) = (play.look(), play.stage.lock().drifts);
    let held = stored_state.of_task(task).ok_or_else(|| format!("there is no session for {task}"))?;
    let cut = |kept: &StoredStep| matches!(kept.journal.last(), Some((_, Input::Cancelled { .. })));
    let steps = held.steps.iter().filter(|kept| drifts || kept.step.id == held.session.step || cut(kept));
    for kept in steps {
        let inputs = kept.inputs();
        for upto in (0..=inputs.len()).rev() {
            let thinks = replayed(held, kept, &inputs[..upto]).activity() == Activity::Thinking;
            if thinks && history(&inputs[..upto]) == shown {
                return Ok(());
            }
            // The model reads messages that arrive meanwhile at its next turn, and the worker notices a cancellation
            // soon after it. A worker that lost its lease may not know the later inputs.
            let last = upto.checked_sub(1).map(|at| &inputs[at]);
            let said = matches!(last, Some(Input::Message { .. } | Input::Cancelled { .. }));
            if !said && !drifts {
                break;
            }
        }
    }
    Err(format!("the model of {task} is shown messages that differ from its journal: {shown:?}"))
}

/// Checks that each turn is followed by one result for each of its calls, in order.
fn paired(messages: &[Message]) -> Verdict {
    let mut due: Vec<(&str, &str)> = Vec::new();
    for message in messages {
        match message {
            Message::Result { call, tool, .. } => {
                holds!(!due.is_empty(), "a result without a call: {message:?}");
                holds!(due.remove(0) == (call.as_str(), tool.as_str()), "a result out of order: {messages:?}");
            }
            Message::Assistant { calls, .. } => {
                holds!(due.is_empty(), "a turn without results for the calls of the turn before it: {messages:?}");
                due = calls.iter().map(|call| (call.id.as_str(), call.tool.as_str())).collect();
            }
            Message::User { .. } => holds!(due.is_empty(), "a message between results: {messages:?}"),
        }
    }
    holds!(due.is_empty(), "calls without results: {messages:?}");
    Ok(())
}

fn replayed(held: &StoredSession, kept: &StoredStep, inputs: &[Input]) -> MachineState {
    let number = first_attempt(held, kept);
    inputs.iter().fold(MachineState::new(format!("s{number}")), |state, input| state.advance(input).0)
}

/// Number, from 1, of the step in whose name the calls of this attempt are counted: the first attempt whose state was
/// saved.
fn first_attempt(held: &StoredSession, kept: &StoredStep) -> usize {
    let number = held.steps.iter().filter(|one| one.step.id <= kept.step.id).count();
    let before = number.checked_sub(2).map(|at| &held.steps[at]).filter(|_| kept.step.attempt > 1);
    before.filter(|before| before.state.is_some()).map_or(number, |before| first_attempt(held, before))
}

/// Checks every invariant that can be observed between two rounds.
pub(crate) fn everything(stored_state: &StoredState) -> Verdict {
    for question in stored_state.questions.values().filter(|question| question.status() == Status::Pending) {
        let steps = stored_state.sessions.values().flat_map(|held| &held.steps);
        let asks = steps.clone().any(|kept| kept.step.id == question.origin.step && kept.step.is_alive());
        holds!(asks, "{} is open, and the step that asked it has ended", question.id);
    }
    for held in stored_state.sessions.values() {
        of_its_step(stored_state, held)?;
        for kept in &held.steps {
            acknowledged(stored_state, kept)?;
        }
        let numbers = held.events.iter().map(|event| event.seq);
        holds!(numbers.eq(1..=held.session.last_seq), "the events of {} have gaps", held.session.id);
        for kept in &held.steps {
            journal(held, kept)?;
        }
        actions(held)?;
        if held.session.ended.is_some() {
            ended(stored_state, held)?;
        }
    }
    Ok(())
}

/// Checks that a question about an action belongs to the step that proposed it, in that attempt or a later one.
fn of_its_step(stored_state: &StoredState, held: &StoredSession) -> Verdict {
    let open = stored_state
        .questions
        .values()
        .filter(|question| question.origin.session == held.session.id && question.status() == Status::Pending);
    for question in open {
        let Some((number, ..)) = question.question.call_id.as_deref().and_then(place) else { continue };
        let asking = held.steps.iter().find(|kept| kept.step.id == question.origin.step);
        let own = asking.is_some_and(|kept| first_attempt(held, kept) == number);
        holds!(own, "{} asks about a call of another step: {:?}", question.id, question.question.call_id);
    }
    Ok(())
}

/// Checks that every answer that a step has acknowledged is in its journal.
fn acknowledged(stored_state: &StoredState, kept: &StoredStep) -> Verdict {
    for (_, input) in &kept.journal {
        let Input::Asked { call, interaction } = input else { continue };
        let question = interaction.parse().ok().and_then(|id| stored_state.questions.get(&id));
        let taken = question.is_some_and(|asked| matches!(asked.delivery(), Some(Delivery::Completed { .. })));
        let settled = kept.journal.iter().any(|(_, input)| match input {
            Input::Settled { call: settled, .. } => settled == call,
            Input::BeforeEnded(_) => true,
            _ => false,
        });
        holds!(!taken || settled, "the answer to {interaction} was acknowledged, and is in no journal");
    }
    Ok(())
}

fn journal(held: &StoredSession, kept: &StoredStep) -> Verdict {
    let id = kept.step.id;
    let length = kept.journal.len() as u64;
    holds!(kept.journal.iter().map(|(seq, _)| *seq).eq(1..=length), "the journal of {id} has gaps");
    let known = kept.step.lease.as_ref().map(|lease| lease.journal);
    holds!(known == Some(length), "the journal of {id} has {length} entries, and the store says {known:?}");
    let inputs = kept.inputs();
    paired(&history(&inputs))?;
    if let Some(state) = &kept.state {
        let upto = usize::try_from(state.upto).unwrap();
        let replayed = serde_json::to_value(replayed(held, kept, &inputs[..upto])).unwrap();
        holds!(replayed == state.body, "{id} was saved as {} and replays to {replayed}", state.body);
        // Messages and cancellations by people are journalled without a worker.
        let given =
            |input: &Input| matches!(input, Input::Message { .. } | Input::Cancelled { .. } | Input::Retried { .. });
        let later = inputs[upto..].iter().all(given);
        holds!(later, "{id} has applied {upto} inputs, and its journal has later ones that do not come from people");
    }
    continued(held, kept)?;
    heard(kept, &inputs)?;
    let mut state = replayed(held, kept, &[]);
    for input in &inputs {
        if let Input::Turn(_) = input {
            holds!(
                state.activity() == Activity::Thinking,
                "a turn of {id} was journalled in a phase without a request to the model"
            );
        }
        state = state.advance(input).0;
    }
    Ok(())
}

/// Checks that a model was shown every message of people before its last turn.
fn heard(kept: &StoredStep, inputs: &[Input]) -> Verdict {
    let completed = matches!(&kept.step.phase, StepPhase::Ended { how: StepEnding::Completed, .. });
    let by_people = matches!(inputs.last(), Some(Input::Cancelled { .. }));
    if !completed || by_people {
        return Ok(());
    }
    let shown = history(inputs);
    for input in inputs {
        let Input::Message { content, .. } = input else { continue };
        let said = Message::User { content: content.clone() };
        holds!(shown.contains(&said), "{} has completed, and its model was not shown {content:?}", kept.step.id);
    }
    Ok(())
}

/// Checks that an attempt begins with the journal of the attempt before it, followed by a `Retried` input.
fn continued(held: &StoredSession, kept: &StoredStep) -> Verdict {
    let at = held.steps.iter().position(|one| one.step.id == kept.step.id).unwrap();
    let Some(before) = at.checked_sub(1).map(|at| &held.steps[at]).filter(|_| kept.step.attempt > 1) else {
        return Ok(());
    };
    let (id, known) = (kept.step.id, before.journal.len());
    holds!(before.step.attempt + 1 == kept.step.attempt, "{id} does not follow the attempt before it");
    holds!(kept.journal.starts_with(&before.journal), "{id} does not begin with the journal of the attempt before it");
    let again = kept.journal.get(known).is_some_and(|(_, input)| matches!(input, Input::Retried { .. }));
    holds!(known == 0 || again, "{id} has no `Retried` input after the journal of the attempt before it");
    Ok(())
}

/// Checks that every action is a call of a journalled turn, and that no call of a settled turn is still open.
fn actions(held: &StoredSession) -> Verdict {
    for action in &held.actions {
        let call = &action.call_id;
        let found = place(call).and_then(|(step, turn, index)| {
            let attempts = held.steps.iter().filter(|kept| first_attempt(held, kept) == step);
            attempts.rev().find_map(|kept| turns(kept).get(turn - 1)?.calls.get(index))
        });
        let Some(found) = found else { return Err(format!("{call} was proposed and is in no turn")) };
        let same = found.tool == action.call.tool && found.arguments == action.call.arguments;
        holds!(same, "{call} was proposed with another tool or other arguments than those of the turn");
    }
    Ok(())
}

fn turns<'a>(kept: &'a StoredStep) -> Vec<&'a Turn> {
    let turn = |(_, input): &'a (u64, Input)| if let Input::Turn(turn) = input { Some(&**turn) } else { None };
    kept.journal.iter().filter_map(turn).collect()
}

/// Step and turn, from 1, and index in the turn, from 0, that the name of a call contains.
fn place(call: &str) -> Option<(usize, usize, usize)> {
    let (step, rest) = call.strip_prefix('s')?.split_once('t')?;
    let (turn, index) = rest.split_once('c')?;
    Some((step.parse().ok()?, turn.parse().ok()?, index.parse().ok()?))
}

/// Checks that a session that has ended leaves nothing open.
fn ended(stored_state: &StoredState, held: &StoredSession) -> Verdict {
    let id = held.session.id;
    let open = |question: &&domain::Interaction| question.origin.session == id && question.status() == Status::Pending;
    let open = stored_state.questions.values().find(open);
    holds!(open.is_none(), "{id} has ended with an open question: {open:?}");
    let live = held.steps.iter().find(|kept| kept.step.is_alive());
    holds!(live.is_none(), "{id} has ended with a live step: {live:?}");
    // A failed session may be retried, and then has to redact the secrets that it was given.
    let failed = held.session.status() == SessionStatus::Failed;
    holds!(held.sealed == 0 || failed, "{id} has ended with sealed values");
    let waits = held.actions.iter().find(|action| {
        let allowed = action.hosted && matches!(action.state, ActionState::Allowed { .. });
        allowed || matches!(action.state, ActionState::Waiting { .. })
    });
    holds!(waits.is_none(), "{id} has ended with an action that waits or may still start: {waits:?}");
    Ok(())
}
