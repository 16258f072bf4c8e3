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
    let no_role = || Refused::NoRole(settings.role_claim.clone());
    let role = role(&claims.additional_claims().rest, &settings.role_claim).ok_or_else(no_role)?;
    let subject = claims.subject().as_str();
    let mail = claims.email().filter(|_| claims.email_verified() == Some(true)).map(|mail| mail.as_str());
    let names = [claims.preferred_username().map(|name| name.as_str()), mail, Some(subject)];
    let name = names.into_iter().flatten().find(|name| usable(name)).unwrap_or(subject);
    let display = claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned());
    Ok(Identity {
        subject: format!("{}#{subject}", claims.issuer().as_str()),
        name: name.to_owned(),
        display: display.filter(|display| shown(display)),
        role,
        place: settings.place.clone(),
    })
}

/// The mightiest role that the claim names, plainly or as `holdpoint-admin` or `holdpoint:admin`. Agents do not sign in.
fn role(claims: &Map<String, Value>, path: &str) -> Option<Role> {
    let found = claims.get(path).or_else(|| {
        let mut parts = path.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    })?;
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
