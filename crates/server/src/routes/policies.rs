//! The policy of a project: read, check, explain, replace, switch.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use domain::AgentEnvironment;
use engine::{
    CallExplanation, FloorExplanation, HypotheticalCall, InForce, PolicyMismatch, PolicyNotices, RefusedFile,
};
use policy::{AskCause, Asking, ConsideredRule, Finding, NearestRule, PartRuling, Severity};
use protocol::{
    AskView, ExplainBody, ExplanationView, FindingView, FindingsView, FloorExplanationView, FloorView, NearestRuleView,
    PartRulingView, PolicyBody, PolicyCheckBody, PolicyDiffersView, PolicyEnabledBody, PolicyResetBody,
    PolicyVersionView, PolicyVersionsPage, PolicyView, RefusedFileView,
};
use serde::Deserialize;
use serde_json::Value;
use store::Page;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Query, cursor, limit, list_number};

/// Renders findings. Callers see the name of a policy file without its directory; the log has the full path.
fn finding_views(findings: &[Finding]) -> Vec<FindingView> {
    let name = |file: &str| Path::new(file).file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let shown = |finding: &Finding| FindingView {
        file: name(&finding.file),
        line: finding.line,
        column: finding.column,
        code: finding.code.to_owned(),
        severity: finding.severity.name().to_owned(),
        message: finding.message.clone(),
    };
    findings.iter().map(shown).collect()
}

fn refused_file_view(file: &RefusedFile) -> RefusedFileView {
    let RefusedFile { at, findings, retried, in_force } = file.clone();
    RefusedFileView { at, findings: finding_views(&findings), retried, in_force }
}

pub(super) fn view(in_force: InForce, notices: &PolicyNotices) -> PolicyView {
    let (changed_by, changed_at, reason) = in_force.changed();
    let suspended = in_force.suspended();
    let InForce { policy, source, state, floor, .. } = in_force;
    let floor = floor.map(|floor| FloorView {
        version: floor.version().to_owned(),
        text: floor.text().to_owned(),
        warnings: finding_views(floor.warnings()),
        refused_file: notices.floor_refused.as_ref().map(refused_file_view),
    });
    let differs = notices.differs.clone().map(|PolicyMismatch { part, here, in_force }| PolicyDiffersView {
        part: part.to_owned(),
        here,
        in_force,
    });
    PolicyView {
        version: policy.version().to_owned(),
        source,
        enabled: state.enabled,
        text: policy.text().to_owned(),
        changed_by,
        changed_at,
        reason,
        suspended: suspended.into_iter().map(Into::into).collect(),
        warnings: finding_views(policy.warnings()),
        refused_file: notices.refused.as_ref().map(refused_file_view),
        floor,
        differs,
    }
}

/// Returns the policy in force in the project.
#[utoipa::path(get, path = "/v1/policy", tag = "policy",
    responses((status = 200, description = "Policy in force", body = PolicyView), Problems))]
pub(super) async fn policy_get(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<PolicyView>, ApiError> {
    let (in_force, notices) = app.engine.policy_get(&caller).await?;
    Ok(Json(view(in_force, &notices)))
}

/// Replaces the policy of the project. A policy with errors is refused, and nothing changes.
#[utoipa::path(put, path = "/v1/policy", tag = "policy", request_body = PolicyBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The policy is in force", body = PolicyView), Problems))]
pub(super) async fn policy_put(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: PolicyBody { text, base, reason }, idempotency }: CommandRequest<PolicyBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.policy_put(&caller, text, (base, reason), idempotency).await?, &PolicyNotices::default())))
}

/// Removes the policy of the project, so that the server's policy is in force.
#[utoipa::path(delete, path = "/v1/policy", tag = "policy", request_body = PolicyResetBody,
    params(IdempotencyKey),
    responses((status = 200, description = "The policy in force", body = PolicyView), Problems))]
pub(super) async fn policy_reset(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: PolicyResetBody { reason }, idempotency }: CommandRequest<PolicyResetBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.policy_reset(&caller, reason, idempotency).await?, &PolicyNotices::default())))
}

/// Query of the list of policy versions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionsQuery {
    /// Only changes that put this version in force, as rulings name it.
    version: Option<String>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the changes of the project's policy with their texts, newest first.
