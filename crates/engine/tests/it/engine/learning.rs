//! Tests learnt rules on both stores: a contrary decision suspends a rule, at any moment.

use std::sync::Arc;
use std::time::Duration;

use domain::{ActionState, AgentEnvironment, AnswerDraft, Call, Caller, InteractionId, Refusal, Role, Session};
use holdpoint_engine::{Engine, Error, HypotheticalCall, Propose, Simulate, SuggestedRule};
use serde_json::{Value, json};
use store::Store;
use store_postgres::{PostgresOptions, PostgresStore};
use testkit::postgres::TestPostgres;

use crate::engine::world::{World, choice};

/// An agent that runs commands, and people who decide.
struct Scene {
    world: World,
    agent: Caller,
    alice: Caller,
    root: Caller,
    session: Session,
}

impl Scene {
    async fn on(world: World) -> Self {
        let (agent, alice) = (world.agent().await, world.person("alice").await);
        let (root, session) = (world.caller(Role::Admin, "root").await, world.session(&agent).await);
        Self { world, agent, alice, root, session }
    }

    fn engine(&self) -> &Engine {
        &self.world.engine
    }

    async fn proposes(&self, call_id: &str, call: Call) -> ActionState {
        let (context, call_id) = (Value::Null, call_id.to_owned());
        let propose = Propose {
            call_id,
            call,
            context,
            expected_content: None,
            traceparent: None,
            deadline_seconds: None,
            repeatable: false,
            client: false,
        };
        self.engine().action_propose(&self.agent, self.session.id, propose, None).await.unwrap().action.state
    }

    /// Proposes a command, and returns the question that it opens.
    async fn asks(&self, call: &str, command: &str) -> InteractionId {
        match self.proposes(call, running(command)).await {
            ActionState::Waiting { interaction } => interaction,
            other => unreachable!("{call}: {other:?}"),
        }
    }

    async fn decides(&self, interaction: InteractionId, option: &str) {
        self.world.choose(&self.alice, interaction, option).await.unwrap();
    }

    async fn approved(&self, name: &str, command: &str, times: usize) {
        for number in 0..times {
            let asked = self.asks(&format!("{name}-{number}"), command).await;
            self.decides(asked, "approve").await;
        }
    }

    async fn suggested(&self) -> Vec<SuggestedRule> {
        self.engine().suggestion_list(&self.root).await.unwrap().suggestions
    }

    async fn adopts(&self, name: &str) -> Result<(), Error> {
        self.engine().suggestion_adopt(&self.root, name.to_owned(), None, None).await.map(drop)
    }

    async fn suspended(&self) -> Vec<String> {
        let (in_force, _) = self.engine().policy_get(&self.root).await.unwrap();
        in_force.suspended().into_iter().map(|suspension| suspension.rule).collect()
    }
}

fn running(command: &str) -> Call {
    Call { tool: "execute_command".into(), arguments: json!({ "command": command }) }
}

fn no_suggestion(done: Result<(), Error>) -> bool {
    matches!(done, Err(Error::Refused(Refusal::NotFound("suggestion"))))
}

/// Runs a test on a fresh PostgreSQL database.
fn on_postgres(story: impl AsyncFnOnce(World)) {
    let database = TestPostgres::start().unwrap().fresh_database().unwrap();
    let store = Arc::new(PostgresStore::open(&database.url(), &PostgresOptions::default()).unwrap());
    let world = World::over(Arc::clone(&store) as Arc<dyn Store>);
    tokio::runtime::Runtime::new().unwrap().block_on(story(world));
    store.close();
}

/// If a rule is adopted while a person rejects an action that it covers, the rule is afterwards not in force, or suspended.
async fn rejection_during_adoption(world: World) {
    let scene = Arc::new(Scene::on(world).await);
    for round in 0..12 {
        let command = format!("npm run task{round}");
        scene.approved(&format!("yes-{round}"), &command, 5).await;
        let open = scene.asks(&format!("open-{round}"), &command).await;
        let suggested = scene.suggested().await;
        let about = |one: &&SuggestedRule| one.learnt.rule.contains(&command);
        let name = suggested.iter().find(about).unwrap().learnt.name.clone();
        let (adopting, deciding) = (Arc::clone(&scene), Arc::clone(&scene));
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move {
            let adopted = adopting.adopts(&name).await;
            assert!(adopted.is_ok() || no_suggestion(adopted), "round {round}");
        });
        tasks.spawn(async move { deciding.decides(open, "reject").await });
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let state = scene.proposes(&format!("after-{round}"), running(&command)).await;
        assert!(matches!(state, ActionState::Waiting { .. }), "round {round}: {state:?}");
    }
}

