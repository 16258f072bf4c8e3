//! From what a provider says of a person to who that is here.

use domain::{Problem, Role, user};
use engine::Identity;
use openidconnect::core::CoreGenderClaim;
use openidconnect::{AdditionalClaims, IdTokenClaims};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OidcSettings, Refused};

/// Whatever else the provider says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct More {
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl AdditionalClaims for More {}

pub(super) fn identity(
    claims: &IdTokenClaims<More, CoreGenderClaim>,
    settings: &OidcSettings,
) -> Result<Identity, Refused> {
    let subject = claims.subject().as_str();
    let account = format!("{}#{subject}", claims.issuer().as_str());
    let Some(role) = role(&claims.additional_claims().rest, &settings.role_claim) else {
        return Err(Refused::NoRole { claim: settings.role_claim.clone(), subject: account });
    };
    let named = named(claims, settings.name_claim.as_deref());
    let name = named.filter(|name| usable(name)).unwrap_or_else(|| subject.to_owned());
    let display = claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned());
    Ok(Identity {
        subject: account,
        name,
        display: display.filter(|display| shown(display)),
        role,
        place: settings.place.clone(),
    })
}

/// What a person is to be called: the text of the claim that the operator chose, else the mail address. A mail address counts only if the
/// provider says that it is verified. `preferred_username` is not taken unasked: at many providers people change it themselves.
fn named(claims: &IdTokenClaims<More, CoreGenderClaim>, chosen: Option<&str>) -> Option<String> {
    let mail = || claims.email().filter(|_| claims.email_verified() == Some(true)).map(|mail| mail.to_string());
    match chosen {
        None | Some("email") => mail(),
        Some("sub") => Some(claims.subject().to_string()),
        Some("preferred_username") => claims.preferred_username().map(|name| name.to_string()),
        Some(path) => found(&claims.additional_claims().rest, path)?.as_str().map(str::to_owned),
    }
}

/// The mightiest role that the claim names, plainly or as `holdpoint-admin` or `holdpoint:admin`. Agents do not sign in.
fn role(claims: &Map<String, Value>, path: &str) -> Option<Role> {
    let found = found(claims, path)?;
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

/// The claim of this name, else the one that its dots lead to.
fn found<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    claims.get(path).or_else(|| {
        let mut parts = path.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    })
}

fn usable(name: &str) -> bool {
    fine(|problems| user::name("", name, problems))
}

fn shown(display: &str) -> bool {
    fine(|problems| domain::text::line("", display, problems))
}

fn fine(check: impl FnOnce(&mut Vec<Problem>)) -> bool {
    let mut problems = Vec::new();
    check(&mut problems);
    problems.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_mightiest_role_that_a_claim_names_counts() {
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
