//! Brings every action of the archive to its end: permits start calls, waiting actions are approved, and people settle
//! lost ones.

use serde_json::{Value, json};

use super::fixture::UpgradedServer;
use crate::common::{Client, until};

pub(super) async fn every_action_ends(upgraded: &UpgradedServer) {
    let session = Actions::new(upgraded, "/actions/session");
    session.permitted_actions_run(upgraded).await;
    session.void_permits_are_refused(upgraded).await;
    session.waiting_actions_are_approved(upgraded).await;
    Actions::new(upgraded, "/brief/session").lost_runs_are_settled(upgraded).await;
    grant_lets_a_call_through(upgraded).await;
    policy_goes_on(upgraded).await;
}

/// Actions of one session.
struct Actions<'a> {
    path: String,
    bot: &'a Client,
    alice: &'a Client,
}

impl<'a> Actions<'a> {
    fn new(upgraded: &'a UpgradedServer, session: &str) -> Self {
        let path = format!("/v1/sessions/{}/actions", upgraded.text(session));
        Self { path, bot: upgraded.client("bot"), alice: upgraded.client("alice") }
    }

    async fn shown(&self, call: &str) -> Value {
        self.bot.get(&format!("{}/{call}", self.path)).await.done(200).body
    }

    async fn start(&self, call: &str, permit: &str) -> crate::common::Reply {
        self.bot.post(&format!("{}/{call}/start", self.path), json!({ "permit": permit })).await
    }

    async fn report(&self, call: &str, permit: &str) {
        let body = json!({ "outcome": "done", "result": { "call": call }, "permit": permit });
        let done = self.bot.post(&format!("{}/{call}/outcome", self.path), body).await.done(200).body;
        assert_eq!((&done["state"], &done["result"]["call"]), (&json!("done"), &json!(call)));
    }

    async fn run(&self, call: &str, permit: &str) {
        let started = self.start(call, permit).await.done(200);
        assert_eq!(started.text("/state"), "started");
        self.start(call, permit).await.problem(409, "action_state");
        self.report(call, permit).await;
    }

    async fn permitted_actions_run(&self, upgraded: &UpgradedServer) {
        let permit = |call: &str| upgraded.text(&format!("/actions/permits/{call}"));
        for call in ["approved", "allowed", "edited", "granted"] {
            self.run(call, &permit(call)).await;
        }
        assert_eq!(self.shown("edited").await["arguments"]["content"], "edited");
        self.report("started", &permit("started")).await;
        self.alice.answer(&upgraded.text("/actions/unknown"), json!({ "option": "it_ran" })).await.done(200);
        assert_eq!(self.shown("unknown").await["state"], "done");
    }

    async fn void_permits_are_refused(&self, upgraded: &UpgradedServer) {
        for call in ["revoked", "ended"] {
            self.start(call, &upgraded.text(&format!("/actions/permits/{call}"))).await.problem(409, "permit_void");
        }
    }

    async fn waiting_actions_are_approved(&self, upgraded: &UpgradedServer) {
        let (waiting, paying) = (upgraded.text("/actions/waiting"), upgraded.text("/actions/paying"));
        // The database has the policy floor of the server that made the archive. Its rule needs finance, and Bob is not
        // in finance.
        let voted = upgraded.client("bob").answer(&paying, json!({ "option": "approve" })).await.done(200);
        assert_eq!(voted.text("/status"), "pending");
        for (call, question) in [("waiting", waiting), ("paying", paying)] {
            self.alice.answer(&question, json!({ "option": "approve" })).await.done(200);
            let permit = self.shown(call).await["permit"].as_str().unwrap().to_owned();
            self.run(call, &permit).await;
        }
    }

    /// Two actions whose leases ended soon after the kill: people are asked about one, and the other may run again.
    async fn lost_runs_are_settled(&self, upgraded: &UpgradedServer) {
        let lost = until("a question about the lost run", async || {
            let shown = self.shown("lost").await;
            (shown["state"] == "unknown").then(|| shown["interaction"].as_str().map(str::to_owned))?
        })
        .await;
        self.alice.answer(&lost, json!({ "option": "it_failed" })).await.done(200);
        assert_eq!(self.shown("lost").await["state"], "failed");
        let permit =
            until("another permit", async || self.shown("repeatable").await["permit"].as_str().map(str::to_owned))
                .await;
        assert_ne!(permit, upgraded.text("/brief/repeatable_permit"));
        self.run("repeatable", &permit).await;
    }
}

/// A grant of the archive allows a call in a new session, and its uses are counted further.
async fn grant_lets_a_call_through(upgraded: &UpgradedServer) {
    let (bot, alice) = (upgraded.client("bot"), upgraded.client("alice"));
    let call =
        |call: &str, path: &str| json!({ "call_id": call, "tool": "rename_file", "arguments": { "path": path } });
    let actions = format!("/v1/sessions/{}/actions", bot.start().await);
    let allowed = bot.post(&actions, call("covered", "/srv/names/c")).await.done(200);
    assert_eq!(allowed.text("/state"), "allowed");
    let grants = alice.get("/v1/grants").await.done(200).body;
    let grant = grants["grants"].as_array().unwrap().iter().find(|grant| grant["id"] == allowed.body["grant"]);
    assert_eq!(grant.unwrap()["uses"], 2, "{grants}");
    bot.post(&actions, call("other", "/srv/other/c")).await.done(202);
}

/// The suspension of a rule by an answer is lifted, and the rule allows again. The policy draft is evaluated and
/// deleted.
async fn policy_goes_on(upgraded: &UpgradedServer) {
    let (bot, root) = (upgraded.client("bot"), upgraded.client("root"));
    let restart = &upgraded.manifest["policy"]["restart"];
    let actions = format!("/v1/sessions/{}/actions", bot.start().await);
    let call = |call: &str| json!({ "call_id": call, "tool": restart["tool"], "arguments": restart["arguments"] });
    bot.post(&actions, call("suspended")).await.done(202);
    let changes = async || {
        let shadow = root.get("/v1/policy/shadow").await.done(200).body;
        shadow["changes"].as_array().unwrap().iter().map(|change| change["count"].as_u64().unwrap()).sum::<u64>()
    };
    until("another difference", async || (changes().await >= 2).then_some(())).await;
    root.attempt(root.request("DELETE", "/v1/policy/shadow")).await.unwrap().done(204);
    let lift = format!("/v1/policy/suspensions/{}/lift", upgraded.text("/policy/suspended"));
    root.post(&lift, json!({ "reason": "allowed again" })).await.done(200);
    assert_eq!(bot.post(&actions, call("lifted")).await.done(200).text("/state"), "allowed");
    bot.post(&actions, json!({ "call_id": "dropped", "tool": "drop_table", "arguments": {} })).await.done(200);
}