/// A suspension belongs to its rule: it holds in every draft, and still holds after the rule was removed and put back, until an admin lifts it.
/// Decisions made before the lift do not suspend the rule again.
async fn suspension_until_a_lift(world: World) {
    let scene = Scene::on(world).await;
    scene.approved("yes", "npm ci", 5).await;
    let open = scene.asks("open", "npm ci").await;
    let name = scene.suggested().await[0].learnt.name.clone();
    scene.adopts(&name).await.unwrap();
    assert!(no_suggestion(scene.adopts(&name).await), "a rule in force is not suggested");
    let (in_force, _) = scene.engine().policy_get(&scene.root).await.unwrap();
    let text = in_force.policy.text().to_owned();
    scene.decides(open, "reject").await;
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name));

    let draft = Simulate { file: "draft.toml".into(), text: text.clone(), limit: None, since: None };
    let simulation = scene.engine().policy_simulate(&scene.root, draft).await.unwrap();
    assert_eq!((simulation.contradictions, simulation.changed.len()), (0, 0), "a suspended rule allows nothing");
    let supposed = HypotheticalCall {
        tool: "execute_command".into(),
        arguments: json!({ "command": "npm ci" }),
        agent: Some("deployer".into()),
        user: Some("deployer".into()),
        role: None,
        environment: AgentEnvironment::default(),
        draft: Some(text.clone()),
    };
    let explained = scene.engine().policy_explain(&scene.root, supposed).await.unwrap();
    assert_eq!(explained.ruling.verdict, domain::Verdict::Ask);

    scene.engine().policy_reset(&scene.root, None, None).await.unwrap();
    assert_eq!(scene.suspended().await, Vec::<String>::new(), "the policy does not contain the rule");
    assert_eq!(scene.suggested().await, []);
    let put = async || scene.engine().policy_put(&scene.root, text.clone(), (None, None), None).await.unwrap();
    put().await;
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name));
    assert!(matches!(scene.proposes("c1", running("npm ci")).await, ActionState::Waiting { .. }));

    let lift = async |why: &str| scene.engine().suspension_lift(&scene.root, name.clone(), why.into(), None).await;
    assert!(scene.engine().suspension_lift(&scene.alice, name.clone(), "please".into(), None).await.is_err());
    lift("it was a mistake").await.unwrap();
    assert!(matches!(lift("again").await, Err(Error::Refused(Refusal::NotFound("suspension")))));
    assert!(matches!(scene.proposes("c2", running("npm ci")).await, ActionState::Allowed { .. }));
    scene.engine().policy_reset(&scene.root, None, None).await.unwrap();
    let another = scene.asks("c3", "npm ci").await;
    put().await;
    assert_eq!(scene.suspended().await, Vec::<String>::new(), "the lift overrules the first rejection");
    scene.world.pass(1);
    scene.decides(another, "reject").await;
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name), "a later rejection suspends the rule again");
}

/// A rule that is put back begins suspended if a person decided otherwise while it was not in force.
async fn rejection_while_the_rule_was_removed(world: World) {
    let scene = Scene::on(world).await;
    scene.approved("yes", "npm ci", 5).await;
    let name = scene.suggested().await[0].learnt.name.clone();
    scene.adopts(&name).await.unwrap();
    let text = scene.engine().policy_get(&scene.root).await.unwrap().0.policy.text().to_owned();
    scene.engine().policy_reset(&scene.root, None, None).await.unwrap();
    let asked = scene.asks("away", "npm ci").await;
    scene.decides(asked, "reject").await;
    let draft = Simulate { file: "draft.toml".into(), text: text.clone(), limit: None, since: None };
    let simulation = scene.engine().policy_simulate(&scene.root, draft).await.unwrap();
    assert_eq!((simulation.contradictions, simulation.changed.len()), (0, 0), "the rule is suspended in a draft");
    scene.engine().policy_shadow_put(&scene.root, text.clone(), None, None).await.unwrap();
    scene.asks("beside", "npm ci").await;
    scene.engine().wait_for_drafts().await;
    let shadowed = scene.engine().policy_shadow_get(&scene.root).await.unwrap();
    assert_eq!(shadowed.counts, [], "the rule is suspended in a shadow draft");
    scene.engine().policy_put(&scene.root, text, (None, None), None).await.unwrap();
    assert_eq!(scene.suspended().await, [name]);
    assert!(matches!(scene.proposes("back", running("npm ci")).await, ActionState::Waiting { .. }));
}

