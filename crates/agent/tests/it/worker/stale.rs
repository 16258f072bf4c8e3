//! An approved write replaces only the content that reviewers saw.

use domain::{AnswerDraft, Caller, Effect, Interaction, Session, SessionStatus};
use holdpoint_agent::tools::Workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::world::{World, results};

const READS: &str = "version = 1\n[[rule]]\nname = \"reads\"\ntools = [\"read_file\"]\nverdict = \"allow\"\n";

/// A world whose worker writes real files.
struct FileWorld {
    world: World,
    files: TempDir,
    alice: Caller,
}

impl FileWorld {
    async fn new(rules: &str) -> Self {
        let (world, files) = (World::new(json!([])), TempDir::new().unwrap());
        *world.play.workspace.lock() = Some(Workspace::open(files.path()).unwrap());
        world.rules(rules).await;
        let alice = world.person("alice").await;
        Self { world, files, alice }
    }

    fn put(&self, path: &str, text: &str) {
        std::fs::write(self.files.path().join(path), text).unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.files.path().join(path)).ok()
    }

    /// Opens a session whose model writes these contents to these files, all in one turn.
    async fn wants(&self, writes: &[(&str, &str)]) -> Session {
        let call = |(path, content): &(&str, &str)| ("write_file", json!({ "path": path, "content": content }));
        self.world.says("I write.", &writes.iter().map(call).collect::<Vec<_>>());
        self.world.says("Well.", &[]);
        self.world.opens(&self.alice, Some("guide"), None, json!("Go")).await
    }

    async fn approves(&self, asked: &Interaction) {
        self.world.answers(&self.alice, asked.id, Effect::Approve, AnswerDraft::default()).await;
    }

    /// Results that the model reads before its last turn, after the session has completed.
    async fn told(&self, session: &Session) -> Vec<(String, bool)> {
        assert_eq!(self.world.ended(&self.alice, session.id).await.status(), SessionStatus::Completed);
        results(&self.world.shown())
    }
}

fn changed(path: &str) -> (String, bool) {
    let why = "has changed since people saw it and was not written: read it again and propose the write again";
    (format!("This failed: `{path}` {why}"), true)
}

#[tokio::test]
async fn approved_write_fails_if_the_file_changed_since_the_question() {
    let check = |before: Option<&'static str>, since: Option<&'static str>, written: bool| async move {
        let mut desk = FileWorld::new(READS).await;
        if let Some(before) = before {
            desk.put("a", before);
        }
        let session = desk.wants(&[("a", "new")]).await;
        let asked = desk.world.asked(&desk.alice).await;
        let shown = before.map_or(Value::Null, |before| json!({ "before": before }));
        assert_eq!(asked.question.context, shown);
        desk.world.stop().await;
        match since {
            Some(since) => desk.put("a", since),
            None => std::fs::remove_file(desk.files.path().join("a")).unwrap_or_default(),
        }
        desk.approves(&asked).await;
        desk.world.work();
        let told = desk.told(&session).await;
        assert_eq!(desk.text("a").as_deref(), if written { Some("new") } else { since }, "{before:?} {since:?}");
        if !written {
            assert_eq!(told, [changed("a")], "{before:?} {since:?}");
        }
    };
    check(Some("old"), Some("old"), true).await;
    check(None, None, true).await;
    check(Some("old"), Some("other"), false).await;
    check(Some("old"), None, false).await;
    check(None, Some("other"), false).await;
    check(None, Some(""), false).await;
    // The file already has the new content, from an earlier run whose outcome was lost.
    check(Some("old"), Some("new"), true).await;
}

#[tokio::test]
async fn only_the_first_of_two_approved_writes_to_a_file_is_written() {
    let desk = FileWorld::new(READS).await;
    desk.put("a", "old");
    let session = desk.wants(&[("a", "first"), ("a", "second")]).await;
    let asked = desk.world.open(&desk.alice, 2).await;
    desk.approves(&asked[0]).await;
    desk.world.until(|| async { (desk.text("a").as_deref() == Some("first")).then_some(()) }).await;
    desk.approves(&asked[1]).await;
    let told = desk.told(&session).await;
    assert_eq!((told[0].1, &told[1]), (false, &changed("a")));
    assert_eq!(desk.text("a").as_deref(), Some("first"));
}

#[tokio::test]
async fn allowed_writes_and_edited_paths_are_not_checked_for_changes() {
    let free = READS.replace("read_file", "*_file");
    let desk = FileWorld::new(&free).await;
    desk.put("a", "old");
    let session = desk.wants(&[("a", "first"), ("a", "second")]).await;
    assert!(desk.told(&session).await.iter().all(|(_, failed)| !failed));
    assert_eq!(desk.text("a").as_deref(), Some("second"));

    let desk = FileWorld::new(READS).await;
    desk.put("a", "old");
    desk.put("b", "there");
    let session = desk.wants(&[("a", "new")]).await;
    let asked = desk.world.asked(&desk.alice).await;
    let arguments = Some(json!({ "path": "b", "content": "new" }));
    desk.world.answers(&desk.alice, asked.id, Effect::Edit, AnswerDraft { arguments, ..AnswerDraft::default() }).await;
    assert!(!desk.told(&session).await[0].1);
    assert_eq!((desk.text("a").as_deref(), desk.text("b").as_deref()), (Some("old"), Some("new")));
}
