//! The models that an agent's version may choose: the formats of two providers and a script.
//!
//! A model over the network is one request, one stream of events, one turn. [`openai`] and [`anthropic`] write the
//! requests of a provider and read its events. The rest is shared: [`http`] transports the bytes, [`events`] splits
//! them into events, [`turn_builder`] collects the turn within its limits, and [`remote`] retries. Start reading at
//! [`open`].

mod address;
mod anthropic;
mod arguments;
mod conversation;
mod events;
mod fault;
mod http;
mod names;
mod openai;
mod remote;
mod retry;
mod scripted;
mod turn_builder;

#[cfg(test)]
mod tests;

use domain::agent::{ModelChoice, Provider};
use zeroize::Zeroizing;

use crate::model::{Model, ModelError};
use crate::tool::ToolSpec;

/// Names of tools as a model over the network knows them, where names must fit the format of the provider.
pub(crate) fn provider_names(tools: &[ToolSpec]) -> Vec<String> {
    let names = names::ToolNames::of(tools);
    tools.iter().map(|tool| names.provider_name(&tool.name)).collect()
}

/// Opens the model that an agent's version has chosen. Nothing is sent before its first turn.
///
/// Only the given key and address are used; no environment variable or file is read.
///
/// # Errors
/// [`ModelError::Refused`] if the choice cannot be used: no name, no key for a provider's own address, no script.
pub fn open(choice: &ModelChoice, key: Option<Zeroizing<String>>) -> Result<Box<dyn Model>, ModelError> {
    match choice.provider {
        Provider::Scripted => Ok(Box::new(scripted::Scripted::new(choice)?)),
        Provider::Openai | Provider::Anthropic => {
            let transport = http::Http::new(choice, key.as_ref())?;
            Ok(Box::new(remote::RemoteModel::new(choice, key, Box::new(transport), retry::TimeLimits::of(choice))))
        }
    }
}
