//! Keeps versions of agents and flows, both from the server's files and added over the API.
//!
//! The program that starts the server reads the files and passes them to the engine. A session's versions are stored in its project in the
//! transaction that opens the session, so that the session continues with them even if the file changes.

use std::collections::BTreeSet;

use domain::access::Right;
use domain::audit::AuditDetails;
use domain::audit::details::DefinitionDetails;
use domain::audit::kind::DefinitionNamed;
use domain::{
    Actor, AgentVersion, AuditDraft, AuditKind, Caller, Definition, DefinitionKind, FlowVersion, Refusal, Scope,
    Session,
};
use serde::de::DeserializeOwned;
use store::{Cost, Page, Reads, StoreError};

use crate::run::pages::Pages;
use crate::run::transaction::Work;
use crate::steps;
use crate::steps::server_files::OfferedDefinitions;
use crate::{Engine, Error, Idempotency};

/// Definition in a list, either stored in the project or offered by the server's files.
#[derive(Debug, Clone)]
pub struct DefinitionListing {
    /// Definition of the agent or flow.
    pub definition: Definition,
    /// Whether the definition comes from a server file and the project has not used it yet.
    pub from_file: bool,
}

impl Engine {
    /// Adds a version of an agent to the project.
    pub async fn agent_add(
        &self,
        caller: &Caller,
        agent: AgentVersion,
        idempotency: Option<Idempotency>,
    ) -> Result<Definition, Error> {
        let mut problems = agent.check();
        problems.extend(agent.only_in_files());
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        for (index, tool) in agent.client_tools.iter().enumerate() {
            check_schema(self, &format!("/client_tools/{index}/schema"), &tool.schema)?;
        }
        add(self, caller, Definition::of_agent(&agent, caller.actor.clone(), self.now()), idempotency).await
    }

    /// Adds a version of a flow to the project.
    pub async fn flow_add(
        &self,
        caller: &Caller,
        flow: FlowVersion,
        idempotency: Option<Idempotency>,
    ) -> Result<Definition, Error> {
        let problems = flow.check();
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        for (pointer, schema) in flow.schemas() {
            check_schema(self, &pointer, schema)?;
        }
        add(self, caller, Definition::of_flow(&flow, caller.actor.clone(), self.now()), idempotency).await
    }

    /// Retires a version, so that new sessions cannot use it.
    pub async fn definition_retire(
        &self,
        caller: &Caller,
        kind: DefinitionKind,
        (name, version): (String, String),
        idempotency: Option<Idempotency>,
    ) -> Result<(), Error> {
        caller.require(Right::ManagePolicy)?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let at = work.now;
            if !work.tx.definition_retire(&scope, kind, (&name, &version), at)? {
                return Err(Refusal::NotFound(kind.name()).into());
            }
            let retired = DefinitionNamed { kind, name: name.clone(), version: version.clone() };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::DefinitionRetired(retired)))
        })
        .await
    }

    /// Returns a page of versions by name, from the project and from the server's files, and whether more may follow.
    pub async fn definition_list(
        &self,
        caller: &Caller,
        kind: DefinitionKind,
        page: Page<(String, String)>,
    ) -> Result<(Vec<DefinitionListing>, bool), Error> {
        caller.require(Right::Read)?;
        let (scope, limit) = (caller.scope, page.limit);
        let offered = steps::server_files::offered(self, scope).await?;
        let (after, filed) = (page.after.clone(), offered.definitions(kind, self.now()));
        let ((kept, mut more), filed) = self
            .list(caller, move |reads, _| {
                let kept = read_page(reads, &scope, kind, (page.clone(), &offered))?;
                let mut unused = Vec::new();
                for one in &filed {
                    // A version that the project has stored is already in `kept`, or was retired.
                    if reads.definition(&scope, kind, &one.name, &one.version)?.is_none() {
                        unused.push(one.clone());
                    }
                }
                Ok((kept, unused))
            })
            .await?;
        // Versions from files that sort after the last stored one of this page come with a later page.
        let last = kept.last().filter(|_| more).map(|last| (last.name.clone(), last.version.clone()));
        let key = |one: &Definition| (one.name.clone(), one.version.clone());
        let unused = filed.into_iter().filter(|one| {
            let key = key(one);
            after.as_ref().is_none_or(|after| key > *after) && last.as_ref().is_none_or(|last| key <= *last)
        });
        let unused: Vec<DefinitionListing> =
            unused.map(|definition| DefinitionListing { definition, from_file: true }).collect();
        let kept = kept.into_iter().map(|definition| DefinitionListing { definition, from_file: false });
        let mut all: Vec<DefinitionListing> = kept.chain(unused).collect();
        all.sort_by_key(|one| key(&one.definition));
        more |= all.len() >= limit as usize;
        all.truncate(limit as usize);
        Ok((all, more))
    }

    /// Returns a version, from the project if stored there, otherwise from the server's files.
    pub async fn definition_get(
        &self,
        caller: &Caller,
        kind: DefinitionKind,
        (name, version): (String, String),
    ) -> Result<DefinitionListing, Error> {
        caller.require(Right::Read)?;
        let (scope, wanted) = (caller.scope, (name.clone(), version.clone()));
        let kept = self.read(Cost::Point, move |reads| Ok(reads.definition(&scope, kind, &wanted.0, &wanted.1)?));
        let offered = steps::server_files::offered(self, scope).await?;
        if let Some(definition) = kept.await?.filter(|kept| offered.allows(kept)) {
            return Ok(DefinitionListing { definition, from_file: false });
        }
        let filed = offered.definitions(kind, self.now());
        let found = filed.into_iter().find(|one| one.name == name && one.version == version);
        found
            .map(|definition| DefinitionListing { definition, from_file: true })
            .ok_or_else(|| Refusal::NotFound(kind.name()).into())
    }

    /// Returns the version of an agent that a step runs.
    pub async fn agent_of(&self, scope: Scope, name: &str, version: &str) -> Result<AgentVersion, Error> {
        let (name, version) = (name.to_owned(), version.to_owned());
        let found = self
            .read(Cost::Point, move |reads| Ok(reads.definition(&scope, DefinitionKind::Agent, &name, &version)?));
        body(found.await?.ok_or(Refusal::NotFound("agent"))?)
    }

    /// Returns the flow that a session follows.
    pub async fn flow_of(&self, session: &Session) -> Result<Option<FlowVersion>, Error> {
        let (Some(name), Some(version)) = (session.head.flow.clone(), session.head.flow_version.clone()) else {
            return Ok(None);
        };
        let scope = session.scope;
        let found =
            self.read(Cost::Point, move |reads| Ok(reads.definition(&scope, DefinitionKind::Flow, &name, &version)?));
        body(found.await?.ok_or(Refusal::NotFound("flow"))?).map(Some)
    }
}

