//! Tests the server's floor policy: nothing loosens its denials and questions.

use domain::{
    ActionState, AgentEnvironment, AnswerDraft, Effect, Refusal, Remember, Verdict, grant::RememberedArguments,
};
use holdpoint_engine::{ActionReply, Error, FileRefusal, HypotheticalCall, PolicyMismatch, Simulate};
use serde_json::json;

use crate::engine::policy_server::{Server, allowed, approval, on_both, policy, rule, waiting};

/// A floor rule that asks the group `security`.
fn asks_security() -> String {
    let audience = "[rule.ask]\naudience = { groups = [\"security\"] }\n";
    format!("{}{audience}", rule("secure", "ask"))
}

fn assert_permit_void(result: Result<ActionReply, Error>) {
    assert!(matches!(result, Err(Error::Refused(Refusal::NowAsked(_)))), "{result:?}");
}

fn assert_invalid_answer<T: std::fmt::Debug>(result: Result<T, Error>, pointer: &str) {
    match &result {
        Err(Error::Refused(Refusal::AnswerInvalid(problems))) => assert_eq!(problems[0].pointer, pointer),
        _ => unreachable!("{result:?}"),
    }
}

/// An approval with a grant for every call of the tool in this session.
fn approval_with_grant() -> AnswerDraft {
    let remember = Remember { project: false, arguments: RememberedArguments::Anything, seconds: None, uses: None };
    AnswerDraft { remember: Some(remember), ..approval() }
}

