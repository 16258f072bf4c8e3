//! Validation of the model of an agent definition.

use serde_json::Value;

use super::check::{check_address, check_environment};
use super::{ModelChoice, Provider, Script};
use crate::{Problem, text};

/// Largest number of turns of a script.
const MOST_TURNS: usize = 1_000;
/// Largest number of calls in one turn of a script.
const MOST_CALLS: usize = 128;
/// Longest duration of one turn in seconds.
const MOST_TIMEOUT: u32 = 3_600;
/// Largest size in bytes of the further fields of a request.
const MOST_OPTIONS: usize = 16_384;
/// Fields of a request that cannot be set as options, because the server sets them itself.
const OURS: [&str; 10] = [
    "model",
    "messages",
    "system",
    "tools",
    "stream",
    "stream_options",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "n",
];
/// Largest value of `max_tokens`.
const MOST_TOKENS: u32 = 1_000_000;

impl ModelChoice {
    pub(super) fn check(&self, problems: &mut Vec<Problem>) {
        match self.provider {
            Provider::Scripted => self.check_scripted(problems),
            Provider::Openai | Provider::Anthropic => self.check_real(problems),
        }
    }

    fn check_scripted(&self, problems: &mut Vec<Problem>) {
        match &self.script {
            Some(script) => script.check(problems),
            None => problems.push(Problem::new("/model/script", "is missing: a scripted model needs a script")),
        }
        let others = [
            ("name", !self.name.is_empty()),
            ("endpoint", self.endpoint.is_some()),
            ("key_env", self.key_env.is_some()),
            ("key_secret", self.key_secret.is_some()),
            ("temperature", self.temperature.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
            ("timeout_seconds", self.timeout_seconds.is_some()),
            ("options", !self.options.is_empty()),
            ("price", self.price.is_some()),
        ];
        for (field, there) in others {
            if there {
                problems.push(Problem::new(format!("/model/{field}"), "a scripted model takes `script` only"));
            }
        }
    }

    fn check_options(&self, problems: &mut Vec<Problem>) {
        for (field, value) in &self.options {
            let at = text::field("/model/options", field);
            if OURS.contains(&field.as_str()) {
                problems.push(Problem::new(&at, "cannot be an option, because Holdpoint sets this field itself"));
            }
            text::check_depth(&at, value, problems);
        }
        if Value::Object(self.options.clone()).to_string().len() > MOST_OPTIONS {
            problems.push(Problem::new("/model/options", format!("are larger than {MOST_OPTIONS} bytes")));
        }
    }

    fn check_real(&self, problems: &mut Vec<Problem>) {
        if self.name.is_empty() {
            problems.push(Problem::new("/model/name", "is missing: name a model of this provider"));
        } else {
            text::check_identifier("/model/name", &self.name, problems);
        }
        if self.script.is_some() {
            problems.push(Problem::new("/model/script", "is for the provider `scripted`"));
        }
        if let Some(endpoint) = &self.endpoint {
            check_address("/model/endpoint", endpoint, problems);
        }
        if let Some(variable) = &self.key_env {
            check_environment("/model/key_env", variable, problems);
        }
        if let Some(secret) = &self.key_secret {
            text::check_identifier("/model/key_secret", secret, problems);
            if self.key_env.is_some() {
                problems.push(Problem::new("/model/key_secret", "cannot be combined with `key_env`: give one of them"));
            }
        }
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            problems.push(Problem::new("/model/temperature", "must be 0 to 2"));
        }
        check_range("/model/max_tokens", self.max_tokens, MOST_TOKENS, problems);
        check_range("/model/timeout_seconds", self.timeout_seconds, MOST_TIMEOUT, problems);
        self.check_options(problems);
        if let Some(price) = self.price {
            for (field, amount) in [("input", price.input), ("output", price.output)] {
                if !(0.0..=1_000_000.0).contains(&amount) {
                    problems.push(Problem::new(format!("/model/price/{field}"), "must be 0 to 1000000"));
                }
            }
        }
    }
}

impl Script {
    fn check(&self, problems: &mut Vec<Problem>) {
        if self.turns.is_empty() || self.turns.len() > MOST_TURNS {
            problems.push(Problem::new("/model/script/turns", format!("must be 1 to {MOST_TURNS}")));
        }
        for (index, turn) in self.turns.iter().enumerate() {
            let at = format!("/model/script/turns/{index}");
            if turn.say.is_empty() && turn.calls.is_empty() {
                problems.push(Problem::new(&at, "needs `say` or `calls`"));
            }
            text::check_paragraphs(&format!("{at}/say"), &turn.say, problems);
            if turn.when.as_ref().is_some_and(String::is_empty) {
                problems.push(Problem::new(format!("{at}/when"), "must not be empty: leave it out for any message"));
            }
            if turn.calls.len() > MOST_CALLS {
                problems.push(Problem::new(format!("{at}/calls"), format!("must have at most {MOST_CALLS} items")));
            }
            for (call, called) in turn.calls.iter().enumerate() {
                text::check_identifier(&format!("{at}/calls/{call}/tool"), &called.tool, problems);
                if !called.arguments.is_object() {
                    problems.push(Problem::new(format!("{at}/calls/{call}/arguments"), "must be an object"));
                }
                text::check_depth(&format!("{at}/calls/{call}/arguments"), &called.arguments, problems);
            }
        }
    }
}

fn check_range(at: &str, value: Option<u32>, most: u32, problems: &mut Vec<Problem>) {
    if value.is_some_and(|value| !(1..=most).contains(&value)) {
        problems.push(Problem::new(at, format!("must be 1 to {most}")));
    }
}
