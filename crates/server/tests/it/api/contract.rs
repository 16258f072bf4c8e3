//! Tests every operation of the OpenAPI document: its refusals and its description.

mod operation;

use std::collections::BTreeMap;

use domain::Role;
use reqwest::Method;
use serde_json::{Value, json};

use server_testkit::actions::writing;
use server_testkit::client::{reply, text};
use server_testkit::world::World;

use operation::{OPEN, document, in_its_channel};
pub(crate) use operation::{Operation, SampleObjects, operations};

/// Every operation refuses a request without a credential, even if the rest of the request is invalid too.
#[tokio::test]
async fn every_operation_refuses_a_request_without_a_credential() {
    let world = World::new().await;
    let things = SampleObjects::of(&world).await;
    let before = world.everything().await;
    for operation in operations() {
        for path in [operation.path_to(&things), operation.path.replace(['{', '}'], "x") + "?unknown=1"] {
            let request = world.http.request(operation.method.clone(), &path);
            let request = operation.sample().body.iter().fold(request, |request, body| request.json(body));
            let refused = reply(request).await;
            assert_eq!(refused.headers["www-authenticate"], "Bearer", "{}", operation.id);
            assert_eq!(refused.headers["cache-control"], "no-store", "{}", operation.id);
            refused.refused(401, "unauthenticated");
        }
    }
    assert_eq!(world.everything().await, before);
}

/// To an admin of another tenant, every object looks absent.
#[tokio::test]
async fn every_object_looks_absent_to_another_tenant() {
    let world = World::new().await;
    let things = SampleObjects::of(&world).await;
    let (stranger, before) = (world.stranger().await, world.everything().await);
    let mut walked = 0;
    for operation in operations().into_iter().filter(|operation| operation.path.contains('{')) {
        operation.called_by(&stranger, &operation.path_to(&things)).await.refused(404, "not_found");
        walked += 1;
    }
    assert!(walked >= 35, "only {walked} operations name an object");
    assert_eq!(world.everything().await, before);
}

/// An operation that names no object neither shows nor changes data of another tenant.
#[tokio::test]
async fn every_other_operation_stays_within_its_tenant() {
    let world = World::new().await;
    let things = SampleObjects::of(&world).await;
    let (stranger, before) = (world.stranger().await, world.everything().await);
    let SampleObjects { question, key, grant, webhook, sent, .. } = &things;
    let (agent, flow) = ("scribe".to_owned(), "notes".to_owned());
    let theirs = [&question.id, &question.session, &key.key_id, grant, webhook, sent, &agent, &flow];
    for operation in operations().into_iter().filter(|operation| !operation.path.contains('{')) {
        if operation.id == "project_stream" {
            let mut stream = stranger.follows("/v1/events/stream?after=0-0", None).await;
            let own = stranger.opens(json!({})).await;
            assert_eq!(stream.event().await.1["session"], json!(own), "an event of another tenant is first");
            continue;
        }
        if ["agent_add", "flow_add", "secret_put"].contains(&operation.id.as_str()) {
            // The reply repeats the request. The list operations show to which tenant the object belongs.
            continue;
        }
        let said = operation.called_by(&stranger, &operation.path).await.body.to_string();
        assert!(!theirs.iter().any(|id| said.contains(id.as_str())), "{}: {said}", operation.id);
    }
    let answer = json!({ "answers": [{ "interaction": question.id, "option": "confirm" }] });
    let answered = stranger.post("/v1/interactions/answers", answer).await.done();
    assert_eq!(answered["results"][0]["problem"]["code"], json!("not_found"));
    assert_eq!(world.everything().await, before);
}

/// Each role is refused exactly the operations of the table; to an agent, a session of others is absent.
#[tokio::test]
async fn every_operation_refuses_exactly_the_listed_roles() {
    let world = World::new().await;
    let mut callers = Vec::new();
    for role in Role::ALL {
        callers.push((role, world.someone("default", role, &format!("some-{}", role.name()), &[]).await));
    }
    for operation in operations() {
        for (role, caller) in &callers {
            let things = SampleObjects::of(&world).await;
            let refuses = operation.sample().refuses.contains(role);
            if operation.id == "key_revoke" && !refuses {
                // A revocation takes a second, until no node trusts the key; it has a test of its own.
                continue;
            }
            let answered = operation.called_by(caller, &operation.path_to(&things)).await;
            if refuses && !(*role == Role::Agent && answered.status == 404) {
                answered.refused(403, "role_forbids");
                assert_eq!(things.key.reads(&things.question).await, things.question.shown);
            } else {
                let code = answered.body["code"].as_str().unwrap_or_default();
                assert_ne!(code, "role_forbids", "{} as {}", operation.id, role.name());
                assert!(answered.status < 500, "{} as {}: {}", operation.id, role.name(), answered.body);
            }
        }
    }
}

