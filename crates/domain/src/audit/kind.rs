//! Changes that only the audit trail records, because they belong to no session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::access::AgentEnvironment;
use crate::audit::details::{AuditDetails, PolicyDiffDetails};
use crate::event::{SecretNames, kinds};
use crate::project::ProjectSettings;
use crate::user::SignInMethod;
use crate::webhook::Subject;
use crate::{
    Actor, DataKeyId, DefinitionKind, Effect, GrantId, InteractionId, KeyId, LinkId, PolicySource, Role, SecretId,
    TicketId, UserId, WebhookDeliveryId, WebhookId,
};

/// Name of an entry that records a new version of an agent or a flow. Entries of earlier forms have it too.
pub(crate) const DEFINITION_ADDED: &str = "definition.added";

kinds! {
    /// A change outside a session.
    pub enum AuditKind {
        /// A person was added to a project.
        UserAdded(UserAdded) = "user.added",
        /// The role or the groups of a person changed.
        UserChanged(UserChanged) = "user.changed",
        /// A person was locked out of a project.
        UserDisabled(UserNamed) = "user.disabled",
        /// A person was let in again.
        UserEnabled(UserEnabled) = "user.enabled",
        /// The identity provider of a person gives them no role any more.
        UserRoleLost(UserNamed) = "user.role_lost",
        /// A person signed in.
        UserSignedIn(SignInTried) = "user.signed_in",
        /// An attempt to sign in failed.
        UserSignInFailed(SignInTried) = "user.sign_in_failed",
        /// A person signed out.
        UserSignedOut(UserNamed) = "user.signed_out",
        /// A person switched to another project.
        UserProjectChanged(UserNamed) = "user.project_changed",
        /// A person changed their password.
        UserPasswordChanged(UserNamed) = "user.password_changed",
        /// A sign-in link was made for a person.
        UserLinkMade(UserLinkMade) = "user.link_made",
        /// A key was created.
        KeyCreated(KeyCreated) = "key.created",
        /// A key was revoked.
        KeyRevoked(KeyRevoked) = "key.revoked",
        /// A ticket for a stream was made.
        TicketMade(TicketMade) = "ticket.made",
        /// The settings of a project changed.
        ProjectSettingsChanged(Box<ProjectSettingsChanged>) = "project.settings_changed",
        /// A webhook was created.
        WebhookCreated(WebhookCreated) = "webhook.created",
        /// A webhook was deleted.
        WebhookDeleted(WebhookNamed) = "webhook.deleted",
        /// A webhook was enabled.
        WebhookEnabled(WebhookNamed) = "webhook.enabled",
        /// A webhook was disabled.
        WebhookDisabled(WebhookDisabled) = "webhook.disabled",
        /// A webhook got a new secret.
        WebhookRotated(WebhookRotated) = "webhook.rotated",
        /// A message of a webhook is sent again.
        WebhookReplayed(WebhookReplayed) = "webhook.replayed",
        /// An admin kept a secret for an agent.
        SecretKept(SecretNames) = "secret.kept",
        /// A kept secret was deleted.
        SecretForgotten(SecretForgotten) = "secret.forgotten",
        /// A tenant got a new data key.
        SecretsRotated(SecretsRotated) = "secrets.rotated",
        /// A version of an agent or a flow was added.
        DefinitionAdded(DefinitionNamed) = DEFINITION_ADDED,
        /// A version of an agent or a flow was retired.
        DefinitionRetired(DefinitionNamed) = "definition.retired",
        /// A restored database was adopted.
        DatabaseAdopted(DatabaseAdopted) = "database.adopted",
        /// A grant was revoked.
        GrantRevoked(GrantRevoked) = "grant.revoked",
        /// Another policy is in force.
        PolicyChanged(PolicyChanged) = "policy.changed",
        /// Another floor is in force.
        PolicyFloorChanged(PolicyFloorChanged) = "policy.floor_changed",
        /// The pause of approvals ended.
        PolicyEnabled(PolicySwitched) = "policy.enabled",
        /// An admin paused approvals.
        PolicyDisabled(PolicySwitched) = "policy.disabled",
        /// A draft is judged beside the policy.
        PolicyShadowSet(PolicyChanged) = "policy.shadow_set",
        /// No draft is judged beside the policy any more.
        PolicyShadowRemoved(PolicyShadowRemoved) = "policy.shadow_removed",
        /// A decision of a person suspended a learnt rule.
        PolicyRuleSuspended(PolicyRuleSuspended) = "policy.rule_suspended",
        /// A person lifted the suspension of a rule.
        PolicySuspensionLifted(PolicySuspensionLifted) = "policy.suspension_lifted",
    }
}

/// A change outside a session, before the audit trail records it.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditDraft {
    /// Kind of the change with its payload.
    pub kind: AuditKind,
    /// Actor who made the change. `None` for the actor of the request.
    pub by: Option<Actor>,
    /// Details beyond the payload. Never a secret value.
    pub details: Option<AuditDetails>,
}

impl AuditDraft {
    /// A change by an actor.
    #[must_use]
    pub fn by(actor: &Actor, kind: AuditKind) -> Self {
        Self { by: Some(actor.clone()), ..Self::plain(kind) }
    }

    /// A change by the actor of the request.
    #[must_use]
    pub const fn plain(kind: AuditKind) -> Self {
        Self { kind, by: None, details: None }
    }

    /// Adds details beyond the payload.
    #[must_use]
    pub fn recording(self, details: AuditDetails) -> Self {
        Self { details: Some(details), ..self }
    }