#[utoipa::path(get, path = "/v1/policy/versions", tag = "policy", params(VersionsQuery),
    responses((status = 200, description = "Page of versions", body = PolicyVersionsPage), Problems))]
pub(super) async fn policy_version_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<VersionsQuery>,
) -> Result<Json<PolicyVersionsPage>, ApiError> {
    let after = cursor(query.cursor.as_deref())?.map(list_number).transpose()?;
    let page = Page { after, limit: limit(query.limit)? };
    let (found, next) = app.engine.policy_version_list(&caller, query.version, page).await?;
    let versions = found.into_iter().map(|known| PolicyVersionView::new(known.number, known.change, known.text));
    Ok(Json(PolicyVersionsPage { versions: versions.collect(), next: next.map(|number| number.to_string()) }))
}

/// Checks a policy without putting it in force, and returns all findings.
#[utoipa::path(post, path = "/v1/policy/check", tag = "policy", request_body = PolicyCheckBody,
    responses((status = 200, description = "Findings about the policy", body = FindingsView), Problems))]
pub(super) async fn policy_check(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: PolicyCheckBody { text }, .. }: CommandRequest<PolicyCheckBody>,
) -> Result<Json<FindingsView>, ApiError> {
    let findings = app.engine.policy_check(&caller, text).await?;
    let good = findings.iter().all(|finding| finding.severity != Severity::Error);
    Ok(Json(FindingsView { good, findings: finding_views(&findings) }))
}

/// Explains the ruling on a call, rule by rule.
#[utoipa::path(post, path = "/v1/policy/explain", tag = "policy", request_body = ExplainBody,
    responses((status = 200, description = "The ruling, with the evaluation of each rule", body = ExplanationView), Problems))]
pub(super) async fn policy_explain(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body, .. }: CommandRequest<ExplainBody>,
) -> Result<Json<ExplanationView>, ApiError> {
    let ExplainBody { tool, arguments, agent, user, role, client, root, text } = body;
    let environment = AgentEnvironment { client, root };
    let supposed = HypotheticalCall { tool, arguments, agent, user, role, environment, draft: text };
    let CallExplanation { ruling, considered, parsed, parts, asks, floor } =
        app.engine.policy_explain(&caller, supposed).await?;
    let gone_through = |considered: &[ConsideredRule]| serde_json::to_value(considered).unwrap_or(Value::Null);
    let floor = floor.map(|FloorExplanation { ruling, considered }| FloorExplanationView {
        ruling: ruling.into(),
        considered: gone_through(&considered),
    });
    let (considered, asks) = (gone_through(&considered), asks.into_iter().map(ask_view).collect());
    let parts = parts.into_iter().map(part_view).collect();
    Ok(Json(ExplanationView { ruling: ruling.into(), considered, parsed, parts, asks, floor }))
}

fn part_view(part: PartRuling) -> PartRulingView {
    let PartRuling { kind, span, text, verdict, rule, nearest } = part;
    let nearest = nearest.map(|NearestRule { rule, why }| NearestRuleView {
        rule,
        message: why.to_string(),
        why: serde_json::to_value(why).unwrap_or(Value::Null),
    });
    let (start, end) = span.map_or((None, None), |span| (Some(span.start), Some(span.end)));
    PartRulingView { kind: kind.name(), start, end, text, verdict, rule, nearest }
}

fn ask_view(ask: Asking) -> AskView {
    let audience = ask.audience().into();
    let (because, error) = match ask.because {
        AskCause::Matches => ("matches", None),
        AskCause::Fails(error) => ("fails", Some(error)),
        AskCause::Default => ("default", None),
    };
    AskView { rule: ask.rule, because, error, audience }
}

/// Pauses or resumes the approvals of the project. The audit trail records the caller and the reason.
#[utoipa::path(put, path = "/v1/policy/enabled", tag = "policy", request_body = PolicyEnabledBody,
    params(IdempotencyKey),
    responses((status = 200, description = "Policy in force, and whether approvals are paused", body = PolicyView), Problems))]
pub(super) async fn policy_switch(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: PolicyEnabledBody { enabled, reason }, idempotency }: CommandRequest<PolicyEnabledBody>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(app.engine.policy_switch(&caller, enabled, reason, idempotency).await?, &PolicyNotices::default())))
}