/// An unknown query parameter is refused by name in `/v1`; the dialects ignore it.
#[tokio::test]
async fn unknown_query_parameters_are_refused_in_v1() {
    let world = World::new().await;
    let (things, admin) = (SampleObjects::of(&world).await, world.admin().await);
    let before = world.everything().await;
    let mut walked = 0;
    for operation in operations().into_iter().filter(|operation| operation.path.starts_with("/v1/")) {
        for query in ["surely_unknown=1", "surely_unknown", "%73urely_unknown=1&wait=1"] {
            let path = format!("{}?{query}", operation.path_to(&things));
            let refused = operation.called_by(&admin, &path).await.refused(400, "query_invalid");
            assert!(text(&refused["detail"]).contains("surely_unknown"), "{}: {refused}", operation.id);
        }
        walked += 1;
    }
    assert!(walked >= 60, "only {walked} operations of `/v1`");
    assert_eq!(world.everything().await, before);
    let own = admin.post("/v1/sessions", json!({})).await.done();
    let session = format!("/v1/sessions/{}/actions", text(&own["id"]));
    let refused = admin.post(&format!("{session}?wait=5"), writing("new")).await.refused(400, "query_invalid");
    assert!(text(&refused["detail"]).starts_with("wait:"), "{refused}");
    admin.post(&session, writing("new")).await.done();
    world.http.request(Method::GET, "/healthz?x=1").send().await.unwrap().error_for_status().unwrap();
}

/// No reply may be cached, because it is only for the caller and only for the moment.
#[tokio::test]
async fn no_reply_may_be_cached() {
    let world = World::new().await;
    let (things, admin) = (SampleObjects::of(&world).await, world.admin().await);
    let kept = |operation: &Operation| !operation.id.ends_with("_stream") && operation.id != "key_revoke";
    for operation in operations().into_iter().filter(kept) {
        let reply = operation.called_by(&admin, &operation.path_to(&things)).await;
        assert_eq!(reply.headers["cache-control"], "no-store", "{}: {}", operation.id, reply.body);
    }
}

/// The document and the page that renders it are served without a credential.
#[tokio::test]
async fn openapi_document_is_served() {
    let world = World::new().await;
    let served = reply(world.http.request(Method::GET, "/openapi.json")).await.done();
    assert_eq!(served, document());
    assert_eq!(served["openapi"], "3.1.0");
    let page = reply(world.http.request(Method::GET, "/docs/")).await;
    assert_eq!(page.status, 200);
    assert!(page.body.as_str().unwrap().contains("swagger-ui"));
}

/// Every operation has a unique name, a summary, an example of its body and a described success reply.
#[test]
fn every_operation_is_described() {
    let document = document();
    let mut seen = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let id = described["operationId"].as_str().unwrap();
            assert_eq!(seen.insert(id.to_owned(), format!("{method} {path}")), None, "{id} is used twice");
            assert!(
                described["summary"].as_str().is_some_and(|words| words.ends_with(['.', ':'])),
                "{id}: no sentence"
            );
            assert!(described["tags"].as_array().is_some_and(|tags| tags.len() == 1), "{id}: expected one tag");
            let replies = described["responses"].as_object().unwrap();
            let successes: Vec<_> =
                replies.iter().filter(|(status, _)| status.starts_with('2') || *status == "101").collect();
            let decided = ["action_propose", "action_get", "react_session_stream", "flows_poll"].contains(&id);
            assert_eq!(successes.len(), 1 + usize::from(decided), "{id}: expected one success reply");
            for (status, success) in successes {
                assert!(success["description"].as_str().is_some_and(|words| !words.is_empty()), "{id} {status}");
                let described = success["content"].is_object();
                assert_eq!(
                    described,
                    !["101", "204"].contains(&status.as_str()),
                    "{id} {status}: the reply is not described"
                );
            }
        }
    }
    assert!(OPEN.iter().all(|id| seen.contains_key(*id)));
    for operation in operations() {
        for status in ["400", "401", "403", "404", "409", "422", "429", "500", "503"] {
            let problem = resolved(&document, &operation.described["responses"][status]);
            let problem = &problem["content"]["application/problem+json"]["schema"];
            assert_eq!(problem["$ref"], "#/components/schemas/ProblemBody", "{} {status}", operation.id);
        }
        let sample = operation.sample();
        let body = &operation.described["requestBody"];
        assert_eq!(body.is_object(), sample.body.is_some(), "{}: body or sample missing", operation.id);
        let named = operation.path.matches('{').count();
        let parameters = operation.described["parameters"].as_array().cloned().unwrap_or_default();
        assert_eq!(parameters.iter().filter(|parameter| parameter["in"] == "path").count(), named, "{}", operation.id);
    }
}