    /// Adds the difference between the text of a policy before and after the change. `None` if there was no text before.
    #[must_use]
    pub fn with_diff(self, diff: Option<&str>) -> Self {
        self.recording(AuditDetails::PolicyDiff(PolicyDiffDetails { diff: diff.map(str::to_owned) }))
    }
}

/// A person whose account changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserNamed {
    /// Name of the person.
    pub user: String,
}

/// A person was added to a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAdded {
    /// Name of the person.
    pub user: String,
    /// Role in the project.
    pub role: Role,
    /// Groups in the project.
    pub groups: Vec<String>,
    /// Subject at the identity provider.
    pub subject: Option<String>,
}

/// The role or the groups of a person changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserChanged {
    /// Name of the person.
    pub user: String,
    /// Role in the project.
    pub role: Role,
    /// Groups in the project.
    pub groups: Vec<String>,
    /// Role and groups before the change.
    pub was: RoleAndGroups,
}

/// Role and groups of a person in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleAndGroups {
    /// Role in the project.
    pub role: Role,
    /// Groups in the project.
    pub groups: Vec<String>,
}

/// A person was let in again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserEnabled {
    /// Name of the person.
    pub user: String,
    /// Role in the project.
    pub role: Role,
}

/// A person tried to sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInTried {
    /// Name of the person. `None` if there is no such account.
    pub user: Option<String>,
    /// Way of signing in.
    pub way: SignInMethod,
}

/// A sign-in link was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserLinkMade {
    /// Name of the person.
    pub user: String,
    /// Identifier of the link.
    pub link: LinkId,
    /// Time at which the link expires.
    pub expires_at: Timestamp,
}

/// A key was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCreated {
    /// Identifier of the key.
    pub key: KeyId,
    /// Role of the key.
    pub role: Role,
    /// Name under which the key acts. `None` if it has no name of its own.
    pub user: Option<String>,
    /// Groups of the key.
    pub groups: Vec<String>,
    /// Time at which the key expires.
    pub expires_at: Option<Timestamp>,
    /// Account that the key belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<UserId>,
    /// Program and directory for which the key was made.
    #[serde(default, skip_serializing_if = "AgentEnvironment::is_unknown")]
    pub environment: AgentEnvironment,
}

/// A key was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRevoked {
    /// Identifier of the revoked key.
    pub key: KeyId,
}

/// A ticket was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketMade {
    /// Identifier of the ticket.
    pub ticket: TicketId,
    /// Time at which the ticket expires.
    pub expires_at: Timestamp,
}

/// The settings of a project changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectSettingsChanged {
    /// Settings before the change.
    pub before: ProjectSettings,
    /// Settings after the change.
    pub after: ProjectSettings,
}

/// A webhook that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookNamed {
    /// Identifier of the webhook.
    pub webhook: WebhookId,
}

/// A webhook was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookCreated {
    /// Identifier of the webhook.
    pub webhook: WebhookId,
    /// Address without its query.
    pub url: String,
    /// Subject of the messages.
    pub subject: Subject,
    /// Whether messages are sent from the beginning.
    pub enabled: bool,
}

/// A webhook was disabled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDisabled {
    /// Identifier of the webhook.
    pub webhook: WebhookId,
    /// Reason why the webhook was disabled.
    pub reason: String,
}

/// A webhook got a new secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookRotated {
    /// Identifier of the webhook.
    pub webhook: WebhookId,
    /// Time until which the old secret signs too.
    pub old_until: Timestamp,
}

/// A message of a webhook is sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookReplayed {
    /// Identifier of the webhook.
    pub webhook: WebhookId,
    /// Identifier of the message.
    pub delivery: WebhookDeliveryId,
}

/// A kept secret was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretForgotten {
    /// Identifier of the deleted secret.
    pub secret: SecretId,
}

/// A tenant got a new data key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretsRotated {
    /// Name of the master key.
    pub master_key: String,
    /// Identifier of the new data key.
    pub data_key: DataKeyId,
    /// Number of the data key.
    pub number: u32,
}

/// A version of an agent or a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionNamed {
    /// Whether the definition is an agent or a flow.
    pub kind: DefinitionKind,
    /// Name of the agent or flow.
    pub name: String,
    /// Version of the agent or flow.
    pub version: String,
}

/// A restored database was adopted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseAdopted {
    /// Number by which transaction ids were raised.
    pub raised: u64,
    /// Number of repaired events.
    pub events: u64,
    /// Number of repaired audit entries.
    pub entries: u64,
}

/// A grant was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRevoked {
    /// Identifier of the grant.
    pub grant: GrantId,
    /// Tool that the grant allowed.
    pub tool: String,
}

/// Another policy or another draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyChanged {
    /// Version of the policy.
    pub version: String,
    /// Version before the change.
    pub before: Option<String>,
    /// Reason for the change, if one was given.
    pub reason: Option<String>,
    /// Source of the policy, if the policy of the server is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PolicySource>,
}

/// Another floor is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFloorChanged {
    /// Version of the floor. `None` if there is no floor.
    pub version: Option<String>,
    /// Version before the change.
    pub before: Option<String>,
}

/// Approvals were paused or resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySwitched {
    /// Reason for the switch.
    pub reason: String,
}

/// No draft is judged any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyShadowRemoved {
    /// Version of the draft.
    pub version: String,
}

/// A learnt rule was suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRuleSuspended {
    /// Name of the rule.
    pub rule: String,
    /// Question whose decision contradicts the rule.
    pub interaction: InteractionId,
    /// Effect of the decision.
    pub effect: Effect,
}

/// The suspension of a rule was lifted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySuspensionLifted {
    /// Name of the rule.
    pub rule: String,
    /// Reason for lifting the suspension.
    pub reason: String,
}
