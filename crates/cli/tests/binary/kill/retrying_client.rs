//! A client that survives the death of servers: it retries on any node until it has a definite reply.

use std::time::{Duration, Instant};

use fastrand::Rng;
use reqwest::RequestBuilder;
use serde_json::Value;

use crate::common::{Client, PATIENCE, Reply};

/// A client with one key on several nodes, which it chooses at random.
pub(crate) struct RetryingClient {
    nodes: Vec<Client>,
    pub(crate) rng: Rng,
}

/// A reply that is not a request to retry.
pub(crate) struct FinalReply {
    pub(crate) reply: Reply,
    /// Number of earlier attempts without a reply, whose commands may have been executed.
    pub(crate) in_doubt: usize,
}

impl RetryingClient {
    /// Creates a client of these nodes.
    pub(crate) fn new(nodes: Vec<Client>, rng: Rng) -> Self {
        Self { nodes, rng }
    }

    /// Chooses a node at random.
    pub(crate) fn node(&mut self) -> &Client {
        &self.nodes[self.rng.usize(..self.nodes.len())]
    }

    /// Reads a resource, and repeats the request until it succeeds.
    pub(crate) async fn look(&mut self, path: &str) -> Value {
        self.send(|node| node.request("GET", path)).await.reply.done(200).body
    }

    /// Sends a command until there is a definite reply, always with the given idempotency key, if there is one.
    pub(crate) async fn command(&mut self, path: &str, body: &Value, idempotency_key: Option<&str>) -> FinalReply {
        self.send(|node| {
            let request = node.request("POST", path).json(body);
            idempotency_key.iter().fold(request, |request, key| request.header("Idempotency-Key", *key))
        })
        .await
    }

    async fn send(&mut self, request: impl Fn(&Client) -> RequestBuilder) -> FinalReply {
        let since = Instant::now();
        let mut in_doubt = 0;
        loop {
            let node = self.node();
            match node.attempt(request(node).timeout(Duration::from_secs(20))).await {
                Ok(reply) if reply.status == 503 || reply.body["code"] == "conflict" => {
                    in_doubt += usize::from(reply.body["code"] == "in_doubt");
                }
                Ok(reply) => return FinalReply { reply, in_doubt },
                Err(error) => in_doubt += usize::from(!error.is_connect()),
            }
            assert!(since.elapsed() < PATIENCE, "no definite reply");
            tokio::time::sleep(Duration::from_millis(self.rng.u64(2..20))).await;
        }
    }
}
