//! Checks that the server under test shows everything that the API showed before the old server was killed. It may add
//! fields.

use serde_json::Value;

use super::fixture::UpgradedServer;

pub(super) async fn everything_is_shown_as_before(upgraded: &UpgradedServer) {
    let reads = upgraded.manifest["reads"].as_array().unwrap();
    assert!(reads.len() > 50);
    for read in reads {
        let (name, path) = (read["as"].as_str().unwrap(), read["path"].as_str().unwrap());
        let shown = upgraded.client(name).get(path).await.done(200).body;
        assert_shows(&read["body"], &shown, path);
    }
}

/// Asserts that a reply contains everything of an earlier reply, with equal values.
pub(super) fn assert_shows(before: &Value, after: &Value, path: &str) {
    let mut differences = Vec::new();
    compare(before, after, path, &mut differences);
    assert!(differences.is_empty(), "{differences:#?}");
}

fn compare(before: &Value, after: &Value, at: &str, differences: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, field) in fields {
                let other = others.get(name).unwrap_or(&Value::Null);
                compare(field, other, &format!("{at} /{name}"), differences);
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                compare(item, other, &format!("{at} /{index}"), differences);
            }
        }
        _ if before == after => {}
        _ => differences.push(format!("{at}: was {before}, is {after}")),
    }
}
