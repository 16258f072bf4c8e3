//! Tests actions on two nodes of one PostgreSQL database: one question, one start, and exactly counted uses of a grant.

use serde_json::{Value, json};

use crate::common::{Client, Reply, on_postgres, soon};
use crate::nodes::Nodes;

impl Nodes {
    /// Client of the agent, on node A for even turns and on node B for odd ones.
    fn bot(&self, turn: usize) -> Client {
        if turn.is_multiple_of(2) { self.a.client(&self.bot) } else { self.b.client(&self.bot) }
    }
}

fn writing(call: &str) -> Value {
    json!({ "call_id": call, "tool": "write_file", "arguments": { "path": "notes.md" } })
}

/// Sends a command this many times concurrently, alternating between both nodes.
async fn send_concurrently(nodes: &Nodes, times: usize, path: &str, body: impl Fn(usize) -> Value) -> Vec<Reply> {
    let all = (0..times).map(|turn| {
        let (bot, body) = (nodes.bot(turn), body(turn));
        async move { bot.post(path, body).await }
    });
    soon("the replies", futures::future::join_all(all)).await
}

#[test]
fn call_proposed_on_two_nodes_has_one_question_and_one_start() {
    on_postgres(async |deployment| {
        let nodes = Nodes::start(deployment).await;
        let session = nodes.bot(0).start().await;
        let actions = format!("/v1/sessions/{session}/actions");
        for round in 0..5 {
            let call = format!("c{round}");
            let proposed = send_concurrently(&nodes, 10, &actions, |_| writing(&call)).await;
            let mut asked: Vec<String> =
                proposed.into_iter().map(|reply| reply.done(202).text("/interaction")).collect();
            asked.dedup();
            assert_eq!(asked.len(), 1, "{asked:?}");
            nodes.b.client(&nodes.alice).approve(&asked[0]).await;
            let path = format!("{actions}/{call}");
            let permit = nodes.bot(round).get(&format!("{path}?wait=60")).await.done(200).text("/permit");
            let started =
                send_concurrently(&nodes, 10, &format!("{path}/start"), |_| json!({ "permit": permit })).await;
            let (won, lost): (Vec<Reply>, Vec<Reply>) = started.into_iter().partition(|reply| reply.status == 200);
            assert_eq!(won.len(), 1);
            for reply in lost {
                reply.problem(409, "action_state");
            }
            nodes.bot(round).post(&format!("{path}/outcome"), json!({ "outcome": "done" })).await.done(200);
        }
        let events = nodes.bot(0).get(&format!("/v1/sessions/{session}/events?limit=200")).await.done(200).body;
        let events = events["events"].as_array().unwrap();
        for name in ["interaction.asked", "action.waiting", "action.allowed", "action.started", "action.done"] {
            assert_eq!(events.iter().filter(|event| event["type"] == name).count(), 5, "{name}");
        }
    });
}

#[test]
fn two_nodes_count_the_uses_of_a_grant_exactly() {
    on_postgres(async |deployment| {
        let nodes = Nodes::start(deployment).await;
        let session = nodes.bot(0).start().await;
        let actions = format!("/v1/sessions/{session}/actions");
        let first = nodes.bot(0).post(&actions, writing("first")).await.done(202).text("/interaction");
        let body = json!({
            "option": "approve", "remember": { "scope": "project", "arguments": "exact", "uses": 7 }
        });
        nodes.a.client(&nodes.alice).answer(&first, body).await.done(200);
        // Each call has its own session, so that only the grant itself can serialize them.
        let mut others = Vec::new();
        for _ in 0..20 {
            others.push(nodes.bot(0).start().await);
        }
        let all = others.iter().enumerate().map(|(turn, session)| {
            let (bot, path) = (nodes.bot(turn), format!("/v1/sessions/{session}/actions"));
            async move { bot.post(&path, writing("next")).await }
        });
        let replies = soon("the replies", futures::future::join_all(all)).await;
        let allowed = replies.iter().filter(|reply| reply.body["state"] == "allowed").count();
        let waiting = replies.iter().filter(|reply| reply.body["state"] == "waiting").count();
        assert_eq!((allowed, waiting), (7, 13), "{replies:?}");
        let grants = nodes.b.client(&nodes.alice).get("/v1/grants?over=true").await.done(200).body;
        assert_eq!((&grants["grants"][0]["uses"], &grants["grants"][0]["in_force"]), (&json!(7), &json!(false)));
    });
}
