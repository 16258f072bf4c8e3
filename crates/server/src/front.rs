//! The server as browsers see it: its public address, its page, its identity provider, and the checks against
//! cross-site requests.

use std::net::SocketAddr;

use http::header::{HOST, ORIGIN};
use http::{Extensions, HeaderMap, Method};
use url::Url;

use crate::error::ApiError;
use crate::oidc::Oidc;
use crate::page::PageFiles;

/// Header that only the page of this server sends: another site would need a CORS preflight.
const PAGE: &str = "x-holdpoint-page";

/// The server as browsers see it.
#[derive(Clone, Default)]
pub struct Front {
    /// Public URL, if it differs from the listening address.
    pub public: Option<Url>,
    /// The web page, if it was built.
    pub page: PageFiles,
    /// The identity provider, if configured.
    pub oidc: Option<Oidc>,
    /// Whether programs of agents run unconfined, with all rights of this process.
    pub unconfined: bool,
}

/// Local address at which a connection was accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) SocketAddr);

impl Front {
    /// Whether browsers use TLS, so that cookies are sent over TLS only.
    pub(crate) fn is_secure(&self) -> bool {
        self.public.as_ref().is_some_and(|public| public.scheme() == "https")
    }

    /// URL of the server, without a slash at the end: the configured public URL, else the address at which the
    /// connection was accepted. `Host` is never used, because any client can set it.
    pub(crate) fn base(&self, request: &Extensions) -> String {
        match (&self.public, request.get::<LocalAddress>()) {
            (Some(public), _) => public.as_str().trim_end_matches('/').to_owned(),
            (None, Some(LocalAddress(address))) => format!("http://{}", canonical(*address)),
            (None, None) => "http://127.0.0.1:8420".to_owned(),
        }
    }

    /// Refuses a request with our cookie that another site made the browser send.
    pub(crate) fn same_site(&self, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
        if method.is_safe() {
            return Ok(());
        }
        let marked = text(headers, PAGE) == Some("1");
        if marked { self.same_origin(headers) } else { Err(ApiError::CrossSite) }
    }

    /// Refuses a request that the browser marks as coming from another site.
    pub(crate) fn same_origin(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let fetched = headers.get_all("sec-fetch-site").iter().all(|site| site == "same-origin" || site == "none");
        let ours = headers.get_all(ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(|o| self.is_ours(o, headers)));
        if fetched && ours { Ok(()) } else { Err(ApiError::CrossSite) }
    }

    /// Refuses a socket opened with our cookie by another site, or without an `Origin`.
    pub(crate) fn sent_by_our_page(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if headers.contains_key(ORIGIN) { self.same_origin(headers) } else { Err(ApiError::CrossSite) }
    }

    fn is_ours(&self, origin: &str, headers: &HeaderMap) -> bool {
        if let Some(public) = &self.public {
            return public.origin().ascii_serialization() == origin;
        }
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some() && authority == text(headers, HOST.as_str())
    }
}

/// Canonical form of an address: an IPv6 socket shows IPv4 addresses as mapped ones.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(public: Option<&str>, headers: &[(&'static str, &str)], fine: bool) {
        let front = Front { public: public.map(|url| url.parse().unwrap()), ..Front::default() };
        let sent: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        assert_eq!(front.same_site(&Method::POST, &sent).is_ok(), fine, "{public:?} {headers:?}");
        assert!(front.same_site(&Method::GET, &sent).is_ok());
    }

    #[test]
    fn only_requests_of_the_servers_own_page_pass_the_cross_site_check() {
        let (page, host) = (("x-holdpoint-page", "1"), ("host", "127.0.0.1:8420"));
        check(None, &[host], false);
        check(None, &[host, ("x-holdpoint-page", "0")], false);
        check(None, &[host, page], true);
        check(None, &[host, page, ("origin", "http://127.0.0.1:8420")], true);
        check(None, &[host, page, ("origin", "http://127.0.0.1:8421")], false);
        check(None, &[host, page, ("origin", "http://evil.example")], false);
        check(None, &[host, page, ("origin", "null")], false);
        check(None, &[page, ("origin", "http://evil.example")], false);
        check(None, &[host, page, ("sec-fetch-site", "same-origin")], true);
        check(None, &[host, page, ("sec-fetch-site", "same-site")], false);
        check(None, &[host, page, ("sec-fetch-site", "cross-site")], false);
        let public = Some("https://hp.example.org/");
        check(public, &[host, page, ("origin", "https://hp.example.org")], true);
        check(public, &[host, page, ("origin", "http://hp.example.org")], false);
        check(public, &[host, page, ("origin", "http://127.0.0.1:8420")], false);
    }

    #[test]
    fn socket_with_a_cookie_requires_the_servers_own_origin() {
        let check = |headers: &[(&'static str, &str)], fine: bool| {
            let sent: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(Front::default().sent_by_our_page(&sent).is_ok(), fine, "{headers:?}");
        };
        let host = ("host", "127.0.0.1:8420");
        check(&[host], false);
        check(&[host, ("origin", "http://127.0.0.1:8420")], true);
        check(&[host, ("origin", "http://evil.example")], false);
        check(&[host, ("origin", "null")], false);
    }

    #[test]
    fn links_use_the_public_url_or_else_the_listening_address() {
        let mut request = Extensions::new();
        assert_eq!(Front::default().base(&request), "http://127.0.0.1:8420");
        request.insert(LocalAddress("[::ffff:10.0.0.1]:8420".parse().unwrap()));
        assert_eq!(Front::default().base(&request), "http://10.0.0.1:8420");
        let front = Front { public: Some("https://hp.example.org/".parse().unwrap()), ..Front::default() };
        assert_eq!(front.base(&request), "https://hp.example.org");
        assert!(front.is_secure() && !Front::default().is_secure());
    }
}
