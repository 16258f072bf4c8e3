//! Tests of the gate: tenants and keys take turns, and none takes the slots of others.

use domain::{Actor, ActorKind, Credential, EntryPoint, KeyId, Role, Scope};
use uuid::Uuid;

use super::*;

fn caller(tenant: u128, name: &str) -> Caller {
    Caller {
        credential: Credential::Key(KeyId::from_uuid(Uuid::nil())),
        scope: Scope {
            tenant: TenantId::from_uuid(Uuid::from_u128(tenant)),
            project: ProjectId::from_uuid(Uuid::from_u128(tenant)),
        },
        role: Role::Agent,
        actor: Actor { kind: ActorKind::Agent, name: name.into() },
        groups: Vec::new(),
        environment: domain::AgentEnvironment::default(),
        from: None,
        entry_point: EntryPoint::Http,
    }
}

const BOUNDS: Bounds = Bounds {
    at_once: 2,
    tenant_at_once: 2,
    key_at_once: 1,
    tenant: (6, Limit::TenantLists),
    key: (4, Limit::KeyLists),
};

/// Attempt to enter the gate: a future that the test polls once at a time.
struct Entering(std::pin::Pin<Box<dyn Future<Output = Result<Pass, Error>>>>);

impl Entering {
    fn new(gate: &FairGate, who: &Caller) -> Self {
        let (gate, who) = (gate.clone(), who.clone());
        Self(Box::pin(async move { gate.enter(Entrant::of(&who)).await }))
    }

    async fn polled(&mut self) -> Option<Result<Pass, Error>> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match self.0.as_mut().poll(context) {
                std::task::Poll::Ready(entered) => Some(entered),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}

async fn inside(gate: &FairGate, who: &Caller) -> Pass {
    Entering::new(gate, who).polled().await.expect("there is a slot").expect("not refused")
}

async fn waiting(gate: &FairGate, who: &Caller) -> Entering {
    let mut entering = Entering::new(gate, who);
    assert!(entering.polled().await.is_none(), "the entrant has to wait");
    entering
}

fn refused(entered: Option<Result<Pass, Error>>) -> Option<Limit> {
    match entered {
        Some(Err(Error::Refused(Refusal::LimitReached { limit, .. }))) => Some(limit),
        _ => None,
    }
}

#[tokio::test]
async fn one_key_does_not_block_other_keys_or_tenants() {
    let gate = FairGate::new(BOUNDS);
    let (greedy, modest, other) = (caller(1, "greedy"), caller(1, "modest"), caller(2, "other"));
    let first = inside(&gate, &greedy).await;
    let mut queue = Vec::new();
    for _ in 0..3 {
        queue.push(waiting(&gate, &greedy).await);
    }
    // The greedy key has its slot. The second slot is free for all others.
    drop(inside(&gate, &modest).await);
    let held = inside(&gate, &other).await;
    // Both slots are taken. A new entrant waits, and comes before the rest of the greedy key's queue.
    let mut behind = waiting(&gate, &other).await;
    let mut beside = waiting(&gate, &modest).await;
    drop(first);
    let second = queue[0].polled().await.expect("the turn of the greedy key comes first");
    drop(held);
    let third = behind.polled().await.expect("then that of the other tenant");
    drop(second);
    let fourth = beside.polled().await.expect("then that of the other key");
    assert!(queue[1].polled().await.is_none(), "the rest of the greedy key's queue comes last");
    drop((third, fourth));
    assert!(queue[1].polled().await.is_some());
}

#[tokio::test]
async fn free_places_rotate_among_tenants_and_their_keys() {
    let gate = FairGate::new(Bounds { at_once: 1, tenant_at_once: 1, ..BOUNDS });
    let held = inside(&gate, &caller(1, "a")).await;
    let mut queue = Vec::new();
    for (tenant, name) in [(1, "a"), (1, "a"), (1, "b"), (2, "c"), (2, "c"), (3, "d")] {
        queue.push((format!("{tenant}{name}"), waiting(&gate, &caller(tenant, name)).await));
    }
    let (mut order, mut pass) = (Vec::new(), Some(held));
    while !queue.is_empty() {
        drop(pass.take());
        for index in 0..queue.len() {
            if let Some(entered) = queue[index].1.polled().await {
                order.push(queue.remove(index).0);
                pass = entered.ok();
                break;
            }
        }
        assert!(pass.is_some(), "an entrant enters when a slot becomes free");
    }
    assert_eq!(order, ["1a", "2c", "3d", "1b", "2c", "1a"]);
}

#[tokio::test]
async fn full_queue_of_a_key_or_tenant_is_refused_and_others_are_not() {
    let gate = FairGate::new(BOUNDS);
    let (greedy, modest, other) = (caller(1, "greedy"), caller(1, "modest"), caller(2, "other"));
    let mut held = vec![inside(&gate, &greedy).await];
    let mut queue = Vec::new();
    for _ in 0..3 {
        queue.push(waiting(&gate, &greedy).await);
    }
    assert_eq!(refused(Entering::new(&gate, &greedy).polled().await), Some(Limit::KeyLists));
    held.push(inside(&gate, &modest).await);
    queue.push(waiting(&gate, &modest).await);
    assert_eq!(refused(Entering::new(&gate, &modest).polled().await), Some(Limit::TenantLists));
    let theirs = waiting(&gate, &other).await;
    // An entrant that stops waiting makes room for another.
    queue.remove(0);
    queue.push(waiting(&gate, &modest).await);
    drop((held, queue, theirs));
    let state = gate.state.lock();
    assert_eq!((state.running, state.tenants.len(), state.queue.len()), (0, 0, 0), "nothing is left behind");
}

/// The slot was given to an entrant that was dropped before it noticed: the slot goes to the next one.
#[tokio::test]
async fn slot_of_a_dropped_entrant_goes_to_the_next_one() {
    let gate = FairGate::new(Bounds { at_once: 1, ..BOUNDS });
    let held = inside(&gate, &caller(1, "a")).await;
    let gone = waiting(&gate, &caller(2, "b")).await;
    let mut next = waiting(&gate, &caller(3, "c")).await;
    drop(held);
    assert!(next.polled().await.is_none());
    drop(gone);
    assert!(next.polled().await.is_some());
}
