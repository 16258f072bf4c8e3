//! Details that only the audit trail records, beside the payload of an event or of a change.
//!
//! The fields of the details are added to those of the payload, so the two never have a field of one name. Their names are stored, and the
//! digests of entries depend on them.

use serde::Serialize;
use serde_json::Value;

use crate::action::Permit;
use crate::grant::Covers;
use crate::ruling::AskingRule;
use crate::{Answer, Audience, Call, Choice, Digest, Effect, Fallback, Kind, Question};

/// Details of a change that are not sent to clients: arguments, form data and free text. Never a secret value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AuditDetails {
    /// Details of a change of an action.
    Action(ActionDetails),
    /// Details of the rejection of an action.
    Rejection(RejectionDetails),
    /// Details of a report on an action.
    Outcome(OutcomeDetails),
    /// Details of a grant.
    Grant(GrantDetails),
    /// Details of a question.
    Question(Box<QuestionDetails>),
    /// Details of an answer.
    Answer(Box<AnswerDetails>),
    /// Details of a delivery.
    Delivery(DeliveryDetails),
    /// Details of a definition.
    Definition(DefinitionDetails),
    /// Details of a changed policy.
    PolicyDiff(PolicyDiffDetails),
}

impl AuditDetails {
    /// Details as JSON.
    pub(super) fn data(&self) -> Value {
        // Serialisation cannot fail, because all keys are strings.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Arguments of an action, and the permit that allows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionDetails {
    /// Arguments as the agent proposed them.
    pub arguments: Value,
    /// Digest of the call that may run.
    pub digest: Digest,
    /// Arguments that a person put in place of the proposed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_arguments: Option<Value>,
    /// Permit that starts the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permit: Option<Permit>,
}

/// Reason for a rejection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectionDetails {
    /// Reason, as the model reads it.
    pub feedback: Option<String>,
}

/// Result that an agent reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeDetails {
    /// Reason of a failure. `None` if the action succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Result of the tool.
    pub result: Value,
}

/// Calls that a grant allows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GrantDetails {
    /// Arguments that the grant covers.
    pub covers: Covers,
    /// Rule that asked about the call.
    pub rule: Option<String>,
    /// Agent for which the grant holds.
    pub agent: String,
}

/// Decision that people were asked for, and the digest of everything that they were shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionDetails {
    /// Options of the question.
    pub options: Vec<OptionDetails>,
    /// People who may answer.
    pub audience: Audience,
    /// Digest of the question as JSON.
    pub question_digest: Digest,
    /// Audiences that must each agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Audience>,
    /// Message of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Call that the question is about.
    #[serde(rename = "action", skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Result of the question at its deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// Rule that asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<AskingRule>,
    /// Names of the values of a secret question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<String>>,
}

/// Option of a question without its texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OptionDetails {
    /// Identifier of the option.
    pub id: String,
    /// Effect of choosing the option.
    pub effect: Effect,
}

/// Complete answer, and the call that the question showed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerDetails {
    /// Answer as it was accepted.
    pub answer: Answer,
    /// Call that the question is about.
    #[serde(rename = "action", skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
}

/// Names of the secrets that were delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeliveryDetails {
    /// Names of the values of a secret question.
    pub secrets: Vec<String>,
}

/// Definition as people may read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefinitionDetails {
    /// Body of the definition without the parts that are not shown.
    pub definition: Value,
}

/// Difference between the text of a policy before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyDiffDetails {
    /// Difference as a unified diff. `None` if there was no text before.
    pub diff: Option<String>,
}

/// Details of a question.
pub(crate) fn of_question(question: &Question) -> AuditDetails {
    let option = |option: &Choice| OptionDetails { id: option.id.clone(), effect: option.effect };
    AuditDetails::Question(Box::new(QuestionDetails {
        options: question.options.iter().map(option).collect(),
        audience: question.audience.clone(),
        question_digest: Digest::of_bytes(&serde_json::to_vec(question).unwrap_or_default()),
        requirements: question.requirements.clone(),
        message: question.message.clone(),
        call: question.call.clone(),
        fallback: question.fallback.clone(),
        rule: question.asked_by_rule.clone(),
        secrets: (question.kind == Kind::Secret).then(|| secret_names(question)),
    }))
}

/// Details of an answer.
pub(crate) fn of_answer(question: &Question, answer: &Answer) -> AuditDetails {
    AuditDetails::Answer(Box::new(AnswerDetails { answer: answer.clone(), call: question.call.clone() }))
}

/// Details of a delivery. `None` unless secrets were delivered.
pub(crate) fn of_delivery(question: &Question) -> Option<AuditDetails> {
    let secrets = (question.kind == Kind::Secret).then(|| secret_names(question))?;
    Some(AuditDetails::Delivery(DeliveryDetails { secrets }))
}

fn secret_names(question: &Question) -> Vec<String> {
    question.secrets.iter().map(|secret| secret.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_have_their_stored_json_form() {
        let digest = Digest::of_bytes(b"{}");
        let permit = Permit {
            id: crate::PermitId::from_uuid(uuid::Uuid::nil()),
            digest: digest.to_string(),
            expires_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let action = ActionDetails { arguments: json!({}), digest, edited_arguments: None, permit: None };
        let edited =
            ActionDetails { edited_arguments: Some(json!(null)), permit: Some(permit.clone()), ..action.clone() };
        let outcome =
            |message: Option<&str>| OutcomeDetails { message: message.map(str::to_owned), result: json!(null) };
        let grant = GrantDetails { covers: Covers::Exactly("d".into()), rule: None, agent: "bot".into() };
        let option = OptionDetails { id: "yes".into(), effect: Effect::Approve };
        let question = QuestionDetails {
            options: vec![option],
            audience: Audience::default(),
            question_digest: digest,
            requirements: Vec::new(),
            message: None,
            call: Some(Call { tool: "run".into(), arguments: json!({}) }),
            fallback: Some(Fallback::Deny),
            rule: None,
            secrets: None,
        };
        for (details, form) in [
            (AuditDetails::Action(action), json!({ "arguments": {}, "digest": digest })),
            (
                AuditDetails::Action(edited),
                json!({ "arguments": {}, "digest": digest, "edited_arguments": null, "permit": permit }),
            ),
            (AuditDetails::Rejection(RejectionDetails { feedback: None }), json!({ "feedback": null })),
            (AuditDetails::Outcome(outcome(None)), json!({ "result": null })),
            (AuditDetails::Outcome(outcome(Some("no"))), json!({ "message": "no", "result": null })),
            (AuditDetails::Grant(grant.clone()), json!({ "covers": grant.covers, "rule": null, "agent": "bot" })),
            (
                AuditDetails::Question(Box::new(question)),
                json!({
                    "options": [{ "id": "yes", "effect": "approve" }],
                    "audience": Audience::default(),
                    "question_digest": digest,
                    "action": { "tool": "run", "arguments": {} },
                    "fallback": "deny",
                }),
            ),
            (AuditDetails::Delivery(DeliveryDetails { secrets: vec!["a".into()] }), json!({ "secrets": ["a"] })),
            (AuditDetails::Definition(DefinitionDetails { definition: json!(1) }), json!({ "definition": 1 })),
            (AuditDetails::PolicyDiff(PolicyDiffDetails { diff: None }), json!({ "diff": null })),
        ] {
            assert_eq!(details.data(), form);
        }
    }
}
