//! Maps the claims of an identity provider to a person, a name and a role.

use domain::{Problem, Role, user};
use engine::Identity;
use openidconnect::core::CoreGenderClaim;
use openidconnect::{AdditionalClaims, IdTokenClaims};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OidcError, OidcSettings};

/// Other claims of the token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OtherClaims {
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl AdditionalClaims for OtherClaims {}

pub(super) fn identity(
    claims: &IdTokenClaims<OtherClaims, CoreGenderClaim>,
    settings: &OidcSettings,
) -> Result<Identity, OidcError> {
    let subject = claims.subject().as_str();
    let account = format!("{}#{subject}", claims.issuer().as_str());
    let Some(role) = role(&claims.additional_claims().rest, &settings.role_claim) else {
        return Err(OidcError::NoRole { claim: settings.role_claim.clone(), subject: account });
    };
    let named = account_name(claims, settings.name_claim.as_deref());
    let name = named.filter(|name| is_valid_name(name)).unwrap_or_else(|| subject.to_owned());
    let display = claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned());
    Ok(Identity {
        subject: account,
        name,
        display: display.filter(|display| is_valid_display(display)),
        role,
        project: settings.project.clone(),
    })
}

/// Name of a person: the claim that the operator chose, else the mail address. A mail address counts only if the
/// provider says that it is verified. `preferred_username` is used only if configured: at many providers people can
/// change it.
fn account_name(claims: &IdTokenClaims<OtherClaims, CoreGenderClaim>, chosen: Option<&str>) -> Option<String> {
    let mail = || claims.email().filter(|_| claims.email_verified() == Some(true)).map(|mail| mail.to_string());
    match chosen {
        None | Some("email") => mail(),
        Some("sub") => Some(claims.subject().to_string()),
        Some("preferred_username") => claims.preferred_username().map(|name| name.to_string()),
        Some(path) => find_claim(&claims.additional_claims().rest, path)?.as_str().map(str::to_owned),
    }
}

/// The highest role in the claim, written as `admin`, `holdpoint-admin` or `holdpoint:admin`. Agents cannot sign in.
fn role(claims: &Map<String, Value>, path: &str) -> Option<Role> {
    let found = find_claim(claims, path)?;
    let named = |value: &Value| {
        let text = value.as_str()?;
        let text = text.strip_prefix("holdpoint-").or_else(|| text.strip_prefix("holdpoint:")).unwrap_or(text);
        Role::named(text).filter(|role| *role != Role::Agent)
    };
    let roles: Vec<Role> = match found {
        Value::Array(values) => values.iter().filter_map(named).collect(),
        value => named(value).into_iter().collect(),
    };
    Role::ALL.into_iter().find(|role| roles.contains(role))
}

/// Finds a claim by its name, else by its path.
fn find_claim<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    claims.get(path).or_else(|| {
        let mut parts = path.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    })
}

fn is_valid_name(name: &str) -> bool {
    has_no_problems(|problems| user::check_name("", name, problems))
}

fn is_valid_display(display: &str) -> bool {
    has_no_problems(|problems| domain::text::check_line("", display, problems))
}

fn has_no_problems(check: impl FnOnce(&mut Vec<Problem>)) -> bool {
    let mut problems = Vec::new();
    check(&mut problems);
    problems.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn highest_role_in_a_claim_is_used() {
        let check = |claims: Value, path: &str, expected: Option<Role>| {
            assert_eq!(role(claims.as_object().unwrap(), path), expected, "{path} of {claims}");
        };
        check(json!({ "roles": ["viewer", "admin", "operator"] }), "roles", Some(Role::Admin));
        check(json!({ "roles": "operator" }), "roles", Some(Role::Operator));
        check(json!({ "roles": ["holdpoint-viewer", "root"] }), "roles", Some(Role::Viewer));
        check(json!({ "roles": ["holdpoint:operator"] }), "roles", Some(Role::Operator));
        check(json!({ "realm_access": { "roles": ["admin"] } }), "realm_access.roles", Some(Role::Admin));
        check(json!({ "https://hp.example/roles": ["viewer"] }), "https://hp.example/roles", Some(Role::Viewer));
        check(json!({ "roles": ["agent"] }), "roles", None);
        check(json!({ "roles": [] }), "roles", None);
        check(json!({ "roles": { "admin": true } }), "roles", None);
        check(json!({ "roles": ["Admin", "administrator", 1] }), "roles", None);
        check(json!({ "groups": ["admin"] }), "roles", None);
    }
}
