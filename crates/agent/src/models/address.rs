//! Determines the URL of a model.

use domain::agent::{ModelChoice, Provider};
use url::Url;

use crate::model::ModelError;

/// URL that requests go to. An endpoint may be written as the provider's SDKs accept it, with or without version and
/// path.
pub(super) fn of(choice: &ModelChoice) -> Result<Url, ModelError> {
    let (own, path) = match choice.provider {
        Provider::Anthropic => ("https://api.anthropic.com", "/messages"),
        Provider::Openai | Provider::Scripted => ("https://api.openai.com", "/chat/completions"),
    };
    let mut url = Url::parse(choice.endpoint.as_deref().unwrap_or(own)).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it must not contain credentials"));
    }
    let base = url.path().trim_end_matches('/').to_owned();
    if !base.ends_with(path) {
        // An Anthropic endpoint is written without its version; an OpenAI endpoint only if it has no path.
        let versioned = base.ends_with("/v1") || (choice.provider != Provider::Anthropic && !base.is_empty());
        url.set_path(&format!("{base}{}{path}", if versioned { "" } else { "/v1" }));
    }
    Ok(url)
}

/// Whether this is OpenAI itself, whose newer models refuse parameters that compatible servers expect.
pub(super) fn is_openai(url: &Url) -> bool {
    url.domain().is_some_and(|host| {
        ["openai.com", "openai.azure.com"]
            .iter()
            .any(|own| host.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    })
}

fn refused(why: &str) -> ModelError {
    ModelError::Refused(format!("the endpoint of the model is not a valid URL: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::tests::choice;

    #[test]
    fn endpoint_is_accepted_with_or_without_the_api_path() {
        for (provider, endpoint, expected) in [
            (Provider::Openai, None, "https://api.openai.com/v1/chat/completions"),
            (Provider::Openai, Some("http://127.0.0.1:11434"), "http://127.0.0.1:11434/v1/chat/completions"),
            (Provider::Openai, Some("http://127.0.0.1:11434/v1/"), "http://127.0.0.1:11434/v1/chat/completions"),
            (Provider::Openai, Some("https://a.example/api/v3?v=2"), "https://a.example/api/v3/chat/completions?v=2"),
            (Provider::Openai, Some("https://a.example/x/chat/completions"), "https://a.example/x/chat/completions"),
            (Provider::Anthropic, None, "https://api.anthropic.com/v1/messages"),
            (Provider::Anthropic, Some("https://a.example/anthropic"), "https://a.example/anthropic/v1/messages"),
            (Provider::Anthropic, Some("https://a.example/v1"), "https://a.example/v1/messages"),
            (Provider::Anthropic, Some("https://a.example/v1/messages"), "https://a.example/v1/messages"),
        ] {
            let choice = ModelChoice { endpoint: endpoint.map(str::to_owned), ..choice(provider) };
            assert_eq!(of(&choice).unwrap().as_str(), expected);
        }
        for endpoint in ["", "localhost:80", "ftp://a.example", "https://me:secret@a.example", "unix:/run/model"] {
            let choice = ModelChoice { endpoint: Some(endpoint.to_owned()), ..choice(Provider::Openai) };
            let ModelError::Refused(message) = of(&choice).unwrap_err() else { panic!("{endpoint}") };
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn openai_is_recognised_by_its_host_name() {
        for (url, own) in [
            ("https://api.openai.com/v1", true),
            ("https://eu.api.openai.com/v1", true),
            ("https://me.openai.azure.com/openai", true),
            ("https://notopenai.com/v1", false),
            ("http://127.0.0.1:8000", false),
        ] {
            assert_eq!(is_openai(&Url::parse(url).unwrap()), own, "{url}");
        }
    }
}
