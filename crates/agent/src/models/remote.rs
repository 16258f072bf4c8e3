//! A model over the network: sends a request, reads the answer, and retries where that may help.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use domain::agent::{ModelChoice, Provider};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use zeroize::Zeroizing;

use super::events::{beginning, events, silence};
use super::fault::{Fault, Reason, readable};
use super::http::{HttpResponse, Transport};
use super::names::ToolNames;
use super::retry::TimeLimits;
use super::turn_builder::{OnDelta, TurnBuilder};
use super::{address, anthropic, openai};
use crate::model::{Delta, Model, ModelError, Request, Turn};

/// A model over the network.
pub(super) struct RemoteModel {
    choice: ModelChoice,
    key: Option<Zeroizing<String>>,
    transport: Box<dyn Transport>,
    pace: TimeLimits,
}

/// Reader of the events of one answer, in the format of one provider.
pub(super) trait StreamReader: Send {
    /// Reads the data of one event; returns true when the provider says that the turn is over.
    fn read_event(&mut self, data: &str, draft: &mut TurnBuilder, on_delta: OnDelta<'_>) -> Result<bool, Fault>;
    /// Whether a stream that ends without a last event is a complete turn.
    fn is_whole(&self) -> bool;
    /// Completes the turn with the data that the provider expects back, or returns the reason why the turn cannot be
    /// used.
    fn finish(self: Box<Self>, draft: &mut TurnBuilder) -> Result<(), Fault>;
}

impl RemoteModel {
    /// Creates a model that sends its requests through a transport.
    pub(super) fn new(
        choice: &ModelChoice,
        key: Option<Zeroizing<String>>,
        transport: Box<dyn Transport>,
        pace: TimeLimits,
    ) -> Self {
        Self { choice: choice.clone(), key, transport, pace }
    }

    fn body(&self, request: Request<'_>, names: &ToolNames) -> Value {
        match self.choice.provider {
            Provider::Anthropic => anthropic::body(&self.choice, request, names),
            Provider::Openai | Provider::Scripted => openai::body(
                &self.choice,
                request,
                names,
                address::of(&self.choice).is_ok_and(|url| address::is_openai(&url)),
            ),
        }
    }

    fn reader(&self) -> Box<dyn StreamReader> {
        match self.choice.provider {
            Provider::Anthropic => Box::new(anthropic::Events::default()),
            Provider::Openai | Provider::Scripted => Box::new(openai::Events::default()),
        }
    }

    async fn turn(&self, request: Request<'_>, on_delta: OnDelta<'_>) -> Result<Turn, ModelError> {
        let names = ToolNames::of(request.tools);
        let body = Bytes::from(self.body(request, &names).to_string());
        let mut delays = self.pace.delays();
        let mut asked = 0_u32;
        loop {
            asked += 1;
            let attempt = timeout(self.pace.total, self.attempt(body.clone(), &names, on_delta));
            let fault = match attempt.await {
                Ok(Ok(turn)) => return Ok(turn),
                Ok(Err(fault)) => fault,
                Err(_) => Fault::again(format!("the turn took longer than {} seconds", self.pace.total.as_secs_f32())),
            };
            let (why, after) = match fault {
                Fault::Refused(why) => return Err(ModelError::Refused(self.log_reason(why))),
                Fault::Again { why, after } => (self.log_reason(why), after.unwrap_or_default()),
            };
            if after > self.pace.patience {
                return Err(ModelError::Unavailable(format!(
                    "{why} (and asks for a pause of {} seconds)",
                    after.as_secs()
                )));
            }
            let Some(delay) = delays.next() else {
                return Err(ModelError::Unavailable(format!("{why} (asked {asked} times)")));
            };
            self.again(why, delay.max(after), on_delta).await;
        }
    }

    async fn again(&self, why: String, delay: Duration, on_delta: OnDelta<'_>) {
        tracing::info!(
            model = self.choice.name,
            why,
            delay_ms = delay.as_millis(),
            "retrying the request to the model"
        );
        on_delta(Delta::Again { why });
        sleep(delay).await;
    }

    async fn attempt(&self, body: Bytes, names: &ToolNames, on_delta: OnDelta<'_>) -> Result<Turn, Fault> {
        let idle = self.pace.idle;
        let answer = timeout(idle, self.transport.send(body)).await.map_err(|_| silence(idle))??;
        let HttpResponse { status, content_type, after, body } = answer;
        if !(200..300).contains(&status) {
            return Err(Fault::of_status(status, &beginning(body, idle).await, after));
        }
        if let Some(kind) = ["text/html", "application/json"].iter().find(|kind| content_type.starts_with(**kind)) {
            return Err(no_stream(kind, &beginning(body, idle).await));
        }
        let mut events = pin!(events(body, idle));
        let mut draft = TurnBuilder::default();
        let mut reader = self.reader();
        loop {
            match events.next().await {
                Some(data) => {
                    if reader.read_event(&data?, &mut draft, on_delta)? {
                        break;
                    }
                }
                None if reader.is_whole() => break,
                None => return Err(Fault::again("the provider's reply was cut off before its end")),
            }
        }
        reader.finish(&mut draft)?;
        Ok(draft.finish(names, self.choice.price))
    }

    /// Logs a reason and returns its part for people.
    fn log_reason(&self, Reason { text, detail }: Reason) -> String {
        let detail = readable(&detail, self.key.as_ref().map(|key| key.trim()));
        tracing::warn!(model = self.choice.name, why = text, detail, "an attempt at a turn of the model failed");
        text
    }
}

impl Model for RemoteModel {
    fn turn<'a>(
        &'a self,
        request: Request<'a>,
        on_delta: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Turn, ModelError>> {
        Box::pin(self.turn(request, on_delta))
    }
}

/// Fault of a successful reply that is not an event stream. Some providers send an error in the body of such a
/// reply; some endpoints are not models at all.
fn no_stream(content_type: &str, body: &[u8]) -> Fault {
    match serde_json::from_slice::<Value>(body) {
        Ok(error) if error.get("error").is_some_and(|error| !error.is_null()) => Fault::of_event(&error),
        _ => Fault::refused(Reason {
            text: format!("the endpoint answers with {content_type} instead of an event stream"),
            detail: String::from_utf8_lossy(body).into_owned(),
        }),
    }
}

/// Parses the data of an event as JSON.
pub(super) fn parse_event(data: &str) -> Result<Value, Fault> {
    serde_json::from_str(data).map_err(|_| Fault::again("an event of the provider's reply is not JSON"))
}

/// Fault of a turn that cannot be used, by its finish reason. A turn that was cut off is never used, because the
/// missing part of its calls is unknown.
pub(super) fn fault_of_finish_reason(reason: &str) -> Option<Fault> {
    match reason {
        "length" | "max_tokens" | "model_length" => Some(Fault::refused(
            "the model's turn was cut off at its limit of tokens: give it more `max_tokens`".to_owned(),
        )),
        "model_context_window_exceeded" => {
            Some(Fault::refused("the conversation is longer than the model can read".to_owned()))
        }
        "content_filter" | "refusal" => {
            Some(Fault::refused("the provider refuses to continue this conversation".to_owned()))
        }
        "error" => Some(Fault::again("the provider ended its reply with an error")),
        _ => None,
    }
}
