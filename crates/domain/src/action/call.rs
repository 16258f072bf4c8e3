//! Checks of a call: its form, its arguments, and names that are reserved for workers.

use serde_json::Value;

use crate::{Call, Problem, text};

impl Call {
    /// Adds a problem for each part of the call that a policy cannot judge. `under` is the JSON pointer of the call.
    pub fn check(&self, under: &str, problems: &mut Vec<Problem>) {
        text::check_line(&format!("{under}/tool"), &self.tool, problems);
        text::check_tool_name(&format!("{under}/tool"), &self.tool, problems);
        check_arguments(&format!("{under}/arguments"), &self.arguments, problems);
    }
}

/// Adds a problem unless the arguments are an object of bounded depth.
pub fn check_arguments(pointer: &str, arguments: &Value, problems: &mut Vec<Problem>) {
    if !arguments.is_object() {
        problems.push(Problem::new(pointer, "must be an object"));
    }
    text::check_depth(pointer, arguments, problems);
}

/// Whether two calls have the same arguments apart from `content`, and so write to the same file.
#[must_use]
pub fn is_same_apart_from_content(one: &Value, other: &Value) -> bool {
    let rest = |arguments: &Value| {
        let mut rest = arguments.clone();
        rest.as_object_mut().map(|fields| fields.remove("content"));
        rest
    };
    rest(one) == rest(other)
}

/// Whether a `call_id` has the form that workers use: `s1t2c0` is the first call in the second turn of the first step.
#[must_use]
pub fn is_reserved(call: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(rest) = call.strip_prefix('s') else { return false };
    let Some((step, rest)) = rest.split_once('t') else { return rest.strip_suffix("before").is_some_and(number) };
    rest.split_once('c').is_some_and(|(turn, place)| number(step) && number(turn) && number(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_call_names_of_a_worker_are_reserved() {
        for call in ["s1t2c0", "s12t345c67", "s1before"] {
            assert!(is_reserved(call), "{call}");
        }
        for call in
            ["", "s", "sbefore", "s1", "t2c0", "st2c0", "s1t2", "s1tc0", "s1t2c", "s1t2c0x", "call_1", "s1before2"]
        {
            assert!(!is_reserved(call), "{call}");
        }
    }
}
