//! From a request to an authenticated caller.

use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use axum_extra::extract::CookieJar;
use domain::{Caller, Credential, EntryPoint};
use engine::Error;
use http::HeaderValue;
use http::header::{AUTHORIZATION, UPGRADE};
use http::request::Parts;

use crate::App;
use crate::connection::{Network, Places};
use crate::cookie;
use crate::error::ApiError;
use crate::replies::Addressee;
use crate::taken::only_taken;

/// How long a path with its query may be, in bytes. No operation needs a tenth of it.
const LONGEST: usize = 8 * 1024;

/// Whoever sent the request. A handler that takes one cannot be reached without a good key, or the cookie of a browser in which a
/// person has signed in.
pub(crate) struct Who(pub(crate) Caller);

/// Whoever opens a stream or a socket. A browser can send no key there: it sends a ticket in the query, or its cookie; and
/// because any site can have it open a socket with our cookie, that must come from our own page.
pub(crate) struct Reading(pub(crate) Caller);

/// Whoever has not signed in yet: where they come from, where that is known. Other sites are refused.
pub(crate) struct Stranger(pub(crate) Option<IpAddr>);

/// Whoever comes from the identity provider, which is another site: where they come from, where that is known.
pub(crate) struct Traveller(pub(crate) Option<IpAddr>);

/// Where links in the reply to a request lead to, without a slash at the end.
pub(crate) struct Base(pub(crate) String);

/// The other end of the connection that a request came through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl FromRequestParts<App> for Who {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        short_enough(parts)?;
        let caller = match parts.headers.get(AUTHORIZATION) {
            Some(header) => by_key(parts, header, app).await?,
            None => by_cookie(parts, app).await?,
        };
        within_rate(app, &caller)?;
        only_taken(parts)?;
        Ok(Self(placed(parts, app, caller)?))
    }
}

impl FromRequestParts<App> for Reading {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        short_enough(parts)?;
        let caller = match (parts.headers.get(AUTHORIZATION), ticket(parts)) {
            (Some(header), _) => by_key(parts, header, app).await?,
            (None, Some(ticket)) => shown(parts, app, None, app.engine.authenticate_ticket(&ticket)).await?,
            (None, None) => {
                let caller = by_cookie(parts, app).await?;
                if parts.headers.contains_key(UPGRADE) {
                    app.front.sent_by_our_page(&parts.headers)?;
                }
                caller
            }
        };
        within_rate(app, &caller)?;
        only_taken(parts)?;
        Ok(Self(placed(parts, app, caller)?))
    }
}

/// A caller with where they come from, and by which door: the wires of other systems are marked by their routers.
fn placed(parts: &Parts, app: &App, caller: Caller) -> Result<Caller, ApiError> {
    let entry_point = parts.extensions.get().copied().unwrap_or(EntryPoint::Http);
    if let Some(addressee) = parts.extensions.get::<Addressee>() {
        addressee.is(&caller, &app.replies)?;
    }
    Ok(Caller { from: address(parts, app.limits.behind_proxy), entry_point, ..caller })
}

fn short_enough(parts: &Parts) -> Result<(), ApiError> {
    if parts.uri.path_and_query().is_some_and(|text| text.as_str().len() > LONGEST) {
        return Err(ApiError::UriTooLong(LONGEST));
    }
    Ok(())
}

/// Counts one thing that a caller wants, be it a request or a message.
pub(crate) fn within_rate(app: &App, caller: &Caller) -> Result<(), ApiError> {
    let credential = match caller.credential {
        Credential::Key(key) => key.uuid(),
        Credential::Visit(visit) => visit.uuid(),
        Credential::Worker => return Err(ApiError::NoCredential),
    };
    match (&app.rates, app.limits.rate) {
        (Some(rates), Some(rate)) if rates.check_key(&credential).is_err() => Err(ApiError::RateLimited(rate.get())),
        _ => Ok(()),
    }
}

fn ticket(parts: &Parts) -> Option<String> {
    let query: Vec<(String, String)> = serde_urlencoded::from_str(parts.uri.query()?).ok()?;
    query.into_iter().find(|(name, _)| name == "ticket").map(|(_, text)| text)
}

impl FromRequestParts<App> for Stranger {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        app.front.same_origin(&parts.headers)?;
        only_taken(parts)?;
        Ok(Self(address(parts, app.limits.behind_proxy)))
    }
}

impl FromRequestParts<App> for Traveller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self(address(parts, app.limits.behind_proxy)))
    }
}

impl FromRequestParts<App> for Base {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Ok(Self(app.front.base(&parts.extensions)))
    }
}

/// What strangers are counted by in place of their address.
pub(crate) fn network(from: Option<IpAddr>) -> Option<IpAddr> {
    from.map(|from| Network::of(from).0)
}

/// Finds out who somebody is, unless too many credentials from their address were not good. The connection counts for them from then on.
async fn shown(
    parts: &Parts,
    app: &App,
    credential: Option<&str>,
    authenticating: impl Future<Output = Result<Caller, Error>>,
) -> Result<Caller, ApiError> {
    let from = address(parts, app.limits.behind_proxy);
    app.strangers.may_try(from, credential)?;
    match authenticating.await {
        Ok(caller) => {
            if let Some(credential) = credential {
                app.strangers.succeeded(credential);
            }
            if let Some(places) = parts.extensions.get::<Places>() {
                places.count_for(&caller)?;
            }
            Ok(caller)
        }
        Err(error) => {
            if error == Error::Unauthenticated {
                app.strangers.failed(from);
            }
            Err(error.into())
        }
    }
}

async fn by_key(parts: &Parts, header: &HeaderValue, app: &App) -> Result<Caller, ApiError> {
    let text = header.to_str().map_err(|_| ApiError::NoCredential)?;
    let (scheme, key) = text.split_once(' ').ok_or(ApiError::NoCredential)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(ApiError::NoCredential);
    }
    let key = key.trim();
    shown(parts, app, Some(key), app.engine.authenticate(key)).await
}

/// A browser sends its cookie with whatever any site has it send: what changes something must come from our page.
async fn by_cookie(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let jar = CookieJar::from_headers(&parts.headers);
    let visit = cookie::signed_in_with(&app.front, &jar).ok_or(ApiError::NoCredential)?;
    app.front.same_site(&parts.method, &parts.headers)?;
    shown(parts, app, Some(visit), app.engine.authenticate_visit(visit)).await
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
