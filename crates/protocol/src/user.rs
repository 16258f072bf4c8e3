//! Request bodies and views of users and signing in.

use domain::{ProjectId, Role, Timestamp, User};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::example;

/// Methods that the sign-in page offers.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({ "password": true, "oidc": { "label": "id.example.org", "url": "/sign-in/oidc/start" } }))]
pub struct SignInView {
    /// Whether users who have a password may sign in with it.
    pub password: bool,
    /// Identity provider; absent if none is configured.
    pub oidc: Option<ProviderView>,
}

/// An identity provider at which people sign in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderView {
    /// Name of the provider that users see.
    pub label: String,
    /// URL to which the browser goes.
    pub url: String,
}

/// Request to sign in with a password.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "user": "alice", "password": "correct horse battery" }))]
pub struct PasswordSignInBody {
    /// Name of the user.
    pub user: String,
    /// Password of the user.
    #[schema(format = Password)]
    pub password: String,
    /// Name of the tenant; `default` if absent.
    pub tenant: Option<String>,
}

/// Request to sign in with a one-time link.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "hpl_0199c7a46a107cc2b0de7b7c3a3c0a01_…" }))]
pub struct LinkSignInBody {
    /// Token of the link: the text after `#token=`.
    pub token: String,
}

/// The caller of the request.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::me)]
pub struct MeView {
    /// Name of the user, or the name in which the key acts.
    pub name: String,
    /// Display name of the user, if it differs from `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// Role of the caller in the project.
    pub role: Role,
    /// Groups of the caller. The audience of a question may be limited to groups.
    pub groups: Vec<String>,
    /// Name of the tenant.
    pub tenant: String,
    /// Identifier of the current project.
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// All projects that the caller may use.
    pub projects: Vec<PlaceView>,
    /// Method by which the caller authenticated.
    pub via: AuthenticationMethodView,
    /// State of the user's password; absent for a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordView>,
    /// Present and `true` for users while commands of agents run without a sandbox. Such a command could read all data of this server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfined_commands: bool,
}

/// A project that the caller may use.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PlaceView {
    /// Identifier of the project.
    #[schema(value_type = String)]
    pub project: ProjectId,
    /// Name of the project.
    pub name: String,
    /// Role of the caller in the project.
    pub role: Role,
}

/// Method of authentication of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Via)]
pub enum AuthenticationMethodView {
    /// Cookie of a browser in which a user has signed in.
    Cookie,
    /// Key that the caller sent with the request.
    Key,
}

/// State of a user's password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PasswordView {
    /// A password is set; changing it requires the old one.
    Known,
    /// The password can be set once without the old one, because a one-time link was just used.
    Settable,
    /// There is no password, and none can be set.
    None,
}

/// Request to switch the browser to another project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "project": "prj_0199c7a4-6a10-7cc2-b0de-7b7c3a3c0a01" }))]
pub struct ProjectBody {
    /// Identifier of the project.
    #[schema(value_type = String)]
    pub project: ProjectId,
}

/// Request to set the password of the signed-in user.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "old": "correct horse battery", "new": "staple correct horse" }))]
pub struct PasswordBody {
    /// Old password. It may be omitted once after a one-time link.
    #[schema(format = Password)]
    pub old: Option<String>,
    /// New password, at least 12 characters.
    #[schema(format = Password, min_length = 12)]
    pub new: String,
}

/// Request to add a user to the project.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "alice", "display": "Alice Moreau", "role": "operator", "groups": ["operations"] }))]
pub struct UserBody {
    /// Name of the user, which also appears in the audit trail.
    pub name: String,
    /// Display name of the user, if it differs from `name`.
    pub display: Option<String>,
    /// Role of the user in the project; not `agent`.
    pub role: Role,
    /// Groups of the user in the project.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Whether existing keys of the project with this name become keys of this user. If `false` or absent, a name that a key already has is
    /// refused.
    #[serde(default)]
    pub join_keys: bool,
}

/// Request to change a user of the project. Absent fields stay unchanged.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "role": "viewer", "groups": ["operations"], "disabled": false }))]
pub struct UserChangeBody {
    /// Role of the user in the project; not `agent`. A user whose role is lowered is signed out everywhere.
    pub role: Option<Role>,
    /// Groups of the user in the project. Keys of the user with other groups are revoked.
    pub groups: Option<Vec<String>>,
    /// Whether the user is excluded from the project.
    pub disabled: Option<bool>,
}

/// A user of the project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::user)]
pub struct UserView {
    /// Name of the user.
    pub name: String,
    /// Display name of the user, if it differs from `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// Role of the user in the project.
    pub role: Role,
    /// Groups of the user in the project.
    pub groups: Vec<String>,
    /// Whether the user has an identity at the identity provider.
    pub external: bool,
    /// Time at which the account was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Time of the user's last sign-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub signed_in_at: Option<Timestamp>,
    /// Time at which the user was excluded from the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub disabled_at: Option<Timestamp>,
    /// Only in the reply to adding a user: whether the account already existed, in this project or in another. Its password, its links and
    /// its sign-ins are then invalid, and the user needs a new link.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub existing: bool,
}

/// A page of the users of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = example::users)]
pub struct UsersPage {
    /// Users, ordered by name.
    pub users: Vec<UserView>,
    /// Cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A link that signs a user in once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(example = json!({
    "url": "https://holdpoint.example.org/sign-in#token=hpl_0199c7a46a107cc2b0de7b7c3a3c0a01_…",
    "expires_at": "2026-11-15T10:15:00Z"
}))]
pub struct LinkView {
    /// URL of the link. It is shown only in this reply.
    pub url: String,
    /// Time at which the link expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

impl UserView {
    /// Builds the view of a user in the one project whose membership was read. Returns `None` if the user is not a member.
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
