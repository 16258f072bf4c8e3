//! Lists the answers that an open question offers, so that clients can draw them.
//!
//! [`Question::settle`] checks an answer; [`Question::moves`] lists the answers that it accepts, so that clients need not derive them. Only
//! the rejection of a notice is accepted without being offered. `tests/it/moves.rs` checks that the two functions agree.

use serde::Serialize;

use crate::{Choice, Effect, Interaction, Kind, OptionId, Question, State};

/// One answer that a question accepts.
///
/// An answer names the move by `option`. A move without an option is named by its `effect`; only `provide` without an option is named by
/// neither, because `effect: provide` can also mean the one option that has this effect.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Identifier of the option that the answer names. The question's `options` describe it further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionId>,
    /// Label of that option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Effect that the answer has.
    pub effect: Effect,
    /// Whether a client should ask for confirmation before it sends this answer.
    pub dangerous: bool,
    /// Inputs that the answer contains besides its option or effect. Empty if a click is enough.
    pub takes: Vec<MoveInput>,
    /// Consequence of the answer. If several people must agree, it follows the last of the equal answers.
    pub does: Consequence,
}

/// One input of a move.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MoveInput {
    /// Kind of the input, which says in which field of the answer it is sent.
    pub input: InputKind,
    /// Whether the answer is refused without it.
    pub required: bool,
}

/// Kind of an input, and the field of the answer that carries it.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A reason or a comment, in `feedback`. Every answer may contain one; it is listed if clients should ask for it.
    Feedback,
    /// All arguments of the action, changed, in `arguments`.
    Arguments,
    /// Free text, in `data`.
    Text,
    /// A form that fits the question's `schema`, in `data`.
    Form,
    /// The values of the question's `secrets` by name, in `data`. With `keep`, the server keeps them for the agent's later sessions.
    Secrets,
    /// Further options with an equal effect, in `options` together with this one. The answer then contains the inputs of all chosen
    /// options.
    Options,
}

/// Consequence of an answer.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Consequence {
    /// The action runs. If the answer is an edit, it runs with the arguments of the answer.
    RunAction,
    /// The agent reconsiders, with the feedback.
    SendBack,
    /// The action does not run, and the agent receives the reason.
    Refuse,
    /// The session of the question ends.
    EndSession,
    /// The agent continues with the content of the answer.
    Resume,
    /// The answer is recorded. No agent waits for it.
    Record,
}

impl Interaction {
    /// Answers that this question accepts now. Empty after the question was closed or handed over.
    ///
    /// The list depends only on the question and not on the reader, so that lists, streams and webhooks can show one list. Whether a
    /// certain person may answer depends on the audience, the claim and the votes; [`Interaction::admit`] checks it.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        match &self.state {
            State::Pending(pending) if pending.handed_over.is_none() => self.question.moves(),
            State::Pending(_) | State::Resolved { .. } => Vec::new(),
        }
    }
}

impl Question {
    /// Answers that the question offers, all of which [`Question::settle`] accepts: first a value, then the options in their order, then to reject
    /// or skip without an option.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        let offers = |effect| self.options.iter().any(|option| option.effect == effect);
        let unnamed = |effect, is_open: bool| is_open.then(|| self.move_by(effect, None));
        let value = unnamed(Effect::Provide, self.takes_value());
        let options = self.options.iter().map(|option| self.move_by(option.effect, Some(option)));
        // A notice asks for nothing that could be rejected. A client that rejects it nevertheless is not refused.
        let is_rejectable = self.takes_value() && self.kind.blocks() && !offers(Effect::Reject);
        let reject = unnamed(Effect::Reject, is_rejectable);
        let skip = unnamed(Effect::Skip, !self.required && !offers(Effect::Skip));
        value.into_iter().chain(options).chain(reject).chain(skip).collect()
    }

    /// Move of an option, or of an effect without an option.
    fn move_by(&self, effect: Effect, option: Option<&Choice>) -> Move {
        Move {
            option: option.map(|option| option.id.clone()),
            label: option.map(|option| option.label.clone()),
            effect,
            dangerous: option.is_some_and(|option| option.dangerous),
            takes: self.inputs(effect, option),
            does: self.consequence(effect),
        }
    }

    fn inputs(&self, effect: Effect, option: Option<&Choice>) -> Vec<MoveInput> {
        let mut inputs = Vec::new();
        let mut take = |input, required| inputs.push(MoveInput { input, required });
        let fills_form = effect.carries_form() && (self.schema.is_some() || !self.secrets.is_empty());
        if effect == Effect::Edit {
            take(InputKind::Arguments, true);
        }
        if fills_form {
            take(if self.secrets.is_empty() { InputKind::Form } else { InputKind::Secrets }, true);
        } else if effect == Effect::Provide && option.is_none() && self.kind != Kind::Notice {
            take(InputKind::Text, true);
        }
        let is_alike = |other: &Choice| other.effect == effect && option.is_some_and(|option| option.id != other.id);
        if self.multiple && self.options.iter().any(is_alike) {
            take(InputKind::Options, false);
        }
        let asks_for_input = option.is_some_and(|option| option.requires_input);
        if asks_for_input || effect == Effect::Edit || effect.holds_back() {
            // A filled-in form is enough input.
            take(InputKind::Feedback, asks_for_input && !fills_form);
        }
        inputs
    }

    fn consequence(&self, effect: Effect) -> Consequence {
        if effect != Effect::Terminate && !self.kind.blocks() {
            return Consequence::Record;
        }
        match effect {
            Effect::Approve | Effect::Edit if self.call.is_some() => Consequence::RunAction,
            Effect::Retry => Consequence::SendBack,
            Effect::Reject => Consequence::Refuse,
            Effect::Terminate => Consequence::EndSession,
            Effect::Approve | Effect::Edit | Effect::Provide | Effect::Skip | Effect::Custom => Consequence::Resume,
        }
    }
}
