//! Extractors that authenticate the caller of a request.

use std::net::{IpAddr, SocketAddr};

use axum::extract::FromRequestParts;
use axum_extra::extract::CookieJar;
use domain::{Caller, Credential, EntryPoint};
use engine::Error;
use http::HeaderValue;
use http::header::{AUTHORIZATION, UPGRADE};
use http::request::Parts;

use crate::App;
use crate::connection::{ConnectionSlots, Network};
use crate::cookie;
use crate::error::ApiError;
use crate::params::refuse_unknown;
use crate::replies::Addressee;

/// Maximum length of a path with its query in bytes. No operation needs a tenth of it.
const LONGEST: usize = 8 * 1024;

/// Extractor of the authenticated caller. A handler that takes it cannot be reached without a valid key, or the cookie
/// of a browser in which a person has signed in.
pub struct Authenticated(pub Caller);

/// Extractor of the authenticated caller of a stream or socket. A browser cannot send a key there: it sends a ticket in
/// the query, or its cookie. A socket opened with the cookie must come from the page of this server, because any site
/// can make a browser open one.
pub struct StreamCaller(pub Caller);

/// Extractor for sign-in requests: the address of the client, if known. Requests from other sites are refused.
pub(crate) struct SignInClient(pub(crate) Option<IpAddr>);

/// Extractor for redirects from the identity provider, which is another site: the address of the client, if known.
pub(crate) struct RedirectedClient(pub(crate) Option<IpAddr>);

/// Extractor of the base URL for links in the reply, without a slash at the end.
pub(crate) struct Base(pub(crate) String);

/// Address of the peer of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl FromRequestParts<App> for Authenticated {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        check_length(parts)?;
        let caller = match parts.headers.get(AUTHORIZATION) {
            Some(header) => by_key(parts, header, app).await?,
            None => by_cookie(parts, app).await?,
        };
        check_rate(app, &caller)?;
        refuse_unknown(parts)?;
        Ok(Self(with_origin(parts, app, caller)?))
    }
}

impl FromRequestParts<App> for StreamCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        check_length(parts)?;
        let caller = match (parts.headers.get(AUTHORIZATION), ticket(parts)) {
            (Some(header), _) => by_key(parts, header, app).await?,
            (None, Some(ticket)) => authenticate(parts, app, None, app.engine.authenticate_ticket(&ticket)).await?,
            (None, None) => {
                let caller = by_cookie(parts, app).await?;
                if parts.headers.contains_key(UPGRADE) {
                    app.front.sent_by_our_page(&parts.headers)?;
                }
                caller
            }
        };
        check_rate(app, &caller)?;
        refuse_unknown(parts)?;
        Ok(Self(with_origin(parts, app, caller)?))
    }
}

/// Adds the client address and the entry point to the caller. Routers of dialects mark their requests with an
/// extension.
fn with_origin(parts: &Parts, app: &App, caller: Caller) -> Result<Caller, ApiError> {
    let entry_point = parts.extensions.get().copied().unwrap_or(EntryPoint::Http);
    if let Some(addressee) = parts.extensions.get::<Addressee>() {
        addressee.is(&caller, &app.replies)?;
    }
    Ok(Caller { from: address(parts, app.limits.behind_proxy), entry_point, ..caller })
}

fn check_length(parts: &Parts) -> Result<(), ApiError> {
    if parts.uri.path_and_query().is_some_and(|text| text.as_str().len() > LONGEST) {
        return Err(ApiError::UriTooLong(LONGEST));
    }
    Ok(())
}

/// Counts a request or a socket message against the rate limit of the caller.
pub(crate) fn check_rate(app: &App, caller: &Caller) -> Result<(), ApiError> {
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

impl FromRequestParts<App> for SignInClient {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        app.front.same_origin(&parts.headers)?;
        refuse_unknown(parts)?;
        Ok(Self(address(parts, app.limits.behind_proxy)))
    }
}

impl FromRequestParts<App> for RedirectedClient {
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

/// Network by which unauthenticated clients are counted.
pub(crate) fn network(from: Option<IpAddr>) -> Option<IpAddr> {
    from.map(|from| Network::of(from).0)
}

/// Authenticates a credential, unless the address has sent too many invalid ones. From then on the connection counts
/// for this caller.
async fn authenticate(
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
                app.strangers.record_success(credential);
            }
            if let Some(slots) = parts.extensions.get::<ConnectionSlots>() {
                slots.count_for(&caller)?;
            }
            Ok(caller)
        }
        Err(error) => {
            if error == Error::Unauthenticated {
                app.strangers.record_failure(from);
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
    authenticate(parts, app, Some(key), app.engine.authenticate(key)).await
}

/// Authenticates by cookie. A browser sends the cookie with requests of any site, so that a request that changes
/// something must come from our page.
async fn by_cookie(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let jar = CookieJar::from_headers(&parts.headers);
    let visit = cookie::signed_in_with(&app.front, &jar).ok_or(ApiError::NoCredential)?;
    app.front.same_site(&parts.method, &parts.headers)?;
    authenticate(parts, app, Some(visit), app.engine.authenticate_visit(visit)).await
}

/// Address of the client. `X-Forwarded-For` is read only behind a proxy that is configured to append to it.
fn address(parts: &Parts, behind_proxy: bool) -> Option<IpAddr> {
    let peer = parts.extensions.get::<Peer>().map(|Peer(peer)| peer.ip().to_canonical());
    if !behind_proxy {
        return peer;
    }
    let forwarded = parts.headers.get_all("x-forwarded-for").iter().next_back();
    let last = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.or(peer)
}