/// Every description says more than two words can.
#[test]
fn every_description_has_at_least_three_words() {
    fn check(value: &Value, place: &str) {
        for (key, part) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "example") {
            let place = format!("{place}/{key}");
            if let Some(words) = part.as_str().filter(|_| matches!(key.as_str(), "description" | "summary")) {
                assert!(words.split_whitespace().count() > 2, "{place}: {words}");
            }
            check(part, &place);
        }
        for (index, part) in value.as_array().into_iter().flatten().enumerate() {
            check(part, &format!("{place}/{index}"));
        }
    }
    check(&document(), "");
}

/// Every body and every reply has an example that fits its schema.
#[test]
fn every_body_and_every_reply_has_an_example_that_fits() {
    let document = document();
    let check = |what: &str, described: &Value| {
        for (content, described) in described["content"].as_object().into_iter().flatten() {
            let schema = resolved(&document, &described["schema"]);
            let example = described.get("example").or_else(|| schema.get("example"));
            let Some(example) = example else { panic!("{what} has no example as {content}") };
            fits(&document, &described["schema"], example, what);
        }
    };
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            check(&format!("the body of {method} {path}"), &described["requestBody"]);
            for (status, reply) in described["responses"].as_object().unwrap() {
                if status.starts_with('2') {
                    check(&format!("{status} of {method} {path}"), reply);
                }
            }
        }
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// Asserts that an example has every required field and no unknown field, at every depth.
fn fits(document: &Value, schema: &Value, example: &Value, place: &str) {
    let schema = resolved(document, schema);
    if let Some(items) = example.as_array() {
        items.iter().for_each(|item| fits(document, &schema["items"], item, &format!("{place}[]")));
    }
    let parts = schema["allOf"].as_array();
    let parts: Vec<&Value> = parts.map_or_else(|| vec![schema], |parts| parts.iter().collect());
    let parts: Vec<&Value> = parts.into_iter().map(|part| resolved(document, part)).collect();
    let known = |name: &str| parts.iter().find_map(|part| part["properties"].get(name));
    let (Some(fields), true) = (example.as_object(), parts.iter().any(|part| part["properties"].is_object())) else {
        return;
    };
    for required in parts.iter().filter_map(|part| part["required"].as_array()).flatten() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{place} lacks {required}");
    }
    for (name, value) in fields {
        let schema = known(name);
        assert!(schema.is_some(), "{place} has {name}, which is not described");
        fits(document, schema.unwrap(), value, &format!("{place}/{name}"));
    }
}

/// Every reference in the document can be resolved.
#[test]
fn every_reference_in_the_document_resolves() {
    fn walk(value: &Value, document: &Value) {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target} leads nowhere");
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, document)),
            Value::Object(fields) => fields.values().for_each(|field| walk(field, document)),
            _ => {}
        }
    }
    walk(&document(), &document());
}

/// The server can read the example of every request body.
#[tokio::test]
async fn every_example_of_a_request_can_be_read() {
    let world = World::new().await;
    let (root, document) = (world.admin().await, document());
    for operation in operations().into_iter().filter(|operation| operation.described["requestBody"].is_object()) {
        let things = SampleObjects::of(&world).await;
        let schema =
            operation.described["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
        let example = document.pointer(schema.trim_start_matches('#')).unwrap()["example"].clone();
        let path = operation.path_to(&things);
        let request = in_its_channel(root.request(operation.method.clone(), &path), &path);
        let answered = reply(request.json(&example)).await;
        assert_ne!(answered.status, 405, "{}", operation.id);
        let code = answered.body["code"].as_str().unwrap_or_default();
        assert!(!["malformed_json", "body_invalid"].contains(&code), "{}: {}", operation.id, answered.body);
    }
}
