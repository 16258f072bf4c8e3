//! Runs an identity provider on a real socket: discovery, keys, codes with PKCE, tokens. Tests tell it to misbehave as
//! well.

use std::collections::HashMap;
use std::sync::Arc;

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RsaKeyPair};
use axum::extract::{Form, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use http::{HeaderMap, StatusCode};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;
use url::Url;

pub(crate) const CLIENT: &str = "holdpoint";
pub(crate) const SECRET: &str = "provider-secret";

/// A signing key of the provider with its public form.
struct Key {
    header: Header,
    signs: EncodingKey,
    shown: Value,
}

impl Key {
    fn rsa(kid: &str) -> Self {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
        let public = pair.public_key();
        let number = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let (n, e) = (public.modulus(), public.exponent());
        let (n, e) = (number(n.big_endian_without_leading_zero()), number(e.big_endian_without_leading_zero()));
        let signs = EncodingKey::from_rsa_pem(pem(pair.as_der().unwrap().as_ref()).as_bytes()).unwrap();
        let shown = json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": n, "e": e });
        Self { header: named(Algorithm::RS256, kid), signs, shown }
    }

    fn ec(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let point = pair.public_key().as_ref().to_vec();
        let number = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let signs = EncodingKey::from_ec_pem(pem(pair.to_pkcs8v1().unwrap().as_ref()).as_bytes()).unwrap();
        let shown = json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid,
                            "x": number(&point[1..33]), "y": number(&point[33..]) });
        Self { header: named(Algorithm::ES256, kid), signs, shown }
    }
}

fn named(algorithm: Algorithm, kid: &str) -> Header {
    Header { kid: Some(kid.to_owned()), ..Header::new(algorithm) }
}

fn pem(der: &[u8]) -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", BASE64_STANDARD.encode(der))
}

/// Claims and conditions of an authorization code.
#[derive(Clone)]
struct Grant {
    challenge: String,
    redirect: String,
    claims: Value,
    signer: Signer,
}

/// Key with which a token is signed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signer {
    /// The published RSA key.
    Rsa,
    /// The published elliptic-curve key.
    Ec,
    /// Another key under the id of the published RSA key.
    Forged,
    /// A key that is not published.
    Hidden,
    /// The client secret that both sides know.
    Shared,
    /// The token has no signature.
    Unsigned,
}

struct Inner {
    address: String,
    rsa: Key,
    ec: Key,
    other: Key,
    hidden: Key,
    shows_hidden: Mutex<bool>,
    codes: Mutex<HashMap<String, Grant>>,
}

/// An identity provider that runs in the test.
#[derive(Clone)]
pub(crate) struct Provider(Arc<Inner>);

/// Authorization request of a browser.
pub(crate) struct Request {
    query: HashMap<String, String>,
}

impl Provider {
    pub(crate) async fn start(tasks: &TaskTracker) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let provider = Self(Arc::new(Inner {
            address,
            rsa: Key::rsa("rsa-1"),
            ec: Key::ec("ec-1"),
            other: Key::rsa("rsa-1"),
            hidden: Key::rsa("rsa-2"),
            shows_hidden: Mutex::new(false),
            codes: Mutex::new(HashMap::new()),
        }));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery_document))
            .route("/jwks", get(keys))
            .route("/token", post(token))
            .with_state(provider.clone());
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        provider
    }

    pub(crate) fn issuer(&self) -> Url {
        self.0.address.parse().unwrap()
    }

    /// Publishes the hidden key.
    pub(crate) fn rotates(&self) {
        *self.0.shows_hidden.lock() = true;
    }

    /// Valid claims of a token.
    pub(crate) fn claims(&self, request: &Request, now: i64) -> Value {
        json!({ "iss": self.0.address, "aud": CLIENT, "sub": "42", "iat": now, "exp": now + 300,
                "nonce": request.query["nonce"], "preferred_username": "olga", "name": "Olga Ivanova",
                "roles": ["holdpoint-operator"] })
    }

    /// Grants a request and returns the query with which the browser returns.
    pub(crate) fn grants(&self, request: &Request, claims: Value, signer: Signer) -> String {
        let (challenge, redirect) = (request.query["code_challenge"].clone(), request.query["redirect_uri"].clone());
        let mut codes = self.0.codes.lock();
        let code = format!("code-{}", codes.len());
        codes.insert(code.clone(), Grant { challenge, redirect, claims, signer });
        format!("code={code}&state={}", request.query["state"])
    }

    fn signed(&self, claims: &Value, signer: Signer) -> String {
        let Inner { rsa, ec, other, hidden, .. } = &*self.0;
        let key = match signer {
            Signer::Rsa => rsa,
            Signer::Ec => ec,
            Signer::Forged => other,
            Signer::Hidden => hidden,
            Signer::Shared => {
                let key = EncodingKey::from_secret(SECRET.as_bytes());
                return encode(&Header::new(Algorithm::HS256), claims, &key).unwrap();
            }
            Signer::Unsigned => {
                let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
                return format!("{}.{}.", part(&json!({ "alg": "none" })), part(claims));
            }
        };
        encode(&key.header, claims, &key.signs).unwrap()
    }
}

impl Request {
    /// Reads the redirect to the provider and checks its parameters.
    pub(crate) fn read(provider: &Provider, location: &str) -> Self {
        let url: Url = location.parse().unwrap();
        assert!(location.starts_with(&format!("{}/authorize?", provider.0.address)), "{location}");
        let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let expected = [("response_type", "code"), ("client_id", CLIENT), ("code_challenge_method", "S256")];
        for (name, value) in expected {
            assert_eq!(query[name], value, "{location}");
        }
        assert_eq!(query["scope"], "openid profile email");
        assert!(query["state"].len() >= 43 && query["nonce"].len() >= 43 && query["state"] != query["nonce"]);
        Self { query }
    }
}

async fn discovery_document(State(provider): State<Provider>) -> Json<Value> {
    let at = |path: &str| format!("{}{path}", provider.0.address);
    Json(json!({
        "issuer": provider.0.address, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
        "jwks_uri": at("/jwks"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"]
    }))
}

async fn keys(State(provider): State<Provider>) -> Json<Value> {
    let mut shown = vec![provider.0.rsa.shown.clone(), provider.0.ec.shown.clone()];
    if *provider.0.shows_hidden.lock() {
        shown.push(provider.0.hidden.shown.clone());
    }
    Json(json!({ "keys": shown }))
}

/// Redeems a code once, if the client secret, the verifier and the redirect address match the request.
async fn token(
    State(provider): State<Provider>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{CLIENT}:{SECRET}")));
    let grant = provider.0.codes.lock().remove(&form["code"]);
    let verified = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
    let fits = |grant: &Grant| {
        headers["authorization"] == basic && grant.challenge == verified && grant.redirect == form["redirect_uri"]
    };
    let Some(grant) = grant.filter(fits) else {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" })));
    };
    let token = provider.signed(&grant.claims, grant.signer);
    (StatusCode::OK, Json(json!({ "access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": token })))
}
