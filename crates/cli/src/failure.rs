//! The errors with which a command ends.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use domain::{Problem, Refusal};
use store::StoreError;

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("{0}: {1}")]
    Data(PathBuf, io::Error),
    #[error("cannot serve: {0}")]
    Serve(io::Error),
    #[error("{0}; stop it first, or give another --data")]
    InUse(StoreError),
    #[error("{0}; use that version, or another database")]
    Newer(StoreError),
    #[error(transparent)]
    Store(StoreError),
    #[error("{0}")]
    Refused(engine::Error),
    #[error("the input is not valid: {}", listed(.0))]
    Invalid(Vec<Problem>),
    #[error("{path}: {why}")]
    MasterKey { path: PathBuf, why: String },
    #[error(
        "the values in this database were sealed with another master key: give the key that the database was created with, as \
         HOLDPOINT_MASTER_KEY or as the file master.key in the data directory"
    )]
    OtherMasterKey,
    #[error(
        "there is nothing to rotate to: give the new key as HOLDPOINT_MASTER_KEY and the one in force as \
         HOLDPOINT_MASTER_KEY_PREVIOUS, to every node first"
    )]
    NoPreviousMasterKey,
    #[error("--prepare adds a key to the file master.key; with HOLDPOINT_MASTER_KEY you give the keys yourself")]
    NothingToPrepare,
    #[error("the metrics cannot be set up: {0}")]
    Metrics(String),
    #[error("the identity provider cannot be reached: {0}")]
    Oidc(String),
    #[error("webhooks cannot be sent: {0}")]
    Webhooks(String),
    #[error("--log: {0}")]
    Log(String),
    #[error("traces cannot be sent: {0}")]
    Traces(String),
    #[error("the OpenAPI document cannot be written: {0}")]
    Document(serde_json::Error),
    #[error("{0}: not verified: {1}")]
    NotVerified(PathBuf, String),
    #[error("the export cannot be written: {0}")]
    Export(io::Error),
    #[error("the database is damaged:\n{0}")]
    Damaged(String),
    #[error("{0} works on the SQLite database of a data directory; for PostgreSQL use its own tools")]
    SqliteOnly(&'static str),
    #[error(
        "{0} works on a PostgreSQL database: give --database-url; a SQLite file can be copied and restored as it is"
    )]
    PostgresOnly(&'static str),
    #[error(
        "this database was restored from a dump into another PostgreSQL cluster: its log records transaction {recorded}, and this \
         cluster would record {next} next, so that nothing new would be chained, listed or streamed. Stop every node, run \
         `holdpoint database adopt` with the same --database-url, then start again"
    )]
    NotAdopted { recorded: u64, next: u64 },
    #[error(
        "audit entries have no place in their chain, and an export would leave them out: stop every node, run `holdpoint \
         database adopt` with the same --database-url, then start again"
    )]
    AuditIncomplete,
    #[error("{0} connections of holdpoint to this database are open: stop every node and every other command first")]
    NodesRunning(u64),
    #[error("{0}: {1}")]
    PolicyUnread(PathBuf, io::Error),
    #[error("the policy is refused:\n{0}")]
    PolicyInvalid(String),
    #[error("the agents and flows are refused:\n{0}")]
    DefinitionsInvalid(String),
    #[error(
        "a separate worker needs a database that several processes can share: give --database-url, or let `holdpoint \
         serve` run the agents"
    )]
    WorkerNeedsPostgres,
    #[error(
        "neither of the directories of workspaces {} and of data {} may contain the other, so that no agent can reach \
         the keys: move one of them",
        workspaces.display(), data.display()
    )]
    WorkspacesInData { workspaces: PathBuf, data: PathBuf },
    #[error(
        "{} belongs to the operator and must be outside the workspaces {}, so that no agent can write its own rules: \
         move it",
        path.display(), workspaces.display()
    )]
    OperatorFileInWorkspaces { path: PathBuf, workspaces: PathBuf },
    #[error("--worker-steps must be at least 1 for a worker")]
    WorkerIdle,
    #[error("--arguments must be a JSON object: {0}")]
    ArgumentsInvalid(String),
    #[error("the catalogue knows no tool of the client `{0}` that takes a command line: give --tool")]
    NoCommandTool(String),
    #[error("{0} of the examples failed")]
    ExamplesFailed(usize),
    #[error("the explanation cannot be written: {0}")]
    Explanation(io::Error),
    #[error("{0} of the files would be refused")]
    PolicyRefused(usize),
    #[error("{} would be refused; errors: {problems}", dir.display())]
    DefinitionsRefused { dir: PathBuf, problems: usize },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::InUse(_) => Self::InUse(error),
            StoreError::Newer(_) | StoreError::Diverged(_) => Self::Newer(error),
            other => Self::Store(other),
        }
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Store(error) => error.into(),
            engine::Error::Sealed => Self::OtherMasterKey,
            engine::Error::AuditIncomplete(_) => Self::AuditIncomplete,
            engine::Error::Refused(Refusal::QuestionInvalid(problems)) => Self::Invalid(problems),
            other => Self::Refused(other),
        }
    }
}

fn listed(problems: &[Problem]) -> String {
    let said: Vec<String> =
        problems.iter().map(|Problem { pointer, message }| format!("{pointer} {message}")).collect();
    said.join("; ")
}
