//! Signing in through an identity provider: `OpenID` Connect, the code flow with PKCE, state and nonce.
//!
//! The state of an attempt is kept by the browser in a cookie of ten minutes, so that any node can handle the callback.

mod claims;
mod fetch;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::Timestamp;
use engine::Identity;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthorizationCode, ClaimsVerificationError, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IdToken, IdTokenFields, IssuerUrl, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, Scope, SignatureVerificationError, StandardErrorResponse, StandardTokenResponse,
    TokenResponse,
};
use protocol::ProviderView;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

use self::claims::OtherClaims;
use self::fetch::Fetch;

/// Path at which a sign-in starts.
pub(crate) const START: &str = "/sign-in/oidc/start";
/// Path to which the provider redirects.
pub(crate) const CALLBACK: &str = "/sign-in/oidc/callback";
/// Time for which the metadata of the provider is cached.
const METADATA_LIFETIME: Duration = Duration::from_hours(1);
/// Minimum interval between refreshes because of an unknown signing key.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);
/// Accepted signature algorithms: asymmetric keys of the provider, never a shared secret.
const SIGNATURE_ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

type Fields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Token = IdToken<OtherClaims, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;
type OidcClient = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Settings of the identity provider.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// Issuer URL of the provider.
    pub issuer: Url,
    /// Client id of this server.
    pub client_id: String,
    /// Client secret, if the provider requires one.
    pub client_secret: Option<String>,
    /// Name of the claim with the role; dots select nested fields.
    pub role_claim: String,
    /// Name of the claim that names new people; dots select nested fields. If absent: the verified mail address, else
    /// the subject.
    pub name_claim: Option<String>,
    /// Names of the tenant and the project that people of this provider join.
    pub project: (String, String),
}

/// An identity provider at which people sign in.
#[derive(Clone)]
pub struct Oidc(Arc<OidcState>);

struct OidcState {
    settings: OidcSettings,
    fetch: Fetch,
    known: Mutex<CachedMetadata>,
}

/// Cached metadata of the provider, the time of the request, and the time of the last refresh because of an unknown
/// key.
#[derive(Default)]
struct CachedMetadata {
    metadata: Option<(Instant, CoreProviderMetadata)>,
    keys_refreshed_at: Option<Instant>,
}

impl CachedMetadata {
    /// The cached metadata, unless it is too old, or a refresh for an unknown key is due.
    fn fresh(&mut self, for_keys: bool) -> Option<CoreProviderMetadata> {
        if for_keys && self.keys_refreshed_at.is_none_or(|at| at.elapsed() >= REFRESH_INTERVAL) {
            self.keys_refreshed_at = Some(Instant::now());
            return None;
        }
        self.metadata.as_ref().filter(|(at, _)| at.elapsed() < METADATA_LIFETIME).map(|(_, metadata)| metadata.clone())
    }
}

/// Secrets of one sign-in attempt, kept by the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignInAttempt {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: String,
}

/// Reason why a sign-in failed. The log has the details; the browser only learns that it failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OidcError {
    #[error("the provider cannot be used: {0}")]
    Provider(String),
    #[error("the code was not exchanged: {0}")]
    Exchange(String),
    #[error("the token is not accepted: {0}")]
    Token(#[from] ClaimsVerificationError),
    #[error("the provider gives no role in `{claim}`")]
    NoRole {
        claim: String,
        /// Issuer and subject of the person.
        subject: String,
    },
}

