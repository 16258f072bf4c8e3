//! Tickets, which open one stream or socket in place of a key.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use protocol::{EmptyBody, TicketView};

use crate::App;
use crate::caller::Authenticated;
use crate::command::{CommandRequest, IdempotencyKey};
use crate::document::Problems;
use crate::error::ApiError;

/// Creates a ticket that opens one stream or socket as the caller (`?ticket=`), valid for seconds. It is returned only once.
#[utoipa::path(post, path = "/v1/tickets", tag = "keys", request_body = EmptyBody,
    params(IdempotencyKey),
    responses((status = 201, description = "Ticket for one stream or socket", body = TicketView), Problems))]
pub(super) async fn ticket_create(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    CommandRequest { body: EmptyBody {}, idempotency }: CommandRequest<EmptyBody>,
) -> Result<(StatusCode, Json<TicketView>), ApiError> {
    let (ticket, expires_at) = app.engine.ticket_create(&caller, idempotency).await?;
    Ok((StatusCode::CREATED, Json(TicketView { ticket, expires_at })))
}
