//! Query parameters of each operation, from the OpenAPI document. A parameter that the operation does not have is refused and never ignored: a
//! client that sends `wait` in the query of a command that takes it in its body would believe that the server waits.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use axum::extract::MatchedPath;
use http::Method;
use http::request::Parts;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};

use crate::document::document;
use crate::error::ApiError;
use crate::routes::Addition;

/// Prefix of the operations that are checked. Dialects ignore unknown parameters, as their original servers do.
const OWN: &str = "/v1/";

/// Number of characters of the name that the error repeats.
const SHOWN: usize = 60;

/// Query parameters of each operation, by path and method.
static PARAMETERS: LazyLock<HashMap<(String, Method), BTreeSet<String>>> = LazyLock::new(|| {
    let mut parameters = HashMap::new();
    for (path, item) in document(Addition::default()).paths.paths.into_iter().filter(|(path, _)| path.starts_with(OWN))
    {
        let operations = [
            (Method::GET, item.get),
            (Method::PUT, item.put),
            (Method::POST, item.post),
            (Method::DELETE, item.delete),
            (Method::PATCH, item.patch),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                parameters.insert((path.clone(), method), query_parameters(operation));
            }
        }
    }
    parameters
});

fn query_parameters(operation: Operation) -> BTreeSet<String> {
    let in_query = |parameter: RefOr<Parameter>| match parameter {
        RefOr::T(one) if one.parameter_in == ParameterIn::Query => Some(one.name),
        _ => None,
    };
    operation.parameters.into_iter().flatten().filter_map(in_query).collect()
}

/// Refuses a request with a query parameter that its operation does not have.
pub(crate) fn refuse_unknown(parts: &Parts) -> Result<(), ApiError> {
    let (Some(query), Some(path)) = (parts.uri.query(), parts.extensions.get::<MatchedPath>()) else { return Ok(()) };
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
    let Some(parameters) = PARAMETERS.get(&(path.as_str().to_owned(), method)) else { return Ok(()) };
    let sent: Vec<(String, String)> =
        serde_urlencoded::from_str(query).map_err(|_| ApiError::QueryInvalid("the query cannot be read".into()))?;
    match sent.into_iter().find(|(name, _)| !parameters.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let name: String = name.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
            Err(ApiError::QueryInvalid(format!("{name}: this operation takes no such parameter in its query")))
        }
    }
}
