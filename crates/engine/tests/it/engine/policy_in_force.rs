//! Tests that no node permits or starts an action under a policy file that is no longer in force.

use domain::{ActionState, AnswerDraft, Effect, Refusal, Verdict};
use holdpoint_engine::{ActionReply, Error, FileRefusal, PolicyMismatch};

use crate::engine::policy_server::{Server, allowed, approval, asked, on_both, rule, waiting};

/// Begins a command, replaces the policy file while the command's transaction is held back, and returns the result of the command.
async fn replace_file_during<T>(server: &Server, begun: impl Future<Output = T>, rules: &str) -> T {
    server.gate.hold();
    let replaced = async {
        server.gate.arrived().await;
        server.file(rules).await;
        server.gate.release();
    };
    tokio::join!(begun, replaced).0
}

fn assert_denied<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::Refused(Refusal::NowDenied(_)))), "{result:?}");
}

fn assert_policy_differs<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(matches!(&result, Err(Error::PolicyDiffers(PolicyMismatch { part: "policy", .. }))), "{result:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policy_file_replaced_before_the_commit_permits_nothing() {
    on_both(async |server: Server| {
        server.file(&rule("yes", "allow")).await;
        let ready = server.proposes("c1").await;
        assert_denied(replace_file_during(&server, server.starts(&server.engine, &ready), &rule("no", "deny")).await);
        assert!(matches!(server.sees("c1").await.action.state, ActionState::Allowed { .. }), "the permit is not spent");

        server.file(&rule("yes", "allow")).await;
        let ActionReply { action, .. } = replace_file_during(&server, server.proposes("c2"), &rule("no", "deny")).await;
        assert_eq!((action.state, action.ruling.verdict), (ActionState::Denied, Verdict::Deny));

        server.file(&rule("may", "ask")).await;
        let (third, fourth) = (server.proposes("c3").await, server.proposes("c4").await);
        assert_denied(replace_file_during(&server, server.approves(&server.alice, &third), &rule("no", "deny")).await);
        server.file(&rule("may", "ask")).await;
        assert_denied(replace_file_during(&server, server.auto(&fourth), &rule("no", "deny")).await);
        for call in ["c3", "c4"] {
            assert!(waiting(&server.sees(call).await), "{call}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn node_with_an_outdated_policy_file_permits_nothing() {
    on_both(async |server: Server| {
        let other = server.another_node().await;
        for (node, verdict) in [(&server.engine, "ask"), (&other, "ask"), (&server.engine, "allow"), (&other, "allow")]
        {
            let text = format!("version = 1\n{}", rule("r", verdict));
            node.policy_load("policy.toml".into(), text).await.unwrap();
            if verdict == "ask" && std::ptr::eq(node, std::ptr::from_ref(&other)) {
                assert!(waiting(&server.proposes_at(node, "asked").await.unwrap()));
            }
        }
        let ready = server.proposes_at(&other, "ready").await.unwrap();
        assert!(allowed(&ready));
        server.file(&rule("no", "deny")).await;

        assert_policy_differs(server.proposes_at(&other, "new").await);
        assert_policy_differs(server.starts(&other, &ready).await);
        let question = asked(&server.sees("asked").await);
        assert_policy_differs(other.interaction_answer(&server.alice, question, approval(), None).await);
        let told = other.policy_get(&server.root).await.unwrap().1.differs.unwrap();
        assert_eq!(
            told.in_force.as_deref(),
            Some(server.engine.policy_get(&server.root).await.unwrap().0.policy.version())
        );
        assert_eq!(server.engine.policy_get(&server.root).await.unwrap().1.differs, None);
        // A rejection needs no policy.
        let rejection = AnswerDraft { effect: Some(Effect::Reject), ..AnswerDraft::default() };
        other.interaction_answer(&server.alice, question, rejection, None).await.unwrap();

        server.own(&rule("own", "allow")).await;
        assert!(allowed(&server.proposes_at(&other, "own").await.unwrap()), "every node has the project's own policy");
        server.engine.policy_reset(&server.root, None, None).await.unwrap();
        assert_policy_differs(server.proposes_at(&other, "new").await);
        other.policy_load("policy.toml".into(), format!("version = 1\n{}", rule("no", "deny"))).await.unwrap();
        assert_eq!(server.proposes_at(&other, "new").await.unwrap().action.state, ActionState::Denied);
        assert_denied(server.starts(&other, &ready).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_without_policy_files_follows_those_of_the_servers() {
    on_both(async |server: Server| {
        server.file(&rule("yes", "allow")).await;
        let worker = server.another_node().await;
        worker.work_beside_servers();
        worker.follow_policy_of_servers().await.unwrap();
        let ready = server.proposes_at(&worker, "ready").await.unwrap();
        assert!(allowed(&ready));
        server.file(&rule("no", "deny")).await;
        assert_eq!(server.proposes_at(&worker, "new").await.unwrap().action.state, ActionState::Denied);
        assert_denied(server.starts(&worker, &ready).await);
        server.file(&rule("yes", "allow")).await;
        server.floor(&rule("never", "deny")).await;
        let refused = server.proposes_at(&worker, "floored").await.unwrap().action;
        assert_eq!((refused.state, refused.ruling.rule.as_deref()), (ActionState::Denied, Some("never")));
        // A policy file of the worker must equal the file of the servers.
        worker.policy_load("own.toml".into(), format!("version = 1\n{}", rule("mine", "allow"))).await.unwrap();
        assert_policy_differs(server.proposes_at(&worker, "mine").await);
    })
    .await;
}

/// A file that could not be recorded is not in force anywhere, and is reported as one that will be tried again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn policy_file_that_cannot_be_recorded_is_not_in_force() {
    let world = crate::engine::world::World::new();
    let root = world.caller(domain::Role::Admin, "root").await;
    world.engine.policy_load("p".into(), format!("version = 1\n{}", rule("yes", "allow"))).await.unwrap();
    let before = world.engine.policy_get(&root).await.unwrap().0.policy.version().to_owned();
    let blocked = rusqlite::Connection::open(world.directory.path().join("holdpoint.db")).unwrap();
    blocked.execute_batch("begin immediate").unwrap();
    let unread =
        world.engine.policy_load("p".into(), format!("version = 1\n{}", rule("no", "deny"))).await.unwrap_err();
    assert!(matches!(unread, FileRefusal::NotYet(_)), "{unread:?}");
    blocked.execute_batch("rollback").unwrap();
    let (shown, notices) = world.engine.policy_get(&root).await.unwrap();
    assert_eq!(shown.policy.version(), before);
    let file = notices.refused.unwrap();
    assert_eq!((file.retried, file.in_force.as_deref()), (true, Some(before.as_str())));
    world.engine.policy_load("p".into(), format!("version = 1\n{}", rule("no", "deny"))).await.unwrap();
    assert!(world.engine.policy_get(&root).await.unwrap().1.refused.is_none());
}
