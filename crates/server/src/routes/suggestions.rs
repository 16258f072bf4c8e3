//! Rules learnt from decisions of people: list, adopt, lift a suspension.

use axum::Json;
use axum::extract::State;
use engine::{CounterExample, DisputedRule, PolicyNotices, SuggestedRule, Suggestions};
use protocol::{
    AdoptBody, CounterExampleView, DecisionView, HeldBackView, LearntView, LiftBody, PolicyView, SuggestionsView,
};

use super::policies::view;
use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::PathId;

fn learnt_view(
    SuggestedRule { learnt, tool, agent, support, interactions, first_at, last_at }: SuggestedRule,
) -> LearntView {
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

fn held_back_view(
    DisputedRule { verdict, tool, agent, support, against, counter_examples }: DisputedRule,
) -> HeldBackView {
    let example = |CounterExample { session, call, decision }| CounterExampleView {
        session,
        call_id: call,
        decision: DecisionView::from(decision),
    };
    let counter_examples = counter_examples.into_iter().map(example).collect();
    HeldBackView { verdict, tool, agent, support, against, counter_examples }
}

/// Lists rules that would explain recent decisions of people. Nothing changes.
#[utoipa::path(get, path = "/v1/policy/suggestions", tag = "policy",
    responses((status = 200, description = "Rules that are suggested", body = SuggestionsView), Problems))]
pub(super) async fn suggestion_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<SuggestionsView>, ApiError> {
    let Suggestions { decisions, more, suggestions, held_back } = app.engine.suggestion_list(&caller).await?;
    Ok(Json(SuggestionsView {
        decisions,
        more,
        suggestions: suggestions.into_iter().map(learnt_view).collect(),
        held_back: held_back.into_iter().map(held_back_view).collect(),
    }))
}

/// Adds a suggested rule to the project's policy, before the rule that asked. It is suspended when somebody decides against it.
#[utoipa::path(post, path = "/v1/policy/suggestions/{suggestion}/adopt", tag = "policy", request_body = AdoptBody,
    params(("suggestion" = String, Path, description = "Name of the suggested rule, `learnt-…`"), IdempotencyKey),
    responses((status = 200, description = "The policy in force", body = PolicyView), Problems))]
pub(super) async fn suggestion_adopt(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(name): PathId<String>,
    CommandRequest { body: AdoptBody { reason }, idempotency }: CommandRequest<AdoptBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.suggestion_adopt(&caller, name, reason, idempotency).await?, &PolicyNotices::default())))
}

/// Lifts the suspension of a learnt rule; earlier decisions against it no longer count.
#[utoipa::path(post, path = "/v1/policy/suspensions/{rule}/lift", tag = "policy", request_body = LiftBody,
    params(("rule" = String, Path, description = "Name of the learnt rule, `learnt-…`"), IdempotencyKey),
    responses((status = 200, description = "The policy in force", body = PolicyView), Problems))]
pub(super) async fn suspension_lift(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(rule): PathId<String>,
    CommandRequest { body: LiftBody { reason }, idempotency }: CommandRequest<LiftBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.suspension_lift(&caller, rule, reason, idempotency).await?, &PolicyNotices::default())))
}