fn check_schema(engine: &Engine, pointer: &str, schema: &serde_json::Value) -> Result<(), Error> {
    if schema.is_null() {
        return Ok(());
    }
    let checked = engine.forms.admit(schema);
    checked.map_err(|error| {
        let problem = domain::Problem::new(format!("{pointer}{}", error.pointer), error.reason.to_string());
        Error::from(Refusal::QuestionInvalid(vec![problem]))
    })
}

async fn add(
    engine: &Engine,
    caller: &Caller,
    definition: Definition,
    idempotency: Option<Idempotency>,
) -> Result<Definition, Error> {
    caller.require(Right::ManagePolicy)?;
    let scope = caller.scope;
    engine
        .command(caller, idempotency, move |work| {
            let definition = Definition { at: work.now, ..definition.clone() };
            save_definition(work, &scope, &definition)?;
            Ok(definition)
        })
        .await
}

/// Returns a page of the stored versions that a project may use, and whether more may follow. Only the last page can be empty.
fn read_page(
    reads: &mut dyn Reads,
    scope: &Scope,
    kind: DefinitionKind,
    (page, offered): (Page<(String, String)>, &OfferedDefinitions),
) -> Result<(Vec<Definition>, bool), Error> {
    let mut pages = Pages::from(page, name_and_version);
    while let Some(kept) = pages.next(|page| reads.definitions(scope, kind, page))? {
        let found: Vec<Definition> = kept.into_iter().filter(|kept| offered.allows(kept)).collect();
        if !found.is_empty() {
            return Ok((found, !pages.is_over()));
        }
    }
    Ok((Vec::new(), false))
}

/// Position of a definition in the list of its kind.
pub(crate) fn name_and_version(definition: &Definition) -> (String, String) {
    (definition.name.clone(), definition.version.clone())
}

/// Whether a project has, or had, a hosted agent of this name.
pub(crate) fn is_known_agent(
    reads: &mut dyn Reads,
    scope: &Scope,
    offered: &OfferedDefinitions,
    name: &str,
) -> Result<bool, Error> {
    let page = Page { after: Some((name.to_owned(), String::new())), limit: 1 };
    let kept = reads.definitions(scope, DefinitionKind::Agent, page)?;
    Ok(offered.agents().any(|agent| agent.name == name) || kept.iter().any(|kept| kept.name == name))
}

/// Deserializes the body of a definition.
pub(crate) fn body<T: DeserializeOwned>(definition: Definition) -> Result<T, Error> {
    serde_json::from_value(definition.body).map_err(|error| StoreError::Corrupt(error.to_string()).into())
}

