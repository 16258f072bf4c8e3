//! Refusals in the format that clients of `hitl` and `react` expect: the problem document, with `success` and `message`
//! beside its fields.

use axum::body::Body;
use axum::response::Response;
use protocol::ProblemBody;
use serde_json::{Value, json};

use server::handler::ApiError;

/// Fields that a dialect has in every reply, including refusals. A handler adds them to the extensions of the response.
#[derive(Clone)]
pub(super) struct ExtraFields(pub(super) Value);

/// Adds `success`, `message` and the extra fields to a refusal. Other responses pass unchanged.
pub(super) async fn reword_refusal(response: Response) -> Response {
    let Some(problem) = response.extensions().get::<ProblemBody>() else { return response };
    let mut body = json!(problem);
    body["success"] = json!(false);
    body["message"] = json!(message(problem));
    if let Some(ExtraFields(Value::Object(fields))) = response.extensions().get() {
        for (name, value) in fields {
            body[name] = value.clone();
        }
    }
    let (parts, _) = response.into_parts();
    Response::from_parts(parts, Body::from(body.to_string()))
}

/// Rewrites the JSON Pointers of a refusal; each pair is a pointer of `/v1` and the pointer of the dialect.
pub(super) fn map_fields(error: impl Into<ApiError>, fields: &[(&str, &str)]) -> ApiError {
    error.into().map_pointers(|pointer| {
        let under = |(ours, theirs): &(&str, &str)| {
            let rest = pointer.strip_prefix(ours)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{theirs}{rest}"))
        };
        fields.iter().find_map(under).unwrap_or(pointer)
    })
}

/// Title, detail and field errors of a problem in one text.
fn message(problem: &ProblemBody) -> String {
    let particulars = problem.detail.iter().chain(problem.errors.iter().map(|error| &error.message));
    let particulars: Vec<&str> = particulars.map(String::as_str).collect();
    if particulars.is_empty() {
        problem.title.clone()
    } else {
        format!("{}: {}", problem.title, particulars.join("; "))
    }
}
