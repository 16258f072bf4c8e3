//! The ends of a step and the effects that report them.

use domain::Effect as AnswerEffect;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NoAnswerReason, PeopleAnswer, StepEffect};

/// End of a step. It is stored with the state, so that the next worker reports it if this one dies first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub(super) enum End {
    Finished {
        output: Value,
    },
    Failed {
        reason: String,
    },
    Rejected {
        reason: String,
        #[serde(default)]
        answer: Value,
    },
    SentBack {
        reason: String,
        answer: Value,
    },
    Skipped {
        #[serde(default)]
        reason: Option<String>,
    },
    Cancelled {
        reason: String,
    },
}

impl End {
    /// Effect that reports the end; `None` if the step was ended from outside.
    pub(super) fn effect(&self) -> Option<StepEffect> {
        match self {
            Self::Finished { output } => Some(StepEffect::Finish { output: output.clone() }),
            Self::Failed { reason } => Some(StepEffect::Fail { reason: reason.clone() }),
            Self::Rejected { reason, answer } => {
                Some(StepEffect::Reject { reason: reason.clone(), answer: answer.clone() })
            }
            Self::SentBack { reason, answer } => {
                Some(StepEffect::SendBack { reason: reason.clone(), answer: answer.clone() })
            }
            Self::Skipped { reason } => Some(StepEffect::Skip { reason: reason.clone() }),
            Self::Cancelled { .. } => None,
        }
    }

    /// End of a step with the last text of its model. If the text is a JSON object, the output has it as `data` too.
    pub(super) fn from_text(text: &str) -> Self {
        let mut output = json!({ "text": text });
        if let Ok(data @ Value::Object(_)) = serde_json::from_str(text) {
            output["data"] = data;
        }
        Self::Finished { output }
    }

    /// End that the answer to the question before a step leads to; `None` if the step continues.
    pub(super) fn from_answer(answer: &PeopleAnswer, people_only: bool) -> Option<Self> {
        match answer.effect {
            AnswerEffect::Approve | AnswerEffect::Edit | AnswerEffect::Provide | AnswerEffect::Custom => {
                people_only.then(|| Self::Finished { output: output(answer) })
            }
            AnswerEffect::Reject => {
                let reason = answer.feedback.clone().unwrap_or_else(|| format!("rejected by {}", answer.by));
                Some(Self::Rejected { reason, answer: output(answer) })
            }
            AnswerEffect::Retry => {
                let reason = answer.feedback.clone().unwrap_or_else(|| format!("sent back by {}", answer.by));
                Some(Self::SentBack { reason, answer: output(answer) })
            }
            AnswerEffect::Skip => Some(Self::Skipped { reason: answer.feedback.clone() }),
            AnswerEffect::Terminate => Some(Self::terminated(answer)),
        }
    }

    /// End of a step whose question was not answered.
    pub(super) fn from_silence(how: &NoAnswerReason) -> Self {
        let reason = match how {
            NoAnswerReason::Expired => "the question before the step expired".to_owned(),
            NoAnswerReason::Cancelled => "the question before the step was cancelled".to_owned(),
            NoAnswerReason::Other(why) => format!("the question before the step ended without an answer: {why}"),
        };
        Self::Failed { reason }
    }

    /// End of a step by an answer that terminates the session. The engine ends session and step.
    pub(super) fn terminated(answer: &PeopleAnswer) -> Self {
        let reason = answer.feedback.clone();
        Self::Cancelled { reason: reason.unwrap_or_else(|| format!("ended by {}", answer.by)) }
    }
}

/// Answer as templates read it; every field is always present.
pub(crate) fn output(answer: &PeopleAnswer) -> Value {
    json!({
        "effect": answer.effect,
        "option": answer.options.first(),
        "options": answer.options,
        "metadata": answer.metadata,
        "data": answer.data,
        "feedback": answer.feedback,
        "by": answer.by,
    })
}