/// A rule in the server's policy file that a person has decided against begins suspended, before it rules on anything; a `PUT` of that text has this
/// effect too. Later decisions also count, even while the file does not contain the rule.
async fn rejection_against_a_rule_of_the_file(world: World) {
    let scene = Scene::on(world).await;
    scene.approved("yes", "npm ci", 5).await;
    let text = scene.suggested().await[0].learnt.text.clone();
    let name = scene.suggested().await[0].learnt.name.clone();
    let plain = scene.engine().policy_get(&scene.root).await.unwrap().0.policy.text().to_owned();
    let file = async |text: &str| scene.engine().policy_load("policy.toml".into(), text.to_owned()).await.unwrap();
    let asked = scene.asks("no", "npm ci").await;
    scene.decides(asked, "reject").await;
    file(&text).await;
    assert!(matches!(scene.proposes("c1", running("npm ci")).await, ActionState::Waiting { .. }));
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name));
    scene.engine().policy_put(&scene.root, text.clone(), (None, None), None).await.unwrap();
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name));
    scene.engine().policy_reset(&scene.root, None, None).await.unwrap();
    assert_eq!(scene.suspended().await, std::slice::from_ref(&name));

    scene.world.pass(1);
    scene.engine().suspension_lift(&scene.root, name.clone(), "it was a mistake".into(), None).await.unwrap();
    assert!(matches!(scene.proposes("c2", running("npm ci")).await, ActionState::Allowed { .. }));
    scene.world.pass(1);
    file(&plain).await;
    let again = scene.asks("c3", "npm ci").await;
    scene.decides(again, "reject").await;
    file(&text).await;
    assert!(matches!(scene.proposes("c4", running("npm ci")).await, ActionState::Waiting { .. }));
    assert_eq!(scene.suspended().await, [name], "a rejection counts while the file lacks the rule");
}

/// A rejection after a lift counts, even if its action was proposed before the action whose rejection was overruled by the lift.
async fn rejection_after_a_lift(world: World) {
    let scene = Scene::on(world).await;
    scene.approved("yes", "npm ci", 5).await;
    let old = scene.asks("old", "npm ci").await;
    scene.world.pass(1);
    let new = scene.asks("new", "npm ci").await;
    let name = scene.suggested().await[0].learnt.name.clone();
    scene.adopts(&name).await.unwrap();
    let text = scene.engine().policy_get(&scene.root).await.unwrap().0.policy.text().to_owned();
    scene.decides(new, "reject").await;
    scene.world.pass(1);
    scene.engine().suspension_lift(&scene.root, name.clone(), "it was a mistake".into(), None).await.unwrap();
    scene.engine().policy_reset(&scene.root, None, None).await.unwrap();
    scene.world.pass(1);
    scene.decides(old, "reject").await;
    scene.world.pass(1000);
    scene.engine().policy_put(&scene.root, text, (None, None), None).await.unwrap();
    assert_eq!(scene.suspended().await, [name]);
}

/// An agent asks about a call in a question of its own, and a person rejects it: the rejection counts at any age, while an approval of such a
/// question supports no rule.
async fn rejection_of_an_agents_own_question(world: World) {
    let scene = Scene::on(world).await;
    let asks = async || {
        let action = json!({ "tool": "execute_command", "arguments": { "command": "npm ci" } });
        let fields = json!({ "kind": "approval", "action": action });
        scene.world.ask(&scene.agent, &scene.session, fields).await.id
    };
    for _ in 0..5 {
        scene.decides(asks().await, "approve").await;
    }
    assert_eq!(scene.suggested().await, [], "a question in the agent's words supports no rule");
    scene.approved("yes", "npm ci", 5).await;
    let learnt = scene.suggested().await[0].learnt.clone();
    let no = asks().await;
    scene.decides(no, "reject").await;
    scene.world.pass(1000);
    let found = scene.engine().suggestion_list(&scene.root).await.unwrap();
    assert_eq!(found.suggestions, []);
    let held = &found.held_back[0];
    assert_eq!((held.support, held.against, &held.counter_examples[0].call), (5, 1, &None));
    assert_eq!(held.counter_examples[0].decision.interaction, no);
    assert!(no_suggestion(scene.adopts(&learnt.name).await));
    scene.engine().policy_put(&scene.root, learnt.text, (None, None), None).await.unwrap();
    assert_eq!(scene.suspended().await, [learnt.name]);
}

