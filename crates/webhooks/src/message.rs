//! Writes the body and the signature headers of a message.

use engine::{Content, Parcel};
use protocol::{WebhookAnswerView, WebhookMessage};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

/// Reason why a message could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageError {
    #[error("the message cannot be serialised: {0}")]
    Unwritten(#[from] serde_json::Error),
    #[error("the message cannot be signed")]
    Unsigned,
}

/// A message with its signature.
pub(crate) struct SignedMessage {
    pub(crate) body: String,
    pub(crate) timestamp: i64,
    /// One signature for each valid secret, separated by spaces.
    pub(crate) signatures: String,
}

/// Writes and signs a message.
pub(crate) fn sign_message(parcel: &Parcel) -> Result<SignedMessage, MessageError> {
    let message =
        WebhookMessage { name: parcel.name.clone(), timestamp: parcel.happened_at, data: data(&parcel.content)? };
    let body = serde_json::to_string(&message)?;
    let (id, timestamp) = (parcel.id.to_string(), parcel.at.as_second());
    let signed = parcel.secrets.iter().map(|secret| {
        let webhook = Webhook::from_bytes(secret.to_vec()).map_err(|_| MessageError::Unsigned)?;
        webhook.sign(&id, timestamp, body.as_bytes()).map_err(|_| MessageError::Unsigned)
    });
    let signatures = signed.collect::<Result<Vec<_>, _>>()?.join(" ");
    // The receiver would refuse an unsigned message; failing here names the reason.
    if signatures.is_empty() { Err(MessageError::Unsigned) } else { Ok(SignedMessage { body, timestamp, signatures }) }
}

fn data(content: &Content) -> Result<Value, serde_json::Error> {
    match content {
        Content::Event(event) => serde_json::to_value(protocol::EventView::from(event.clone())),
        Content::Answer { interaction, lease } => {
            serde_json::to_value(WebhookAnswerView::new((**interaction).clone(), *lease))
        }
        Content::Test(webhook) => Ok(json!({ "webhook": webhook })),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Timestamp, WebhookDeliveryId, WebhookId};
    use uuid::Uuid;
    use zeroize::Zeroizing;

    use super::*;

    fn parcel(secrets: Vec<Vec<u8>>) -> Parcel {
        let id = |last: u128| Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0000 + last);
        Parcel {
            url: "https://hooks.example.com/".into(),
            id: WebhookDeliveryId::from_uuid(id(1)),
            at: Timestamp::from_second(1_767_225_661).unwrap(),
            name: "webhook.test".into(),
            happened_at: Timestamp::from_second(1_767_225_600).unwrap(),
            content: Content::Test(WebhookId::from_uuid(id(2))),
            secrets: secrets.into_iter().map(Zeroizing::new).collect(),
            patience: Duration::from_secs(1),
        }
    }

    /// The expected value was computed with another library from the specification: `base64(HMAC-SHA256(secret,
    /// id.timestamp.body))`.
    #[test]
    fn signature_matches_the_specification() {
        let body = r#"{"type":"webhook.test","timestamp":"2026-01-01T00:00:00Z","data":{"webhook":"whk_00000000-0000-7000-8000-000000000002"}}"#;
        let (one, other) =
            ("v1,fZJAMFmgykcAReunnCBc8Mc4wHo5xHSJ4d5m/65yku0=", "v1,5++0CZ/ocbcpfzo30RS8MavE3ba00up1SMpbOio1PIw=");
        let letter = sign_message(&parcel(vec![(0..32).collect(), vec![7; 24]])).unwrap();
        assert_eq!((letter.body.as_str(), letter.timestamp), (body, 1_767_225_661));
        assert_eq!(letter.signatures, format!("{one} {other}"));
        assert_eq!(sign_message(&parcel(vec![vec![7; 24]])).unwrap().signatures, other);
    }

    #[test]
    fn message_without_a_secret_is_refused() {
        assert!(matches!(sign_message(&parcel(Vec::new())), Err(MessageError::Unsigned)));
    }
}
