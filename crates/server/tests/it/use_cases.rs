//! Tests that a use case of the engine has the name of the route that runs it, which is the `operationId` in the OpenAPI document.

use std::fs;
use std::path::Path;

/// Routes that run no use case of their own name, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("agent_get", "agents and flows share `definition_get`"),
    ("agent_list", "agents and flows share `definition_list`"),
    ("agent_retire", "agents and flows share `definition_retire`"),
    ("event_stream", "sockets follow a session too: `session_follow`"),
    ("flow_get", "agents and flows share `definition_get`"),
    ("flow_list", "agents and flows share `definition_list`"),
    ("flow_retire", "agents and flows share `definition_retire`"),
    ("healthz", "asks nothing of the engine"),
    ("metrics", "collects the counts of several use cases"),
    ("project_stream", "sockets follow a project too: `project_follow`"),
    ("readyz", "collects what several methods report"),
    ("sign_in_get", "the server knows its ways to sign in"),
    ("socket_open", "a socket runs the use case of each message"),
];

#[test]
fn route_runs_the_use_case_of_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/routes");
    let (mut routes, mut others) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = fs::read_to_string(path).unwrap();
            let names = routes_in(&text);
            routes += names.len();
            let runs = |name: &str| text.contains(&format!("engine.{name}("));
            others.extend(names.into_iter().filter(|name| !runs(name)).map(str::to_owned));
        }
    }
    others.sort();
    let expected: Vec<&str> = EXCEPTIONS.iter().map(|(name, _)| *name).collect();
    assert!(routes > 80, "the test finds only {routes} routes");
    assert_eq!(others, expected, "give the method of `Engine` the name of its route, or list the route with a reason");
}

/// Names of the route functions in a source.
fn routes_in(text: &str) -> Vec<&str> {
    let routes = text.split("#[utoipa::path(").skip(1);
    routes.filter_map(|route| route.split_once("async fn ")?.1.split('(').next()).collect()
}