impl Oidc {
    /// Configures a provider. Its metadata is requested at the first sign-in.
    pub fn new(settings: OidcSettings) -> Result<Self, String> {
        let fetch = Fetch::new().map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(OidcState { settings, fetch, known: Mutex::default() })))
    }

    pub(crate) fn view(&self) -> ProviderView {
        let label = self.0.settings.issuer.host_str().unwrap_or_default().to_owned();
        ProviderView { label, url: START.to_owned() }
    }

    pub(crate) fn project(&self) -> (String, String) {
        self.0.settings.project.clone()
    }

    /// URL of the provider to which the browser is redirected.
    pub(crate) async fn authorization_url(&self, base: &str, attempt: &SignInAttempt) -> Result<Url, OidcError> {
        let provider = self.provider(base, false).await?;
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(attempt.verifier.clone()));
        let (state, nonce) = (attempt.state.clone(), attempt.nonce.clone());
        let request = provider.authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || CsrfToken::new(state),
            move || Nonce::new(nonce),
        );
        let scopes = ["profile", "email"].map(|scope| Scope::new(scope.to_owned()));
        Ok(request.add_scopes(scopes).set_pkce_challenge(challenge).url().0)
    }

    /// Exchanges the code for a token, and verifies the token.
    pub(crate) async fn exchange_code(
        &self,
        base: &str,
        code: String,
        attempt: &SignInAttempt,
        now: Timestamp,
    ) -> Result<Identity, OidcError> {
        let provider = self.provider(base, false).await?;
        let request = provider
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| OidcError::Provider(error.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(attempt.verifier.clone()));
        let tokens =
            request.request_async(&self.0.fetch).await.map_err(|error| OidcError::Exchange(error_chain(&error)))?;
        let token = tokens.id_token().ok_or_else(|| OidcError::Exchange("there is no id token".into()))?;
        let settings = &self.0.settings;
        match verified_person(&provider, token, attempt, now, settings) {
            Err(OidcError::Token(error)) if is_unknown_key(&error) => {
                // The provider may have rotated its keys.
                let provider = self.provider(base, true).await?;
                verified_person(&provider, token, attempt, now, settings)
            }
            other => other,
        }
    }

    /// Client with the metadata of the provider; `for_keys` requests a refresh because of an unknown key.
    async fn provider(&self, base: &str, for_keys: bool) -> Result<OidcClient, OidcError> {
        let OidcSettings { client_id, client_secret, .. } = &self.0.settings;
        let mut known = self.0.known.lock().await;
        let metadata = if let Some(metadata) = known.fresh(for_keys) {
            metadata
        } else {
            let metadata = self.discover().await?;
            known.metadata = Some((Instant::now(), metadata.clone()));
            metadata
        };
        drop(known);
        let back = RedirectUrl::new(format!("{base}{CALLBACK}"));
        let back = back.map_err(|error| OidcError::Provider(error.to_string()))?;
        let secret = client_secret.clone().map(ClientSecret::new);
        let provider = Client::from_provider_metadata(metadata, ClientId::new(client_id.clone()), secret);
        Ok(provider.set_redirect_uri(back))
    }

    /// Requests the metadata. The issuer may be with or without a trailing slash, which a parsed URL does not preserve:
    /// both are tried.
    async fn discover(&self) -> Result<CoreProviderMetadata, OidcError> {
        let issuer = self.0.settings.issuer.as_str();
        let mut refused = OidcError::Provider(String::new());
        for name in [issuer.trim_end_matches('/'), issuer] {
            let name = IssuerUrl::new(name.to_owned()).map_err(|error| OidcError::Provider(error.to_string()))?;
            match CoreProviderMetadata::discover_async(name, &self.0.fetch).await {
                Ok(metadata) => return Ok(metadata),
                Err(error) => refused = OidcError::Provider(error_chain(&error)),
            }
        }
        Err(refused)
    }
}

fn verified_person(
    provider: &OidcClient,
    token: &Token,
    attempt: &SignInAttempt,
    now: Timestamp,
    settings: &OidcSettings,
) -> Result<Identity, OidcError> {
    let now = DateTime::<Utc>::from_timestamp(now.as_second(), 0).unwrap_or_default();
    let verifier = provider.id_token_verifier().set_allowed_algs(SIGNATURE_ALGORITHMS).set_time_fn(move || now);
    let claims = token.claims(&verifier, &Nonce::new(attempt.nonce.clone()))?;
    claims::identity(claims, settings)
}

fn is_unknown_key(error: &ClaimsVerificationError) -> bool {
    use ClaimsVerificationError::SignatureVerification;
    matches!(
        error,
        SignatureVerification(SignatureVerificationError::NoMatchingKey | SignatureVerificationError::CryptoError(_))
    )
}

/// Text of an error and its sources.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(behind) = cause {
        text = format!("{text}: {behind}");
        cause = behind.source();
    }
    text
}
