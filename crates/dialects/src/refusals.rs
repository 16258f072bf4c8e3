//! A refusal as the seeds' clients read it: the problem that every refusal is, and beside it whether it worked and what to say.

use axum::body::Body;
use axum::response::Response;
use protocol::ProblemBody;
use serde_json::{Value, json};

use server::handler::ApiError;

/// Fields that a wire has in every reply, refusals included. A handler leaves them with the refusal.
#[derive(Clone)]
pub(super) struct ExtraFields(pub(super) Value);

/// Adds `success`, `message` and what the handler left to a refusal; everything else passes as it is.
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

/// The same refusal with the places that the fields of a wire have: of each pair ours, and theirs.
pub(super) fn map_fields(error: impl Into<ApiError>, fields: &[(&str, &str)]) -> ApiError {
    error.into().map_pointers(|pointer| {
        let under = |(ours, theirs): &(&str, &str)| {
            let rest = pointer.strip_prefix(ours)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{theirs}{rest}"))
        };
        fields.iter().find_map(under).unwrap_or(pointer)
    })
}

/// What went wrong, with all that can be done about it, in one text.
fn message(problem: &ProblemBody) -> String {
    let particulars = problem.detail.iter().chain(problem.errors.iter().map(|error| &error.message));
    let particulars: Vec<&str> = particulars.map(String::as_str).collect();
    if particulars.is_empty() {
        problem.title.clone()
    } else {
        format!("{}: {}", problem.title, particulars.join("; "))
    }
}
