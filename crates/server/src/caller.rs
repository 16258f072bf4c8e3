//! From a request to an authenticated caller.

use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use domain::Caller;
use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::App;
use crate::error::ApiError;

/// How long a path with its query may be, in bytes. No operation needs a tenth of it.
const LONGEST: usize = 8 * 1024;

/// Whoever sent the request. A handler that takes one cannot be reached without a good key.
pub(crate) struct Who(pub(crate) Caller);

/// The other end of the connection that a request came through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl FromRequestParts<App> for Who {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if parts.uri.path_and_query().is_some_and(|text| text.as_str().len() > LONGEST) {
            return Err(ApiError::UriTooLong(LONGEST));
        }
        let header = parts.headers.get(AUTHORIZATION).ok_or(ApiError::NoCredential)?;
        let text = header.to_str().map_err(|_| ApiError::NoCredential)?;
        let (scheme, key) = text.split_once(' ').ok_or(ApiError::NoCredential)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(ApiError::NoCredential);
        }
        let caller = app.engine.authenticate(key.trim()).await?;
        if app.rates.as_ref().is_some_and(|rates| rates.check_key(&caller.key).is_err()) {
            return Err(ApiError::RateLimited);
        }
        Ok(Self(Caller { from: address(parts, app.limits.behind_proxy), ..caller }))
    }
}

/// Where a request came from. What the sender says of itself counts only behind a proxy that is known to add the last word.
fn address(parts: &Parts, behind_proxy: bool) -> Option<IpAddr> {
    let peer = parts.extensions.get::<Peer>().map(|Peer(peer)| peer.ip().to_canonical());
    if !behind_proxy {
        return peer;
    }
    let forwarded = parts.headers.get_all("x-forwarded-for").iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.or(peer)
}
