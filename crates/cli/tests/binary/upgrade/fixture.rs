//! Unpacks the archive and prepares it for a start.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::postgres::TestDatabase;

use crate::agents::fake_model::FakeModel;
use crate::common::{Client, Deployment, Launch};
use crate::webhooks::endpoint::Endpoint;

/// Settings of the server; the module documentation of `upgrade` gives the reasons.
const SETTINGS: &[&str] =
    &["--retention-days", "36500", "--webhooks-networks", "127.0.0.0/8", "--step-lease-seconds", "3"];

/// Store that the archive is opened in.
pub(super) enum Store<'a> {
    Sqlite,
    Postgres(&'a TestDatabase),
}

/// Data of one store from the archive.
pub(super) struct Fixture {
    pub(super) deployment: Deployment,
    pub(super) manifest: Value,
    files: PathBuf,
}

/// Address of a server, callers by the names of their keys, and the manifest of the archive.
pub(super) struct UpgradedServer {
    pub(super) base: String,
    pub(super) manifest: Value,
    clients: BTreeMap<String, Client>,
}

impl Fixture {
    /// Unpacks the archive and opens the database before the binary under test does: webhooks and the model get the
    /// addresses of this test, and records that are kept for hours get the time of today.
    pub(super) fn open(store: &Store<'_>, endpoint: &Endpoint, model: &FakeModel) -> Self {
        let (name, deployment) = match store {
            Store::Sqlite => ("sqlite", Deployment::sqlite()),
            Store::Postgres(database) => ("postgres", Deployment::postgres(database.url())),
        };
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-20.tar.gz");
        let unpacked =
            Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(deployment.path("")).arg(name).status().unwrap();
        assert!(unpacked.success());
        let files = deployment.path(name);
        let deployment = deployment.with_data(&files.join("data"));
        let manifest: Value = serde_json::from_slice(&fs::read(files.join("manifest.json")).unwrap()).unwrap();
        let listener = manifest["listener"].as_str().unwrap();
        let thinker = files.join("agents/thinker.toml");
        let text = fs::read_to_string(&thinker).unwrap().replace(&format!("{listener}/v1"), &address(model));
        fs::write(&thinker, text).unwrap();
        let changes = |now: &str| {
            format!(
                "update webhooks set body = replace(body, '{listener}', '{}');
                 update definitions set body = replace(body, '{listener}/v1', '{}');
                 update once set at = {now};
                 update visits set created_at = {now}, seen_at = {now};
                 update links set expires_at = {now} + 900000000;",
                endpoint.url(""),
                address(model)
            )
        };
        match store {
            Store::Sqlite => {
                let database = rusqlite::Connection::open(files.join("data/holdpoint.db")).unwrap();
                database.execute_batch(&changes("(unixepoch() * 1000000)")).unwrap();
            }
            Store::Postgres(database) => {
                let dump = fs::read_to_string(files.join("dump.sql")).unwrap();
                database.connect().unwrap().batch_execute(&dump).unwrap();
                let now = "(extract(epoch from now())::bigint * 1000000)";
                database.connect().unwrap().batch_execute(&changes(now)).unwrap();
                // The dump comes from another cluster. There is nothing to adopt if this cluster is ahead of it.
                let adopted = deployment.run(&["database", "adopt"]);
                assert!(adopted.status.success(), "{adopted:?}");
            }
        }
        Self { deployment, manifest, files }
    }

    /// Describes a server that runs this many steps at once.
    pub(super) fn launch(&self, steps: usize) -> Launch {
        let path = |name: &str| self.files.join(name).display().to_string();
        let (agents, workspaces, steps) = (path("agents"), path("workspaces"), steps.to_string());
        let launch = self.deployment.launch().with(SETTINGS);
        launch.with(&["--agents", &agents, "--workspaces", &workspaces, "--worker-steps", &steps])
    }

    /// Builds a client for every key in the archive.
    pub(super) fn upgraded(&self, launch: &Launch) -> UpgradedServer {
        let keys = self.manifest["keys"].as_object().unwrap().iter();
        let clients = keys.map(|(name, key)| (name.clone(), launch.client(key.as_str().unwrap()))).collect();
        UpgradedServer { base: format!("http://{}", launch.address()), manifest: self.manifest.clone(), clients }
    }

    /// Contents of a file in the workspace of the agents.
    pub(super) fn workspace_file(&self, name: &str) -> String {
        fs::read_to_string(self.files.join("workspaces/demo").join(name)).unwrap()
    }
}

impl UpgradedServer {
    /// Client with the key of this name.
    pub(super) fn client(&self, name: &str) -> &Client {
        &self.clients[name]
    }

    /// Text at a pointer in the manifest.
    pub(super) fn text(&self, pointer: &str) -> String {
        let found = self.manifest.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("no text at {pointer} in the manifest")).to_owned()
    }
}

/// Address of the model in the form that agent definitions use.
fn address(model: &FakeModel) -> String {
    let definition = model.definition();
    let endpoint = definition.lines().find_map(|line| line.strip_prefix("endpoint = \"")?.strip_suffix('"'));
    endpoint.unwrap().to_owned()
}
