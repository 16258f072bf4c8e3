//! Tests of `search_files`.

use serde_json::json;

use crate::tools::ground::Ground;

#[tokio::test]
async fn lines_are_found_by_pattern_and_name() {
    let ground = Ground::new();
    ground.put("src/a.rs", "fn one() {}\nfn two() {}\n");
    ground.put("src/a.txt", "fn three");
    ground.put(".git/b.rs", "fn four");
    ground.put("bin.rs", b"fn five\0");
    assert_eq!(
        ground.done("search_files", json!({"pattern": r"^FN t\w+", "ignore_case": true})).await,
        json!({"path": ".", "files": 3, "skipped": 1, "cut": false, "matches": [
            {"path": "src/a.rs", "line": 2, "text": "fn two() {}"},
            {"path": "src/a.txt", "line": 1, "text": "fn three"},
        ]}),
    );
    let by_name = ground.done("search_files", json!({"pattern": "fn", "glob": "*.txt"})).await;
    assert_eq!(by_name["matches"], json!([{"path": "src/a.txt", "line": 1, "text": "fn three"}]));
    let by_path = ground.done("search_files", json!({"pattern": "two", "glob": "src/*.rs"})).await;
    assert_eq!(by_path["matches"], json!([{"path": "src/a.rs", "line": 2, "text": "fn two() {}"}]));
    let one = ground.done("search_files", json!({"pattern": "two", "path": "src/a.rs"})).await;
    assert_eq!(one["matches"], json!([{"path": "a.rs", "line": 2, "text": "fn two() {}"}]));
}

#[tokio::test]
async fn patterns_that_cannot_be_used_are_refused() {
    let ground = Ground::new();
    ground.put("a", "a");
    for pattern in ["(", r"(a)\1", "a{1000}{1000}{1000}", &"a".repeat(1001)] {
        let message = ground.refused("search_files", json!({"pattern": pattern})).await;
        assert!(message.starts_with("the pattern "), "{message}");
    }
    assert_eq!(
        ground.refused("search_files", json!({"pattern": "a", "path": "none"})).await,
        "`none`: there is no such file or directory"
    );
}

#[tokio::test]
async fn a_pattern_that_makes_others_hang_is_answered() {
    let ground = Ground::new();
    ground.put("a", "a".repeat(100_000) + "b");
    let result = ground.done("search_files", json!({"pattern": "(a+)+$|(a|a)*c"})).await;
    assert_eq!(result["matches"], json!([]));
}

#[tokio::test]
async fn a_long_line_is_cut() {
    let ground = Ground::new();
    ground.put("a", "x".repeat(1000));
    let result = ground.done("search_files", json!({"pattern": "x"})).await;
    assert_eq!(result["matches"][0]["text"], json!("x".repeat(400) + "\n[cut: 400 of 1,000 bytes shown]"));
}
