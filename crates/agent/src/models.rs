//! The models that an agent's version may choose: two wire formats, and a script.
//!
//! A model over the wire is one request, one stream of events, one turn. What is particular to a provider is in [`openai`] and
//! [`anthropic`]: how a request is written, and what its events mean. The rest is shared: [`http`] carries the bytes, [`events`] cuts
//! them into events, [`draft`] grows the turn within its limits, and [`wire`] asks again when that may help.

mod address;
mod anthropic;
mod arguments;
mod conversation;
mod draft;
mod events;
mod fault;
mod http;
mod names;
mod openai;
mod retry;
mod scripted;
mod wire;

#[cfg(test)]
mod tests;

use domain::agent::{ModelChoice, Provider};
use zeroize::Zeroizing;

use crate::model::{Model, ModelError};
use crate::tool::ToolSpec;

/// What tools are called where names must fit a wire format: as a model that is asked over it knows them.
pub(crate) fn wire_names(tools: &[ToolSpec]) -> Vec<String> {
    let names = names::Names::of(tools);
    tools.iter().map(|tool| names.wire(&tool.name)).collect()
}

/// Opens the model that an agent's version has chosen. Nothing is sent before its first turn.
///
/// Neither key nor address is looked for anywhere else: what is not given here is not used.
///
/// # Errors
/// [`ModelError::Refused`] where the choice cannot be asked at all: no name, no key for a provider's own address, no script.
pub fn open(choice: &ModelChoice, key: Option<Zeroizing<String>>) -> Result<Box<dyn Model>, ModelError> {
    match choice.provider {
        Provider::Scripted => Ok(Box::new(scripted::Scripted::new(choice)?)),
        Provider::Openai | Provider::Anthropic => {
            let carrier = http::Http::new(choice, key.as_ref())?;
            Ok(Box::new(wire::Wire::new(choice, key, Box::new(carrier), retry::Pace::of(choice))))
        }
    }
}
