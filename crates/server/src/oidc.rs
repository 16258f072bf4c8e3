//! Signing in through an identity provider: `OpenID` Connect, the code flow with PKCE, state and nonce.
//!
//! What is asked stays in the browser that asks, in a cookie of ten minutes: any node can take the answer.

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

use self::claims::More;
use self::fetch::Fetch;

/// Where a browser begins.
pub(crate) const START: &str = "/sign-in/oidc/start";
/// Where it comes back to.
pub(crate) const CALLBACK: &str = "/sign-in/oidc/callback";
/// How long what a provider says of itself is believed.
const BELIEVED: Duration = Duration::from_secs(3600);
/// How soon it is asked again because of a key that is not known.
const AGAIN_AFTER: Duration = Duration::from_secs(10);
/// What may have signed a token: keys of the provider, never a secret that we share with it.
const SIGNED_WITH: [CoreJwsSigningAlgorithm; 9] = [
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
    More,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Token = IdToken<More, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;
type Provider = Client<
    More,
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

/// Which provider, and what its word is worth.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    /// The provider's address, as it calls itself.
    pub issuer: Url,
    /// What the provider calls us.
    pub client_id: String,
    /// What we prove ourselves to it with, where it wants that.
    pub client_secret: Option<String>,
    /// The claim that has the role; dots lead into objects.
    pub role_claim: String,
    /// The claim that names people when they first come; dots lead into objects. If absent: the verified mail address, else the subject.
    pub name_claim: Option<String>,
    /// The tenant and project where its people belong, by name.
    pub place: (String, String),
}

/// An identity provider.
#[derive(Clone)]
pub struct Oidc(Arc<Inner>);

struct Inner {
    settings: OidcSettings,
    fetch: Fetch,
    known: Mutex<Known>,
}

/// What a provider says of itself, and when it was asked; when it was last asked because of a key that was not known.
#[derive(Default)]
struct Known {
    metadata: Option<(Instant, CoreProviderMetadata)>,
    keys_sought_at: Option<Instant>,
}

impl Known {
    /// What it said, unless that was too long ago, or new keys are sought and may be.
    fn fresh(&mut self, for_keys: bool) -> Option<CoreProviderMetadata> {
        if for_keys && self.keys_sought_at.is_none_or(|at| at.elapsed() >= AGAIN_AFTER) {
            self.keys_sought_at = Some(Instant::now());
            return None;
        }
        self.metadata.as_ref().filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, metadata)| metadata.clone())
    }
}

/// What a provider is asked: the secrets of one attempt to sign in, kept by the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: String,
}

/// Why a provider's word was not taken. The log has it; the browser is told that it did not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the provider cannot be used: {0}")]
    Provider(String),
    #[error("the code was not exchanged: {0}")]
    Exchange(String),
    #[error("the token is not believed: {0}")]
    Token(#[from] ClaimsVerificationError),
    #[error("the provider gives no role in `{claim}`")]
    NoRole {
        claim: String,
        /// Issuer and subject of the person.
        subject: String,
    },
}

impl Oidc {
    /// Knows a provider. It is asked about itself when somebody first signs in.
    pub fn new(settings: OidcSettings) -> Result<Self, String> {
        let fetch = Fetch::new().map_err(|error| error.to_string())?;
        Ok(Self(Arc::new(Inner { settings, fetch, known: Mutex::default() })))
    }

    pub(crate) fn view(&self) -> ProviderView {
        let label = self.0.settings.issuer.host_str().unwrap_or_default().to_owned();
        ProviderView { label, url: START.to_owned() }
    }

    pub(crate) fn place(&self) -> (String, String) {
        self.0.settings.place.clone()
    }

