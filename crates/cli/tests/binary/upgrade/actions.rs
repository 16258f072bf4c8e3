//! Brings every action of the archive to its end: permits start calls, waiting actions are approved, and people settle lost ones.

use serde_json::{Value, json};

use super::fixture::Cast;
use crate::common::{Client, until};

pub(super) async fn every_action_ends(cast: &Cast) {
    let session = Actions::new(cast, "/actions/session");
    session.permitted_actions_run(cast).await;
    session.void_permits_are_refused(cast).await;
    session.waiting_actions_are_approved(cast).await;
    Actions::new(cast, "/brief/session").lost_runs_are_settled(cast).await;
    grant_lets_a_call_through(cast).await;
    policy_goes_on(cast).await;
}

/// Actions of one session.
struct Actions<'a> {
    path: String,
    bot: &'a Client,
    alice: &'a Client,
}

impl<'a> Actions<'a> {
    fn new(cast: &'a Cast, session: &str) -> Self {
        let path = format!("/v1/sessions/{}/actions", cast.text(session));
        Self { path, bot: cast.client("bot"), alice: cast.client("alice") }
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

    async fn permitted_actions_run(&self, cast: &Cast) {
        let permit = |call: &str| cast.text(&format!("/actions/permits/{call}"));
        for call in ["approved", "allowed", "edited", "granted"] {
            self.run(call, &permit(call)).await;
        }
        assert_eq!(self.shown("edited").await["arguments"]["content"], "edited");
        self.report("started", &permit("started")).await;
        self.alice.answer(&cast.text("/actions/unknown"), json!({ "option": "it_ran" })).await.done(200);
        assert_eq!(self.shown("unknown").await["state"], "done");
    }

    async fn void_permits_are_refused(&self, cast: &Cast) {
        for call in ["revoked", "ended"] {
            self.start(call, &cast.text(&format!("/actions/permits/{call}"))).await.problem(409, "permit_void");
        }
    }

    async fn waiting_actions_are_approved(&self, cast: &Cast) {
        let (waiting, paying) = (cast.text("/actions/waiting"), cast.text("/actions/paying"));
        // The database has the policy floor of the server that made the archive. Its rule needs finance, and Bob is not in finance.
        let voted = cast.client("bob").answer(&paying, json!({ "option": "approve" })).await.done(200);
        assert_eq!(voted.text("/status"), "pending");
        for (call, question) in [("waiting", waiting), ("paying", paying)] {
            self.alice.answer(&question, json!({ "option": "approve" })).await.done(200);
            let permit = self.shown(call).await["permit"].as_str().unwrap().to_owned();
            self.run(call, &permit).await;
        }
    }

    /// Two actions whose leases ended soon after the kill: people are asked about one, and the other may run again.
    async fn lost_runs_are_settled(&self, cast: &Cast) {
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
        assert_ne!(permit, cast.text("/brief/repeatable_permit"));
        self.run("repeatable", &permit).await;
    }
}

/// A grant of the archive allows a call in a new session, and its uses are counted further.
async fn grant_lets_a_call_through(cast: &Cast) {
    let (bot, alice) = (cast.client("bot"), cast.client("alice"));
    let proposal =
        |call: &str, path: &str| json!({ "call_id": call, "tool": "rename_file", "arguments": { "path": path } });
    let actions = format!("/v1/sessions/{}/actions", bot.start().await);
    let allowed = bot.post(&actions, proposal("covered", "/srv/names/c")).await.done(200);
    assert_eq!(allowed.text("/state"), "allowed");
    let grants = alice.get("/v1/grants").await.done(200).body;
    let grant = grants["grants"].as_array().unwrap().iter().find(|grant| grant["id"] == allowed.body["grant"]);
    assert_eq!(grant.unwrap()["uses"], 2, "{grants}");
    bot.post(&actions, proposal("other", "/srv/other/c")).await.done(202);
}

/// The suspension of a rule by an answer is lifted, and the rule allows again. The policy draft is evaluated and deleted.
async fn policy_goes_on(cast: &Cast) {
    let (bot, root) = (cast.client("bot"), cast.client("root"));
    let restart = &cast.manifest["policy"]["restart"];
    let actions = format!("/v1/sessions/{}/actions", bot.start().await);
    let proposal = |call: &str| json!({ "call_id": call, "tool": restart["tool"], "arguments": restart["arguments"] });
    bot.post(&actions, proposal("suspended")).await.done(202);
    let changes = async || {
        let shadow = root.get("/v1/policy/shadow").await.done(200).body;
        shadow["changes"].as_array().unwrap().iter().map(|change| change["count"].as_u64().unwrap()).sum::<u64>()
    };
    until("another difference", async || (changes().await >= 2).then_some(())).await;
    root.attempt(root.request("DELETE", "/v1/policy/shadow")).await.unwrap().done(204);
    let lift = format!("/v1/policy/suspensions/{}/lift", cast.text("/policy/suspended"));
    root.post(&lift, json!({ "reason": "allowed again" })).await.done(200);
    assert_eq!(bot.post(&actions, proposal("lifted")).await.done(200).text("/state"), "allowed");
    bot.post(&actions, json!({ "call_id": "dropped", "tool": "drop_table", "arguments": {} })).await.done(200);
}
