//! People and signing in, on the wire.

use domain::{ProjectId, Role, Timestamp, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::example;

/// What the sign-in page offers.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "password": true, "oidc": { "label": "id.example.org", "url": "/sign-in/oidc/start" } }))]
pub struct SignInView {
    /// Whether people may sign in by password, where they have one.
    pub password: bool,
    /// The identity provider, where there is one.
    pub oidc: Option<ProviderView>,
}

/// An identity provider.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderView {
    /// What people know it by.
    pub label: String,
    /// Where the browser goes.
    pub url: String,
}

/// Signs in by password.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "alice", "password": "correct horse battery" }))]
pub struct PasswordSignInBody {
    /// Who.
    pub user: String,
    /// The password.
    #[schema(format = Password)]
    pub password: String,
    /// Of which tenant; `default` if absent.
    pub tenant: Option<String>,
}

/// Signs in by a one-time link.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "hpl_0199c7a46a107cc2b0de7b7c3a3c0a01_…" }))]
pub struct LinkSignInBody {
    /// What stands behind `#token=` in the link.
    pub token: String,
}

/// Who the caller is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::me)]
pub struct MeView {
    /// The name of the person, or in whose name the key acts.
    pub name: String,
    /// How the person is shown, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// What the caller may do in the project.
    pub role: Role,
    /// The groups that the caller belongs to: a question may be for some of them alone.
    pub groups: Vec<String>,
    /// What the tenant is called.
    pub tenant: String,
    /// The project that the caller speaks for now.
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// Every project that the caller can speak for.
    pub projects: Vec<PlaceView>,
    /// What the caller has proved itself with.
    pub via: Via,
    /// What a person can do about their password; absent for a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordView>,
    /// Present and true for people while commands of agents run unconfined: one of them could reach everything that this server keeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfined_commands: bool,
}

/// A project in which a caller is something.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PlaceView {
    /// Its id.
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// What it is called.
    pub name: String,
    /// What the caller may do there.
    pub role: Role,
}

/// What a caller has proved itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A browser in which a person has signed in.
    Cookie,
    /// A key.
    Key,
}

/// What a person can do about their password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PasswordView {
    /// It is set; changing it needs the old one.
    Known,
    /// It can be set without the old one, once: a one-time link was just used.
    Settable,
    /// There is none, and none can be set.
    None,
}

/// Has the browser speak for another project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "project": "prj_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub struct ProjectBody {
    /// Which.
    #[schema(value_type = String)]
    pub project: ProjectId,
}

/// Sets the password of whoever is signed in.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "old": "correct horse battery", "new": "staple correct horse" }))]
pub struct PasswordBody {
    /// The one until now; may be left out once after a one-time link.
    #[schema(format = Password)]
    pub old: Option<String>,
    /// The one from now on.
    #[schema(format = Password, min_length = 12)]
    pub new: String,
}

/// Adds a person to the project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["operations"] }))]
pub struct UserBody {
    /// What the person is called, in the audit trail too.
    pub name: String,
    /// How the person is shown, where that differs.
    pub display: Option<String>,
    /// What the person may do in the project; not `agent`.
    pub role: Role,
    /// The groups that the person belongs to there.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Whether keys of the project that have this name already are this person's. Without it, such a name is taken.
    #[serde(default)]
    pub join_keys: bool,
}

/// Changes what a person is in the project; what is absent stays as it is.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "role": "viewer", "groups": ["operations"], "disabled": false }))]
pub struct UserChangeBody {
    /// What the person may do in the project; not `agent`. Whose role falls is signed out everywhere.
    pub role: Option<Role>,
    /// The groups that the person belongs to there. Keys in their name with other groups are revoked.
    pub groups: Option<Vec<String>>,
    /// Whether the person is out of the project.
    pub disabled: Option<bool>,
}

/// A person of the project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::user)]
pub struct UserView {
    /// What the person is called.
    pub name: String,
    /// How the person is shown, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// What the person may do in the project.
    pub role: Role,
    /// The groups that the person belongs to there.
    pub groups: Vec<String>,
    /// Whether an identity provider knows the person.
    pub external: bool,
    /// When the account was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the person last signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub signed_in_at: Option<Timestamp>,
    /// Since when the person does not belong to the project any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub disabled_at: Option<Timestamp>,
    /// In the reply to adding somebody: the account was there before, in another project or in this one. Its password, its links and its
    /// browsers are void now; the person comes back by a new link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
}

/// The people of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::users)]
pub struct UsersPage {
    /// By name.
    pub users: Vec<UserView>,
    /// Where the next page begins, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A link that signs a person in once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "url": "https://holdpoint.example.org/sign-in#token=hpl_0199c7a46a107cc2b0de7b7c3a3c0a01_…",
    "expires_at": "2026-11-15T10:15:00Z"
}))]
pub struct LinkView {
    /// Where the person goes; shown this once.
    pub url: String,
    /// From when on it is refused.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl UserView {
    /// What a person is in the one project that is looked at; nothing where they are nothing there.
    #[must_use]
    pub fn of(user: User) -> Option<Self> {
        let membership = user.memberships.into_iter().next()?;
        Some(Self {
            name: user.name,
            display: user.display,
            role: membership.role,
            groups: membership.groups,
            external: user.subject.is_some(),
            created_at: user.created_at,
            signed_in_at: user.signed_in_at,
            disabled_at: membership.disabled_at,
            existing: false,
        })
    }
}