/// An edit counts as a rejection of the original call, also while other people still have to approve the edit.
async fn edit_as_a_rejection(world: World) {
    let scene = Scene::on(world).await;
    let two = "version = 1\n[[rule]]\nname = \"safe\"\ntools = [\"execute_command\"]\nwhen = 'args.command == \"npm ci --safe\"'\n\
               verdict = \"ask\"\n[rule.ask]\naudience = { users = [\"bob\"] }\n";
    scene.engine().policy_put(&scene.root, two.into(), (None, None), None).await.unwrap();
    let bob = scene.world.person("bob").await;
    scene.approved("yes", "npm ci", 5).await;
    assert_eq!(scene.suggested().await.len(), 1);
    let asked = scene.asks("edited", "npm ci").await;
    let edit = AnswerDraft {
        effect: Some(domain::Effect::Edit),
        arguments: Some(json!({ "command": "npm ci --safe" })),
        ..AnswerDraft::default()
    };
    scene.engine().interaction_answer(&scene.alice, asked, edit, None).await.unwrap();
    assert_eq!(scene.suggested().await, [], "the edit is still open");
    let acted =
        scene.engine().action_get(&scene.agent, scene.session.id, "edited".into(), Duration::ZERO).await.unwrap();
    let ActionState::Waiting { interaction } = acted.action.state else { unreachable!("{:?}", acted.action.state) };
    scene.engine().interaction_answer(&bob, interaction, choice("approve"), None).await.unwrap();
    assert_eq!(scene.suggested().await, [], "the approval is about the edited call");
}

/// Actions without a question do not displace decisions from the history.
async fn history_with_many_actions(world: World) {
    let scene = Scene::on(world).await;
    scene.approved("yes", "npm ci", 5).await;
    for number in 0..2_100 {
        let read = Call { tool: "read_file".into(), arguments: json!({ "path": "a" }) };
        scene.proposes(&format!("read-{number}"), read).await;
    }
    let found = scene.engine().suggestion_list(&scene.root).await.unwrap();
    assert_eq!((found.decisions, found.more, found.suggestions.len()), (5, false, 1));
}

#[tokio::test]
async fn rejection_during_adoption_suspends_the_rule_on_sqlite() {
    rejection_during_adoption(World::new()).await;
}

#[test]
fn rejection_during_adoption_suspends_the_rule_on_postgres() {
    on_postgres(rejection_during_adoption);
}

#[tokio::test]
async fn suspension_lasts_until_it_is_lifted_on_sqlite() {
    suspension_until_a_lift(World::new()).await;
}

#[test]
fn suspension_lasts_until_it_is_lifted_on_postgres() {
    on_postgres(suspension_until_a_lift);
}

#[tokio::test]
async fn rejection_while_the_rule_was_removed_suspends_it_on_sqlite() {
    rejection_while_the_rule_was_removed(World::new()).await;
}

#[test]
fn rejection_while_the_rule_was_removed_suspends_it_on_postgres() {
    on_postgres(rejection_while_the_rule_was_removed);
}

#[tokio::test]
async fn edit_counts_as_a_rejection_of_the_original_call_on_sqlite() {
    edit_as_a_rejection(World::new()).await;
}

#[test]
fn edit_counts_as_a_rejection_of_the_original_call_on_postgres() {
    on_postgres(edit_as_a_rejection);
}

#[tokio::test]
async fn actions_without_a_question_do_not_displace_decisions() {
    history_with_many_actions(World::new()).await;
}

#[tokio::test]
async fn rejection_suspends_a_rule_of_the_policy_file_on_sqlite() {
    rejection_against_a_rule_of_the_file(World::new()).await;
}

#[test]
fn rejection_suspends_a_rule_of_the_policy_file_on_postgres() {
    on_postgres(rejection_against_a_rule_of_the_file);
}

#[tokio::test]
async fn rejection_after_a_lift_suspends_the_rule_again_on_sqlite() {
    rejection_after_a_lift(World::new()).await;
}

#[test]
fn rejection_after_a_lift_suspends_the_rule_again_on_postgres() {
    on_postgres(rejection_after_a_lift);
}

#[tokio::test]
async fn rejection_of_an_agents_own_question_counts_on_sqlite() {
    rejection_of_an_agents_own_question(World::new()).await;
}

#[test]
fn rejection_of_an_agents_own_question_counts_on_postgres() {
    on_postgres(rejection_of_an_agents_own_question);
}