    /// Where the browser goes to be asked by the provider.
    pub(crate) async fn ask(&self, base: &str, asked: &Asked) -> Result<Url, Refused> {
        let provider = self.provider(base, false).await?;
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(asked.verifier.clone()));
        let (state, nonce) = (asked.state.clone(), asked.nonce.clone());
        let request = provider.authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || CsrfToken::new(state),
            move || Nonce::new(nonce),
        );
        let scopes = ["profile", "email"].map(|scope| Scope::new(scope.to_owned()));
        Ok(request.add_scopes(scopes).set_pkce_challenge(challenge).url().0)
    }

    /// Takes the provider's answer: the code for a token, the token for a person.
    pub(crate) async fn answer(
        &self,
        base: &str,
        code: String,
        asked: &Asked,
        now: Timestamp,
    ) -> Result<Identity, Refused> {
        let provider = self.provider(base, false).await?;
        let request = provider
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| Refused::Provider(error.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(asked.verifier.clone()));
        let tokens =
            request.request_async(&self.0.fetch).await.map_err(|error| Refused::Exchange(described(&error)))?;
        let token = tokens.id_token().ok_or_else(|| Refused::Exchange("there is no id token".into()))?;
        let settings = &self.0.settings;
        match believed(&provider, token, asked, now, settings) {
            Err(Refused::Token(error)) if unknown_key(&error) => {
                // It may have new keys since.
                let provider = self.provider(base, true).await?;
                believed(&provider, token, asked, now, settings)
            }
            other => other,
        }
    }

    /// The provider as it describes itself, asked again where its keys may be new.
    async fn provider(&self, base: &str, for_keys: bool) -> Result<Provider, Refused> {
        let OidcSettings { client_id, client_secret, .. } = &self.0.settings;
        let mut known = self.0.known.lock().await;
        let metadata = match known.fresh(for_keys) {
            Some(metadata) => metadata,
            None => {
                let metadata = self.discovered().await?;
                known.metadata = Some((Instant::now(), metadata.clone()));
                metadata
            }
        };
        drop(known);
        let back = RedirectUrl::new(format!("{base}{CALLBACK}"));
        let back = back.map_err(|error| Refused::Provider(error.to_string()))?;
        let secret = client_secret.clone().map(ClientSecret::new);
        let provider = Client::from_provider_metadata(metadata, ClientId::new(client_id.clone()), secret);
        Ok(provider.set_redirect_uri(back))
    }

    /// Asks the provider. It calls itself with a slash at the end or without, and an address that was parsed does not tell.
    async fn discovered(&self) -> Result<CoreProviderMetadata, Refused> {
        let issuer = self.0.settings.issuer.as_str();
        let mut refused = Refused::Provider(String::new());
        for name in [issuer.trim_end_matches('/'), issuer] {
            let name = IssuerUrl::new(name.to_owned()).map_err(|error| Refused::Provider(error.to_string()))?;
            match CoreProviderMetadata::discover_async(name, &self.0.fetch).await {
                Ok(metadata) => return Ok(metadata),
                Err(error) => refused = Refused::Provider(described(&error)),
            }
        }
        Err(refused)
    }
}

fn believed(
    provider: &Provider,
    token: &Token,
    asked: &Asked,
    now: Timestamp,
    settings: &OidcSettings,
) -> Result<Identity, Refused> {
    let now = DateTime::<Utc>::from_timestamp(now.as_second(), 0).unwrap_or_default();
    let verifier = provider.id_token_verifier().set_allowed_algs(SIGNED_WITH).set_time_fn(move || now);
    let claims = token.claims(&verifier, &Nonce::new(asked.nonce.clone()))?;
    claims::identity(claims, settings)
}

fn unknown_key(error: &ClaimsVerificationError) -> bool {
    use ClaimsVerificationError::SignatureVerification;
    matches!(
        error,
        SignatureVerification(SignatureVerificationError::NoMatchingKey | SignatureVerificationError::CryptoError(_))
    )
}

/// An error with what lies behind it.
fn described(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(behind) = cause {
        text = format!("{text}: {behind}");
        cause = behind.source();
    }
    text
}
