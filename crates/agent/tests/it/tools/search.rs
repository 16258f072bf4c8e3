//! Tests of the tool `search_files`.

use serde_json::json;

use crate::tools::test_workspace::TestWorkspace;

#[tokio::test]
async fn search_matches_lines_by_pattern_and_files_by_name() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("src/a.rs", "fn one() {}\nfn two() {}\n");
    test_workspace.put("src/a.txt", "fn three");
    test_workspace.put(".git/b.rs", "fn four");
    test_workspace.put("bin.rs", b"fn five\0");
    assert_eq!(
        test_workspace.done("search_files", json!({"pattern": r"^FN t\w+", "ignore_case": true})).await,
        json!({"path": ".", "files": 3, "skipped": 1, "cut": false, "matches": [
            {"path": "src/a.rs", "line": 2, "text": "fn two() {}"},
            {"path": "src/a.txt", "line": 1, "text": "fn three"},
        ]}),
    );
    let by_name = test_workspace.done("search_files", json!({"pattern": "fn", "glob": "*.txt"})).await;
    assert_eq!(by_name["matches"], json!([{"path": "src/a.txt", "line": 1, "text": "fn three"}]));
    let by_path = test_workspace.done("search_files", json!({"pattern": "two", "glob": "src/*.rs"})).await;
    assert_eq!(by_path["matches"], json!([{"path": "src/a.rs", "line": 2, "text": "fn two() {}"}]));
    let one = test_workspace.done("search_files", json!({"pattern": "two", "path": "src/a.rs"})).await;
    assert_eq!(one["matches"], json!([{"path": "a.rs", "line": 2, "text": "fn two() {}"}]));
}

#[tokio::test]
async fn invalid_patterns_are_refused() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a", "a");
    for pattern in ["(", r"(a)\1", "a{1000}{1000}{1000}", &"a".repeat(1001)] {
        let message = test_workspace.refused("search_files", json!({"pattern": pattern})).await;
        assert!(message.starts_with("the pattern "), "{message}");
    }
    assert_eq!(
        test_workspace.refused("search_files", json!({"pattern": "a", "path": "none"})).await,
        "`none`: there is no such file or directory"
    );
}

#[tokio::test]
async fn pattern_with_nested_repetition_does_not_hang() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a", "a".repeat(100_000) + "b");
    let result = test_workspace.done("search_files", json!({"pattern": "(a+)+$|(a|a)*c"})).await;
    assert_eq!(result["matches"], json!([]));
}

#[tokio::test]
async fn a_long_line_is_cut() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a", "x".repeat(1000));
    let result = test_workspace.done("search_files", json!({"pattern": "x"})).await;
    assert_eq!(result["matches"][0]["text"], json!("x".repeat(400) + "\n[cut: 400 of 1,000 bytes shown]"));
}
