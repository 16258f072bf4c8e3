//! The web page, embedded in the binary. Assets with hashed names are cached for ever, everything else is revalidated.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::ApiError;

/// Files of the built page; empty if it was not built.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

/// The HTML document, which is served for every path of the page.
const INDEX: &str = "index.html";
/// Directory of files with hashed names.
const HASHED: &str = "assets/";
/// Prefixes of paths of the API, where an unknown path is an error instead of the page.
const PROGRAMS: &[&str] =
    &["v1", "v2", "api", "hitl", "ws", "docs", "mcp", "healthz", "readyz", "metrics", "openapi.json"];

/// The files of a page.
#[derive(Clone, Copy, Default)]
pub struct PageFiles(Option<fn(&str) -> Option<EmbeddedFile>>);

impl PageFiles {
    /// The page embedded in this binary. Without it every path without an operation is unknown.
    #[must_use]
    pub fn built() -> Self {
        Self::of::<Built>()
    }

    /// A page of other files, for tests.
    #[must_use]
    pub fn of<Files: RustEmbed>() -> Self {
        Self(Some(Files::get))
    }

    fn file(self, path: &str) -> Option<EmbeddedFile> {
        self.0?(path)
    }

    /// Replies to a path without an operation. The nonce belongs to this reply.
    pub(crate) fn reply(self, method: &Method, uri: &Uri, headers: &HeaderMap, nonce: &str) -> Response {
        let path = uri.path().trim_start_matches('/');
        let first = path.split('/').next().unwrap_or_default();
        if ![Method::GET, Method::HEAD].contains(method) || PROGRAMS.contains(&first) {
            return ApiError::NoRoute.into_response();
        }
        match self.file(path).filter(|_| path != INDEX) {
            Some(file) => file_response(path, file, headers),
            None if path.starts_with(HASHED) => ApiError::NoRoute.into_response(),
            None => self.index(nonce),
        }
    }

    fn index(self, nonce: &str) -> Response {
        let Some(file) = self.file(INDEX) else { return ApiError::NoRoute.into_response() };
        let mut response = Body::from(filled(&String::from_utf8_lossy(&file.data), nonce)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match HeaderValue::try_from(policy(nonce)) {
            Ok(policy) => headers.insert(CONTENT_SECURITY_POLICY, policy),
            Err(_) => return ApiError::Panicked.into_response(),
        };
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        guarded(response)
    }
}

/// Replies with a file. A hashed name is cached for ever; other files are revalidated.
fn file_response(path: &str, file: EmbeddedFile, asked: &HeaderMap) -> Response {
    let hash = domain::hex(&file.metadata.sha256_hash());
    // A weak tag, because the file may be compressed.
    let tag = format!("W/\"{hash}\"");
    let known = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',')).any(|value| value.trim() == tag);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(file.data.clone().into_owned()).into_response()
    };
    let kept = if path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    if let (Ok(kind), Ok(tag)) = (HeaderValue::try_from(file.metadata.mimetype()), HeaderValue::try_from(tag)) {
        headers.insert(CONTENT_TYPE, kind);
        headers.insert(ETAG, tag);
    }
    guarded(response)
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// Inserts the nonce into the document.
fn filled(document: &str, nonce: &str) -> String {
    let tag = format!("<meta name=\"csp-nonce\" content=\"{nonce}\">");
    let there = document.find("name=\"csp-nonce\"");
    let place = there.and_then(|name| {
        let begin = document[..name].rfind('<')?;
        let end = name + document[name..].find('>')? + 1;
        Some((begin, end))
    });
    let place = place.or_else(|| document.find("</head>").map(|end| (end, end)));
    match place {
        Some((begin, end)) => format!("{}{tag}{}", &document[..begin], &document[end..]),
        None => document.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_is_written_into_the_meta_tag_of_the_page() {
        let check = |document: &str, expected: &str| assert_eq!(filled(document, "abc"), expected);
        let tag = "<meta name=\"csp-nonce\" content=\"abc\">";
        check("<head><meta name=\"csp-nonce\" content=\"__X__\" /><b>", &format!("<head>{tag}<b>"));
        check("<head><meta content=\"\" name=\"csp-nonce\"><b>", &format!("<head>{tag}<b>"));
        check("<head><title>x</title></head>", &format!("<head><title>x</title>{tag}</head>"));
        check("text", "text");
    }
}