async fn switch_policy_off(server: &Server) {
    server.engine.policy_switch(&server.root, false, "a rehearsal".into(), None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn project_policy_cannot_loosen_a_denial_of_the_floor() {
    on_both(async |server: Server| {
        server.floor(&rule("never", "deny")).await;
        server.file(&rule("file", "allow")).await;
        let check = async |call: &str| {
            let ActionReply { action, .. } = server.proposes(call).await;
            assert_eq!(action.state, ActionState::Denied, "{call}");
            let ruling = action.ruling;
            assert_eq!((ruling.verdict, ruling.rule.as_deref()), (Verdict::Deny, Some("never")));
            let floor = ruling.floor.unwrap();
            assert_eq!((floor.verdict, floor.rule.as_deref()), (Verdict::Deny, Some("never")));
            assert_ne!(floor.version, ruling.policy);
        };
        check("by-the-file").await;
        server.own(&rule("own", "allow")).await;
        check("by-the-projects-policy").await;
        switch_policy_off(&server).await;
        check("with-the-policy-switched-off").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn project_policy_cannot_loosen_a_question_of_the_floor() {
    on_both(async |server: Server| {
        server.floor(&asks_security()).await;
        server.own(&rule("own", "allow")).await;
        let check = async |call: &str| {
            let shown = server.proposes(call).await;
            assert!(waiting(&shown), "{call}: {shown:?}");
            assert_invalid_answer(server.auto(&shown).await, "/effect");
            let outsider = server.approves(&server.alice, &shown).await;
            assert!(matches!(outsider, Err(Error::Refused(Refusal::NotInAudience))), "{call}: {outsider:?}");
            assert_invalid_answer(server.answers(&server.sam, &shown, approval_with_grant()).await, "/remember");
            server.approves(&server.sam, &shown).await.unwrap();
            let ready = server.sees(call).await;
            assert!(allowed(&ready), "{call}");
            server.starts(&server.engine, &ready).await.unwrap();
        };
        check("by-the-projects-policy").await;
        switch_policy_off(&server).await;
        check("with-the-policy-switched-off").await;
    })
    .await;
}

/// If both the floor and the project ask, both audiences must approve.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn audiences_of_the_floor_and_of_the_project_must_both_approve() {
    on_both(async |server: Server| {
        server.floor(&asks_security()).await;
        server.own(&format!("{}[rule.ask]\naudience = {{ users = [\"alice\"] }}\n", rule("own", "ask"))).await;
        for (call, order) in [("c1", [&server.alice, &server.sam]), ("c2", [&server.sam, &server.alice])] {
            let shown = server.proposes(call).await;
            server.approves(order[0], &shown).await.unwrap();
            assert!(waiting(&server.sees(call).await), "one approval is not enough");
            server.approves(order[1], &shown).await.unwrap();
            let ready = server.sees(call).await;
            server.starts(&server.engine, &ready).await.unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grant_does_not_answer_a_question_of_the_floor() {
    on_both(async |server: Server| {
        server.own(&rule("own", "ask")).await;
        let first = server.proposes("first").await;
        server.answers(&server.alice, &first, approval_with_grant()).await.unwrap();
        let granted = server.proposes("granted").await;
        assert!(allowed(&granted) && granted.action.grant.is_some());
        server.floor(&asks_security()).await;
        assert_permit_void(server.starts(&server.engine, &granted).await);
        assert!(waiting(&server.proposes("again").await));
    })
    .await;
}

/// A changed floor voids permits that it now denies or asks other people about, as a changed policy does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_floor_voids_permits() {
    on_both(async |server: Server| {
        server
            .own(&format!("{}\n[[rule]]\nname = \"open\"\ntools = [\"*\"]\nverdict = \"allow\"\n", rule("own", "ask")))
            .await;
        let by_alice = server.proposes("by-alice").await;
        server.approves(&server.alice, &by_alice).await.unwrap();
        let by_auto = server.proposes("by-a-program").await;
        server.auto(&by_auto).await.unwrap();
        let late = server.proposes("late").await;
        server.floor(&asks_security()).await;
        for call in ["by-alice", "by-a-program"] {
            let ready = server.sees(call).await;
            assert!(allowed(&ready));
            assert_permit_void(server.starts(&server.engine, &ready).await);
        }
        // Alice was asked before the floor was in force, and the floor does not ask her.
        server.approves(&server.alice, &late).await.unwrap();
        let ready = server.sees("late").await;
        if allowed(&ready) {
            assert_permit_void(server.starts(&server.engine, &ready).await);
        }
        server.floor(&rule("never", "deny")).await;
        let ready = server.sees("by-alice").await;
        let denied = server.starts(&server.engine, &ready).await;
        assert!(matches!(denied, Err(Error::Refused(Refusal::NowDenied(_)))), "{denied:?}");
        server.engine.floor_remove().await.unwrap();
        server.starts(&server.engine, &ready).await.unwrap();
    })
    .await;
}

/// Arguments edited by a person are judged by the floor too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edited_arguments_are_judged_by_the_floor() {
    on_both(async |server: Server| {
        let production = "when = 'args.to == \"production\"'\n";
        let (asking, denying) = (rule("secure", "ask"), rule("never", "deny"));
        server.own(&rule("own", "ask")).await;
        let edit = || AnswerDraft {
            effect: Some(Effect::Edit),
            arguments: Some(json!({ "to": "production" })),
            ..AnswerDraft::default()
        };
        server.floor(&format!("{asking}{production}[rule.ask]\naudience = {{ groups = [\"security\"] }}\n")).await;
        let shown = server.proposes("c1").await;
        server.answers(&server.alice, &shown, edit()).await.unwrap();
        let others = server.sees("c1").await;
        assert!(waiting(&others), "the audience of the floor is asked: {others:?}");
        assert_eq!(others.action.asked.len(), 2);
        server.floor(&format!("{denying}{production}")).await;
        let shown = server.proposes("c2").await;
        let denied = server.answers(&server.alice, &shown, edit()).await;
        assert!(matches!(denied, Err(Error::Refused(Refusal::EditDenied(_)))), "{denied:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_without_the_current_floor_permits_nothing() {
    on_both(async |server: Server| {
        server.own(&rule("own", "allow")).await;
        server.floor(&rule("never", "deny")).await;
        // A node that starts without the setting uses the floor in the store.
        let follower = server.another_node().await;
        assert_eq!(server.proposes_at(&follower, "c1").await.unwrap().action.state, ActionState::Denied);
        let other = server.another_node().await;
        other.floor_load("floor.toml".into(), policy(&rule("maybe", "allow"))).await.unwrap();
        let differs = server.proposes_at(&server.engine, "c2").await;
        assert!(matches!(&differs, Err(Error::PolicyDiffers(PolicyMismatch { part: "floor", .. }))), "{differs:?}");
        assert!(allowed(&server.proposes_at(&follower, "c2").await.unwrap()));
        // A process beside the servers does not change the floor of the servers.
        let worker = server.another_node().await;
        worker.work_beside_servers();
        worker.floor_load("floor.toml".into(), policy(&rule("own", "deny"))).await.unwrap();
        assert!(matches!(server.proposes_at(&worker, "c3").await, Err(Error::PolicyDiffers(_))));
        assert!(allowed(&server.proposes_at(&other, "c3").await.unwrap()));
        other.floor_remove().await.unwrap();
        assert!(allowed(&server.proposes_at(&follower, "c4").await.unwrap()));
        assert!(server.proposes_at(&follower, "c4").await.unwrap().action.ruling.floor.is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn explanations_and_simulations_apply_the_floor() {
    on_both(async |server: Server| {
        server.own(&rule("own", "allow")).await;
        server.proposes("c1").await;
        server.floor(&rule("never", "deny")).await;
        for draft in [None, Some(policy(&rule("draft", "allow")))] {
            let (tool, arguments) = ("deploy".to_owned(), json!({}));
            let environment = AgentEnvironment::default();
            let supposed =
                HypotheticalCall { tool, arguments, agent: None, user: None, role: None, environment, draft };
            let explained = server.engine.policy_explain(&server.root, supposed).await.unwrap();
            assert_eq!((explained.ruling.verdict, explained.ruling.rule.as_deref()), (Verdict::Deny, Some("never")));
            let floor = explained.floor.unwrap();
            assert_eq!((floor.ruling.verdict, floor.considered.len()), (Verdict::Deny, 1));
            assert_eq!(explained.considered.len(), 1);
        }
        let (file, text) = ("draft.toml".to_owned(), policy(&rule("draft", "allow")));
        let simulate = Simulate { file, text, limit: None, since: None };
        let simulation = server.engine.policy_simulate(&server.root, simulate).await.unwrap();
        assert_eq!(simulation.counts.get(&(Verdict::Allow, Verdict::Deny)), Some(&1));
        let bad = server.engine.floor_load("floor.toml".into(), "version = 1\ndefault = \"ask\"\n".into()).await;
        assert!(matches!(&bad, Err(FileRefusal::Refused(findings)) if findings[0].code == "floor_default"), "{bad:?}");
        let notices = server.engine.policy_get(&server.root).await.unwrap().1;
        assert!(!notices.floor_refused.unwrap().retried);
        assert_eq!(server.proposes("c2").await.action.state, ActionState::Denied, "the previous floor stays in force");
    })
    .await;
}
