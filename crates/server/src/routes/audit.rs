//! The audit trail: list, export, and its signing key.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::access::Right;
use domain::{Caller, InteractionId, SessionId, Timestamp};
use engine::{Export, ExportRange};
use futures::stream::{self, StreamExt};
use http::header::CONTENT_TYPE;
use protocol::{AuditEntryView, AuditKeyView, AuditPage};
use serde::Deserialize;
use store::{AuditFilter, Page};
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::caller::Authenticated;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Query, cursor, limit};

/// Query of the audit trail.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// Only entries of this type, for example `interaction.answered`.
    #[serde(rename = "type")]
    name: Option<String>,
    /// Only entries of the actor with this name.
    by: Option<String>,
    /// Only entries of this session.
    #[param(value_type = Option<String>)]
    session: Option<SessionId>,
    /// Only entries about this question.
    #[param(value_type = Option<String>)]
    interaction: Option<InteractionId>,
    /// Only entries at or after this time.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only entries before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Order of the entries; `oldest` if absent.
    #[param(inline)]
    sort: Option<AuditSort>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AuditSort {
    Oldest,
    Newest,
}

/// Lists the audit trail of the caller's project, oldest first by default.
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(AuditQuery),
    responses((status = 200, description = "Page of audit entries", body = AuditPage), Problems))]
pub(super) async fn audit_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditPage>, ApiError> {
    let page = Page { after: cursor(query.cursor.as_deref())?.map(number).transpose()?, limit: limit(query.limit)? };
    let AuditQuery { name, by, session, interaction, since, until, sort, .. } = query;
    let newest = sort == Some(AuditSort::Newest);
    let filter = AuditFilter { name, by, session, interaction, since, until, newest };
    let (found, next) = app.engine.audit_list(&caller, filter, page).await?;
    let entries = found.into_iter().map(|found| AuditEntryView::new(found.seq, found.entry, found.digest, found.hash));
    Ok(Json(AuditPage { entries: entries.collect(), next: next.map(|seq| seq.to_string()) }))
}

/// Query of an export.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportQuery {
    /// Start after the entry with this number; at the first entry if absent.
    after: Option<u64>,
    /// Entries before this time are exported as digests only.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Entries at or after this time are exported as digests only.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// Exports the audit chain of the tenant as JSON Lines for `holdpoint audit verify`. Entries of other projects are exported as digests only.
#[utoipa::path(get, path = "/v1/audit/export", tag = "audit", params(ExportQuery),
    responses((status = 200, description = "A header, entries in order with checkpoints between them, and a seal at the end",
               content_type = "application/x-ndjson", body = String,
               example = json!("{\"format\":\"holdpoint-audit-1\"}\n")), Problems))]
pub(super) async fn audit_export(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let wanted = ExportRange { after: number(query.after.unwrap_or(0))?, since: query.since, until: query.until };
    let export = app.engine.audit_export(&caller, wanted).await?;
    let lines = stream::unfold(Some((app, caller, export)), |state| async {
        let (app, caller, mut export) = state?;
        match next(&app, &caller, &mut export).await {
            Ok(lines) => Some((Ok(lines?), Some((app, caller, export)))),
            Err(error) => {
                // An error breaks the connection, so that an incomplete export never looks complete.
                tracing::warn!(%error, "an export was ended");
                Some((Err(error), None))
            }
        }
    })
    // A compressing layer polls the body once more after its end.
    .fuse();
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

async fn next(app: &App, caller: &Caller, export: &mut Export) -> Result<Option<String>, engine::Error> {
    app.engine.recheck_caller(caller).await?.require(Right::Audit)?;
    export.next().await
}

/// Returns the public key that verifies the audit trail of the tenant.
#[utoipa::path(get, path = "/v1/audit/key", tag = "audit",
    responses((status = 200, description = "Public key of the tenant", body = AuditKeyView), Problems))]
pub(super) async fn audit_key(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
) -> Result<Json<AuditKeyView>, ApiError> {
    Ok(Json(app.engine.audit_key(&caller).await?.into()))
}

/// Refuses a number that the stores cannot hold: they store signed 64-bit integers.
fn number(seq: u64) -> Result<u64, ApiError> {
    match i64::try_from(seq) {
        Ok(_) => Ok(seq),
        Err(_) => Err(ApiError::QueryInvalid("not the number of an entry".into())),
    }
}
