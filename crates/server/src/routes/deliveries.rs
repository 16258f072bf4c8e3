//! Deliveries: the answers that agents take.

use axum::Json;
use axum::extract::State;
use domain::{Delivery, InteractionId, State as At};
use engine::TakenAnswer;
use protocol::{DeliveriesPage, FailBody, HeartbeatBody, InteractionView, LeaseBody, TakeBody, TakenView};
use serde::Deserialize;
use store::Bounded;
use utoipa::IntoParams;

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{PathId, Query, page, wait};

/// Query of the list of deliveries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DeliveriesQuery {
    /// Seconds to wait for an entry if there is none.
    #[param(maximum = 300)]
    wait: Option<u64>,
    /// Value of `next` from the previous page.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent. A page also ends at about 4 MiB.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// Lists the answers that wait for the calling agent, oldest first.
#[utoipa::path(get, path = "/v1/deliveries", tag = "deliveries", params(DeliveriesQuery),
    responses((status = 200, description = "Page of answers that wait for the agent", body = DeliveriesPage), Problems))]
pub(super) async fn delivery_list(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Query(query): Query<DeliveriesQuery>,
) -> Result<Json<DeliveriesPage>, ApiError> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let wait = wait(query.wait)?;
    let found = tokio::select! {
        biased;
        found = app.engine.delivery_list(&caller, page, wait) => found?,
        () = app.stops() => Bounded::default(),
    };
    app.engine.recheck_caller(&caller).await?;
    let next = found.last().filter(|_| found.more).map(|last| last.id);
    Ok(Json(DeliveriesPage { deliveries: found.into_iter().map(Into::into).collect(), next }))
}

/// Takes an answer under a lease. When the lease runs out, the answer is offered again.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/delivery/take", tag = "deliveries", request_body = TakeBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "The answer, under a lease", body = TakenView), Problems))]
pub(super) async fn delivery_take(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: TakeBody { lease_seconds }, idempotency }: CommandRequest<TakeBody>,
) -> Result<Json<TakenView>, ApiError> {
    let TakenAnswer { lease, interaction, resume_point, secrets } =
        app.engine.delivery_take(&caller, id, lease_seconds, idempotency).await?;
    let (attempt, until) = match interaction.delivery() {
        Some(Delivery::Processing { attempt, until, .. }) => (*attempt, *until),
        _ => (0, interaction.origin.at),
    };
    let answer = match &interaction.state {
        At::Resolved { resolution, .. } => resolution.answer().cloned().map(Into::into),
        At::Pending(_) => None,
    };
    let traceparent = interaction.origin.traceparent.clone();
    let interaction = InteractionView::from(interaction);
    Ok(Json(TakenView { lease, until, attempt, answer, interaction, resume_point, secrets, traceparent }))
}

/// Extends the lease of a delivery.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/delivery/heartbeat", tag = "deliveries",
    request_body = HeartbeatBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with the extended lease", body = InteractionView), Problems))]
pub(super) async fn delivery_heartbeat(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: HeartbeatBody { lease, lease_seconds }, idempotency }: CommandRequest<HeartbeatBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let interaction = app.engine.delivery_heartbeat(&caller, (id, lease), lease_seconds, idempotency).await?;
    Ok(Json(interaction.into()))
}

/// Completes a delivery: the agent has processed the answer durably.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/delivery/complete", tag = "deliveries", request_body = LeaseBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with its completed delivery", body = InteractionView), Problems))]
pub(super) async fn delivery_complete(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: LeaseBody { lease }, idempotency }: CommandRequest<LeaseBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let interaction = app.engine.delivery_complete(&caller, (id, lease), idempotency).await?;
    Ok(Json(interaction.into()))
}

/// Fails a delivery. With `retry` the answer is offered again. Otherwise the delivery has failed, which people can see.
#[utoipa::path(post, path = "/v1/interactions/{interaction}/delivery/fail", tag = "deliveries", request_body = FailBody,
    params(("interaction" = String, Path, description = "Identifier of the question, `int_…`"), IdempotencyKey),
    responses((status = 200, description = "Question with its failed or renewed delivery", body = InteractionView), Problems))]
pub(super) async fn delivery_fail(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InteractionId>,
    CommandRequest { body: FailBody { lease, reason, retry }, idempotency }: CommandRequest<FailBody>,
) -> Result<Json<InteractionView>, ApiError> {
    let interaction = app.engine.delivery_fail(&caller, (id, lease), reason, retry, idempotency).await?;
    Ok(Json(interaction.into()))
}
