//! Measures actions that the policy allows: proposed, started with their permit, and reported.

use std::net::SocketAddr;

use crate::Fallible;
use crate::client::{Connection, id_in};
use crate::http_loop::{Rounds, measure};
use crate::report::{Section, Table};
use crate::setup::{BenchSetup, Keys};

const START: &[u8] = br#"{"agent":"reader","title":"Reading"}"#;
const DONE: &[u8] = br#"{"outcome":"done","result":{"bytes":5}}"#;
/// Number of concurrent clients.
const CLIENTS: usize = 64;

/// Measures permits per second on every store.
pub(crate) fn section(setup: &BenchSetup) -> Fallible<Section> {
    let mut table = Table::new("Permits over HTTP (propose, allowed; start; outcome), a loop each; cpu is µs a loop");
    for store_kind in setup.stores() {
        measure::<Reader>(setup, store_kind, CLIENTS, "warn", &mut table)?;
    }
    Ok(Section { name: "permits", tables: vec![table], targets: Vec::new() })
}

/// An agent that proposes and runs one read action after another.
struct Reader {
    agent: Connection,
    actions: String,
    call: u64,
}

impl Rounds for Reader {
    async fn open(at: SocketAddr, keys: &Keys) -> Fallible<Self> {
        let mut agent = Connection::open(at, &keys.agent).await?;
        let session = agent.post("/v1/sessions", START).await?;
        let actions = format!("/v1/sessions/{}/actions", id_in(&session, "ses_")?);
        Ok(Self { agent, actions, call: 0 })
    }

    async fn round(&mut self) -> Fallible<()> {
        self.call += 1;
        let call = self.call;
        let body =
            format!(r#"{{"call_id":"call-{call}","tool":"read_file","arguments":{{"path":"notes/{call}.md"}}}}"#);
        let allowed = self.agent.post(&self.actions, body).await?;
        let allowed: serde_json::Value = serde_json::from_slice(&allowed)?;
        let permit = allowed["permit"].as_str().ok_or("the action was not allowed")?;
        let action = format!("{}/call-{call}", self.actions);
        self.agent.post(&format!("{action}/start"), format!(r#"{{"permit":"{permit}"}}"#)).await?;
        self.agent.post(&format!("{action}/outcome"), DONE).await.map(drop)
    }
}
