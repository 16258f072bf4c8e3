//! Tests of the rows that a store reads after the migrations of an earlier database. The tests of the stores write the earlier rows.

use domain::{InteractionId, ProjectId, Scope, SessionId, TenantId};
use futures::executor::block_on;
use serde_json::json;
use uuid::Uuid;

use super::world::at;
use crate::{Cost, DueAction, OpenTotal, Page, Reads, Store, StoreError, StoreResult, read, transact};

/// The policies `a`, `b` and `c` are in the history in this order, each with its text.
pub fn policies_are_in_the_history(store: &dyn Store, scope: Scope) {
    let changes = look(store, move |reads| reads.policy_changes(&scope, None, Page::first(9)));
    let changes: Vec<(u64, String, String)> =
        changes.into_iter().map(|known| (known.number, known.change.version, known.text)).collect();
    let known = |number, version: &str| (number, version.to_owned(), format!("of {version}"));
    assert_eq!(changes, [known(3, "c"), known(2, "b"), known(1, "a")]);
}

/// The users `alice`, `Alice` and `Bob` are found by their exact names, and by a folded name the older one.
pub fn names_that_differ_by_case_stay(store: &dyn Store, tenant: TenantId) {
    let found = look(store, move |reads| {
        let mut found = Vec::new();
        for name in ["alice", "Alice", "ALICE", "bob", "carol"] {
            let exact = reads.user(tenant, name)?.map(|found| found.user.name);
            found.push((exact, reads.user_by_folded_name(tenant, name)?.map(|found| found.user.name)));
        }
        Ok(found)
    });
    let named = |name: &str| Some(name.to_owned());
    let expected = [
        (named("alice"), named("alice")),
        (named("Alice"), named("Alice")),
        (None, named("alice")),
        (None, named("Bob")),
        (None, None),
    ];
    assert_eq!(found, expected);
}

/// Open questions are counted by asker. After one of three has closed, two are left.
pub fn open_questions_are_counted(
    store: &dyn Store,
    scope: Scope,
    expected: &[(String, OpenTotal)],
    closed: InteractionId,
) {
    let found = look(store, move |reads| Ok([reads.open_totals(&scope)?, reads.open_totals_computed(&scope)?]));
    assert_eq!(found, [expected, expected]);
    let totals = transact::<_, StoreError, _>(store, move |tx| tx.open_totals_update(&scope, &[], &[closed]));
    let totals = block_on(totals).unwrap();
    assert_eq!(totals.tenant.questions, 2, "the total of the tenant includes earlier questions");
}

/// A row of each table that was renamed is read. Every id in them is `id`.
pub fn renamed_rows_are_read(store: &dyn Store, id: Uuid) {
    let scope = Scope { tenant: TenantId::from_uuid(id), project: ProjectId::from_uuid(id) };
    let (session, question) = (SessionId::from_uuid(id), InteractionId::from_uuid(id));
    let found = look(store, move |reads| {
        Ok((
            reads.session_input(&scope, session)?.map(|input| input.input),
            reads.sealed_value(&scope, question, "secrets")?.map(|sealed| sealed.body),
            reads.actions_due(at(1), 9)?,
            reads.idempotency_record(&scope, "alice", "key")?.map(|record| record.result),
            reads.idempotency_secret(&scope, "alice", "key")?.map(|sealed| sealed.body),
            reads.kept_secrets(&scope, Page::first(9))?.len(),
            reads.step_counts(at(1))?.waiting,
        ))
    });
    let due = DueAction { scope, session, call: "call".into() };
    let (sealed, secret) = (Some(b"sealed".to_vec()), Some(b"secret".to_vec()));
    assert_eq!(found, (Some(json!("hello")), sealed, vec![due], Some("result".to_owned()), secret, 1, 1));
}

fn look<T: Send + 'static>(
    store: &dyn Store,
    query: impl FnMut(&mut dyn Reads) -> StoreResult<T> + Send + 'static,
) -> T {
    block_on(read::<_, StoreError, _>(store, Cost::Point, query)).unwrap()
}