/// Stores a version, and appends it to the audit trail if it is new. Refuses a version that is stored with another body.
pub(crate) fn save_definition(work: &mut Work<'_>, scope: &Scope, definition: &Definition) -> Result<(), Error> {
    let Definition { kind, name, version, body, by, .. } = definition;
    if work.tx.definition_insert(scope, definition)? {
        let added = DefinitionNamed { kind: *kind, name: name.clone(), version: version.clone() };
        let details = AuditDetails::Definition(DefinitionDetails { definition: definition.public_body() });
        let draft = AuditDraft::by(by, AuditKind::DefinitionAdded(added)).recording(details);
        return work.append_audit(scope, &draft);
    }
    let known = work.tx.definition(scope, *kind, name, version)?;
    if known.is_some_and(|known| known.body == *body) {
        return Ok(());
    }
    let (name, version) = (name.clone(), version.clone());
    Err(Refusal::VersionExists { kind: kind.name(), name, version }.into())
}

/// Finds the agent that a new session would run: an agent of the project, otherwise of the server's files. An agent of the files is then stored in
/// the project.
pub(crate) fn resolve_agent(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
    (name, version): (&str, Option<&str>),
) -> Result<Option<AgentVersion>, Error> {
    if let Some(found) = find_definition(work, scope, offered, DefinitionKind::Agent, (name, version))? {
        return body(found).map(Some);
    }
    let fits = |agent: &&AgentVersion| agent.name == name && version.is_none_or(|version| agent.version == version);
    let Some(agent) = offered.agents().rfind(fits) else { return Ok(None) };
    let definition = Definition::of_agent(agent, Actor::system(), work.now);
    if is_retired(work, scope, &definition)? {
        return Ok(None);
    }
    save_definition(work, scope, &definition)?;
    Ok(Some(agent.clone()))
}

/// Returns the names of the agents that a new session could run.
pub(crate) fn list_available_agents(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
) -> Result<BTreeSet<String>, Error> {
    const BATCH: u32 = 200;
    let (mut names, mut pages) = (BTreeSet::new(), Pages::new(BATCH, name_and_version));
    while let Some(kept) = pages.next(|page| work.tx.definitions(scope, DefinitionKind::Agent, page))? {
        let brought = |one: &Definition| one.retired_at.is_none() && one.by != Actor::system();
        names.extend(kept.into_iter().filter(brought).map(|one| one.name));
    }
    for agent in offered.agents() {
        if !is_retired(work, scope, &Definition::of_agent(agent, Actor::system(), work.now))? {
            names.insert(agent.name.clone());
        }
    }
    Ok(names)
}

/// Whether this project has, or had, a hosted agent of this name.
pub(crate) fn has_known_agent(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
    name: &str,
) -> Result<bool, Error> {
    is_known_agent(&mut *work.tx, scope, offered, name)
}

/// Finds the flow that a new session would follow: a flow of the project, otherwise of the server's files. A flow of the files is then stored in
/// the project.
pub(crate) fn resolve_flow(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
    (name, version): (&str, Option<&str>),
) -> Result<Option<FlowVersion>, Error> {
    if let Some(found) = find_definition(work, scope, offered, DefinitionKind::Flow, (name, version))? {
        return body(found).map(Some);
    }
    let fits = |flow: &&FlowVersion| flow.name == name && version.is_none_or(|version| flow.version == version);
    let Some(flow) = offered.flows().rfind(fits) else { return Ok(None) };
    let definition = Definition::of_flow(flow, Actor::system(), work.now);
    if is_retired(work, scope, &definition)? {
        return Ok(None);
    }
    save_definition(work, scope, &definition)?;
    Ok(Some(flow.clone()))
}

/// Whether the project has retired this version, even if the files still offer it.
fn is_retired(work: &mut Work<'_>, scope: &Scope, definition: &Definition) -> Result<bool, Error> {
    let Definition { kind, name, version, .. } = definition;
    let known = work.tx.definition(scope, *kind, name, version)?;
    Ok(known.is_some_and(|known| known.retired_at.is_some()))
}

/// Finds a version that was added to the project. Without a version number, definitions that came from a file are skipped, because the current file
/// decides. With a version number, a stored definition of a file is found too, if it still belongs to the project.
fn find_definition(
    work: &mut Work<'_>,
    scope: &Scope,
    offered: &OfferedDefinitions,
    kind: DefinitionKind,
    (name, version): (&str, Option<&str>),
) -> Result<Option<Definition>, Error> {
    let found = match version {
        Some(version) => work
            .tx
            .definition(scope, kind, name, version)?
            .filter(|found| found.retired_at.is_none() && offered.allows(found)),
        None => work.tx.definition_newest(scope, kind, name)?.filter(|found| found.by != Actor::system()),
    };
    Ok(found)
}
