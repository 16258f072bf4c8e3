//! Drafts of a policy: simulation against earlier actions, and the shadow policy.

use axum::Json;
use axum::extract::State;
use engine::{ChangedRuling, ShadowReport, Simulate, Simulation};
use http::StatusCode;
use protocol::{ChangeCountView, ChangedView, ShadowBody, ShadowView, SimulateBody, SimulationView};

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;

/// Simulates a draft policy on the newest actions of the project: lists changed rulings, and decisions of people that the draft contradicts.
#[utoipa::path(post, path = "/v1/policy/simulate", tag = "policy", request_body = SimulateBody,
    responses((status = 200, description = "The result of the simulation", body = SimulationView), Problems))]
pub(super) async fn policy_simulate(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: SimulateBody { text, limit, since }, .. }: CommandRequest<SimulateBody>,
) -> Result<Json<SimulationView>, ApiError> {
    let simulation =
        app.engine.policy_simulate(&caller, Simulate { file: "policy.toml".into(), text, limit, since }).await?;
    Ok(Json(simulated(simulation)))
}

fn simulated(simulation: Simulation) -> SimulationView {
    let Simulation { version, judged, more, counts, changed, contradictions, contradicted } = simulation;
    let listed = |list: Vec<ChangedRuling>| list.into_iter().map(changed_view).collect();
    SimulationView {
        version,
        judged,
        more,
        changes: counts.into_iter().map(|((from, to), count)| ChangeCountView::new(from, to, count)).collect(),
        changed: listed(changed),
        contradictions,
        contradicted: listed(contradicted),
    }
}

fn changed_view(
    ChangedRuling { session, call, tool, agent, at, before, after, decision }: ChangedRuling,
) -> ChangedView {
    ChangedView {
        session,
        call_id: call,
        tool,
        agent,
        proposed_at: at,
        before: before.into(),
        after: after.into(),
        decision: decision.map(Into::into),
    }
}

fn shadow_view(ShadowReport { shadow, text, counts, recent }: ShadowReport) -> ShadowView {
    let counts = counts.into_iter().map(|it| ChangeCountView { from: it.given, to: it.drafted, count: it.count });
    ShadowView::new(shadow, text, counts.collect(), recent)
}

/// Returns the shadow policy and the rulings in which it differs from the policy in force.
#[utoipa::path(get, path = "/v1/policy/shadow", tag = "policy",
    responses((status = 200, description = "The shadow policy", body = ShadowView), Problems))]
pub(super) async fn policy_shadow_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<ShadowView>, ApiError> {
    Ok(Json(shadow_view(app.engine.policy_shadow_get(&caller).await?)))
}

/// Sets a shadow policy, which is evaluated beside the policy in force and decides nothing. Differences are counted from now on.
#[utoipa::path(put, path = "/v1/policy/shadow", tag = "policy", request_body = ShadowBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The shadow policy was set", body = ShadowView), Problems))]
pub(super) async fn policy_shadow_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: ShadowBody { text, reason }, idempotency }: CommandRequest<ShadowBody>,
) -> Result<Json<ShadowView>, ApiError> {
    Ok(Json(shadow_view(app.engine.policy_shadow_put(&caller, text, reason, idempotency).await?)))
}

/// Removes the shadow policy and its counts.
#[utoipa::path(delete, path = "/v1/policy/shadow", tag = "policy",
    responses((status = 204, description = "The shadow policy was removed"), Problems))]
pub(super) async fn policy_shadow_remove(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<StatusCode, ApiError> {
    app.engine.policy_shadow_remove(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
