//! Rules that are learnt from decisions of people: suggested, and adopted.

use axum::Json;
use axum::extract::State;
use engine::{CounterExample, DisputedRule, PolicyNotices, SuggestedRule, Suggestions};
use protocol::{
    AdoptBody, CounterExampleView, DecisionView, HeldBackView, LearntView, LiftBody, PolicyView, SuggestionsView,
};

use super::policies::view;
use crate::App;
use crate::caller::Who;
use crate::command::Command;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::Id;

fn shown(SuggestedRule { learnt, tool, agent, support, interactions, first_at, last_at }: SuggestedRule) -> LearntView {
    LearntView {
        id: learnt.name,
        verdict: learnt.verdict,
        tool,
        agent,
        rule: learnt.rule,
        before: learnt.before,
        support,
        interactions,
        first_at,
        last_at,
    }
}

fn disputed(DisputedRule { verdict, tool, agent, support, against, counter_examples }: DisputedRule) -> HeldBackView {
    let example = |CounterExample { session, call, decision }| CounterExampleView {
        session,
        call_id: call,
        decision: DecisionView::from(decision),
    };
    let counter_examples = counter_examples.into_iter().map(example).collect();
    HeldBackView { verdict, tool, agent, support, against, counter_examples }
}

/// Suggests rules that would explain what people have decided lately. Nothing is changed.
#[utoipa::path(get, path = "/v1/policy/suggestions", tag = "policy",
    responses((status = 200, description = "The rules", body = SuggestionsView), Problems))]
pub(super) async fn suggestion_list(
    State(app): State<App>,
    Who(caller): Who,
) -> Result<Json<SuggestionsView>, ApiError> {
    let Suggestions { decisions, more, suggestions, held_back } = app.engine.policy_suggestions(&caller).await?;
    Ok(Json(SuggestionsView {
        decisions,
        more,
        suggestions: suggestions.into_iter().map(shown).collect(),
        held_back: held_back.into_iter().map(disputed).collect(),
    }))
}

/// Puts a suggested rule into the project's policy, in front of the rule that asked. It is suspended as soon as somebody decides otherwise.
#[utoipa::path(post, path = "/v1/policy/suggestions/{suggestion}/adopt", tag = "policy", request_body = AdoptBody,
    params(("suggestion" = String, Path, description = "`learnt-…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The policy in force", body = PolicyView), Problems))]
pub(super) async fn suggestion_adopt(
    State(app): State<App>,
    Who(caller): Who,
    Id(name): Id<String>,
    Command { body: AdoptBody { reason }, once }: Command<AdoptBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.policy_adopt(&caller, name, reason, once).await?, &PolicyNotices::default())))
}

/// Has a learnt rule that is suspended match again, whatever was decided before.
#[utoipa::path(post, path = "/v1/policy/suspensions/{rule}/lift", tag = "policy", request_body = LiftBody,
    params(("rule" = String, Path, description = "`learnt-…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "One key with one body gives one result")),
    responses((status = 200, description = "The policy in force", body = PolicyView), Problems))]
pub(super) async fn suspension_lift(
    State(app): State<App>,
    Who(caller): Who,
    Id(rule): Id<String>,
    Command { body: LiftBody { reason }, once }: Command<LiftBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.policy_lift(&caller, rule, reason, once).await?, &PolicyNotices::default())))
}
