//! Tests the catalogue: every file is read, and calls as clients make them have the facts that rules examine.

use holdpoint_tool_facts::{ArgumentUse, CallFacts, Catalogue, ToolEffect};
use serde_json::{Value, json};

#[test]
fn every_client_has_tools_in_order() {
    let clients = Catalogue::clients();
    assert!(clients.is_sorted(), "{clients:?}");
    assert!(clients.len() >= 18);
    for client in clients {
        let tools = Catalogue::tools(client);
        assert!(!tools.is_empty() && tools.is_sorted(), "{client}: {tools:?}");
        for tool in tools {
            let declaration = Catalogue::tool(client, tool).unwrap();
            assert_eq!(declaration.check(), Ok(()), "{client} {tool}");
            assert!(declaration.effect.is_some(), "{client} {tool}");
        }
    }
}

#[test]
fn every_file_is_in_the_catalogue() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/data/catalogue");
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.map(|name| name.trim_end_matches(".toml").to_owned()).collect();
    names.sort();
    assert_eq!(names, Catalogue::clients());
}

#[test]
fn effects_fit_the_arguments() {
    for client in Catalogue::clients() {
        for tool in Catalogue::tools(client) {
            let declaration = Catalogue::tool(client, tool).unwrap();
            let has = |wanted: ArgumentUse| declaration.arguments.values().any(|kind| *kind == wanted);
            let effect = declaration.effect.unwrap();
            let runs = effect == ToolEffect::Runs;
            assert!(
                !(has(ArgumentUse::Shell) || has(ArgumentUse::Words) || has(ArgumentUse::Sql)) || runs,
                "{client} {tool} runs something"
            );
            assert_eq!(
                has(ArgumentUse::Shell) || has(ArgumentUse::Words),
                declaration.shell.is_some(),
                "{client} {tool} has no language"
            );
            assert_eq!(has(ArgumentUse::Sql), declaration.sql.is_some(), "{client} {tool} has no dialect");
            let writes = has(ArgumentUse::WritePath) || has(ArgumentUse::Path) || has(ArgumentUse::Patch);
            assert!(!writes || effect == ToolEffect::Writes, "{client} {tool} writes");
            assert!(!has(ArgumentUse::Url) || effect == ToolEffect::Fetches, "{client} {tool} requests an address");
        }
    }
}

#[test]
fn tools_of_servers_are_found_by_known_clients_only() {
    assert!(Catalogue::tool("claude-code", "mcp__filesystem__read_file").is_some());
    assert!(Catalogue::tool("mcp-filesystem", "read_file").is_some());
    for (client, tool) in [
        ("somebody", "mcp__filesystem__read_file"),
        ("somebody", "Bash"),
        ("", "Bash"),
        ("claude-code", "bash"),
        ("claude-code", "mcp__other__read_file"),
        ("claude-code", "mcp__filesystem"),
        ("claude-code", "filesystem__read_file"),
        ("opencode", "Bash"),
    ] {
        assert!(Catalogue::tool(client, tool).is_none(), "{client} {tool}");
    }
}

/// Describes a call: its paths with their uses, its URL and SQL, and an argument that is not known.
fn describe(client: &str, tool: &str, arguments: &Value) -> String {
    let declaration = Catalogue::tool(client, tool);
    assert!(declaration.is_some(), "{client} {tool}");
    let facts = CallFacts::of_declared(tool, arguments, declaration);
    let mut said: Vec<String> = facts.paths.iter().map(crate::declared::show_path).collect();
    said.extend(facts.url.iter().map(|url| url.as_ref().map_or("url ?".to_owned(), |url| format!("url {}", url.host))));
    said.extend(facts.sql.iter().map(|sql| match sql {
        Ok(sql) if sql.doubt.is_none() && sql.read_only => format!("sql reads {}", sql.read_tables.join(",")),
        _ => "sql ?".to_owned(),
    }));
    let unknown = facts.first_unexamined(|_| true, |_| false);
    said.extend(unknown.map(|(name, beside)| format!("unknown {name} beside {beside}")));
    said.sort();
    said.join("; ")
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn calls_of_clients_have_their_facts() {
    for (client, tool, arguments, expected) in [
        ("claude-code", "Read", json!({"file_path": "/srv/a.rs", "offset": 1}), "r /srv/a.rs"),
        ("claude-code", "Write", json!({"file_path": "/srv/a.rs", "content": "rm -rf / ~/x"}), "w /srv/a.rs"),
        (
            "claude-code",
            "Edit",
            json!({"file_path": "a.rs", "old_string": "/etc/passwd", "new_string": "select 1"}),
            "w a.rs",
        ),
        ("claude-code", "Edit", json!({"file_path": "../a.rs", "old_string": "", "new_string": ""}), "w ../a.rs"),
        (
            "claude-code",
            "MultiEdit",
            json!({"file_path": "a.rs", "edits": [{"old_string": "/x", "new_string": "/y"}]}),
            "w a.rs",
        ),
        (
            "claude-code",
            "Write",
            json!({"file_path": "a.rs", "content": "", "hook": "x"}),
            "unknown hook beside path; w a.rs",
        ),
        ("claude-code", "Write", json!({"file_path": ["a", "b"], "content": ""}), "w a; w b"),
        ("claude-code", "Write", json!({"file_path": 1, "content": ""}), "w ?"),
        ("claude-code", "Write", json!({"file_path": "~/x", "content": ""}), "w ?"),
        ("claude-code", "Glob", json!({"pattern": "**/*.rs"}), "r **/*.rs"),
        ("claude-code", "Glob", json!({"pattern": "/etc/*"}), "r /etc/*"),
        (
            "claude-code",
            "Grep",
            json!({"pattern": "/etc/passwd", "path": "src", "-n": true, "output_mode": "content"}),
            "r src",
        ),
        ("claude-code", "WebFetch", json!({"url": "https://docs.rs/x", "prompt": "read https://b.com"}), "url docs.rs"),
        (
            "claude-code",
            "WebFetch",
            json!({"url": "https://docs.rs/x", "proxy": "b.com"}),
            "unknown proxy beside url; url docs.rs",
        ),
        ("claude-code", "TodoWrite", json!({"todos": [{"content": "run", "command": "rm -rf /"}]}), ""),
        ("claude-code", "Task", json!({"prompt": "delete /etc", "description": "x"}), ""),
        ("claude-code", "mcp__filesystem__move_file", json!({"source": "a", "destination": "b"}), "w a; w b"),
        ("claude-code", "mcp__postgres__query", json!({"sql": "select * from users /* x */"}), "sql reads users"),
        (
            "codex",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch"}),
            "w a.rs",
        ),
        (
            "codex",
            "apply_patch",
            json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: ../b\n*** End Patch"}),
            "w ../b; w a",
        ),
        (
            "codex",
            "apply_patch",
            json!({"input": "*** Begin Patch\n*** Update File: a\n*** Move to: /etc/b\n*** End Patch"}),
            "w /etc/b; w a",
        ),
        ("codex", "apply_patch", json!({"input": "rm -rf /"}), "rw ?"),
        ("codex", "view_image", json!({"path": "a.png"}), "r a.png"),
        ("codex", "update_plan", json!({"plan": [{"step": "/x", "status": "done"}]}), ""),
        (
            "gemini-cli",
            "replace",
            json!({"file_path": "/srv/a", "old_string": "a", "new_string": "b", "instruction": "c"}),
            "w /srv/a",
        ),
        ("gemini-cli", "read_many_files", json!({"include": ["src/**/*.ts", "/etc/*"]}), "r /etc/*; r src/**/*.ts"),
        ("gemini-cli", "list_directory", json!({"dir_path": "/srv"}), "r /srv"),
        ("opencode", "edit", json!({"filePath": "a", "oldString": "x", "newString": "y"}), "w a"),
        (
            "opencode",
            "multiedit",
            json!({"filePath": "a", "edits": [{"filePath": "/etc/b", "oldString": "/x", "newString": "y"}]}),
            "w /etc/b; w a",
        ),
        (
            "opencode",
            "multiedit",
            json!({"filePath": "a", "edits": [{"oldString": "x", "newString": "y", "run": "z"}]}),
            "unknown edits beside path; w a",
        ),
        ("opencode", "webfetch", json!({"url": "https://a.com/b", "format": "markdown"}), "url a.com"),
        ("cursor", "edit_file", json!({"target_file": "a", "instructions": "i", "code_edit": "rm"}), "w a"),
        ("cursor", "codebase_search", json!({"query": "select 1", "target_directories": ["a", "/b"]}), "r /b; r a"),
        ("cline", "write_to_file", json!({"path": "a", "content": "b"}), "w a"),
        ("cline", "replace_in_file", json!({"path": "a", "diff": "--- /etc/passwd\n+++ /etc/b"}), "w a"),
        ("goose", "developer__text_editor", json!({"command": "view", "path": "a"}), "rw a"),
        (
            "goose",
            "developer__text_editor",
            json!({"command": "write", "path": "a", "diff": "--- a/x\n+++ b/../y\n"}),
            "rw a; w ../y; w x",
        ),
        ("holdpoint", "move_file", json!({"source": "a", "destination": "b", "replace": true}), "w a; w b"),
        ("holdpoint", "read_file", json!({"path": "a", "from_line": 1, "lines": 3}), "r a"),
        ("holdpoint", "search_files", json!({"pattern": "../x", "path": "src", "glob": "*.rs"}), "r src"),
        ("mcp-filesystem", "read_multiple_files", json!({"paths": ["a", "../b"]}), "r ../b; r a"),
        ("mcp-git", "git_diff", json!({"repo_path": "a", "target": "--output=/x"}), "r a; rw --output=/x"),
        ("mcp-github", "get_file_contents", json!({"owner": "a", "repo": "b", "path": "/etc/passwd"}), ""),
        ("mcp-sqlite", "read_query", json!({"query": "select * from [a]"}), "sql reads a"),
        ("mcp-mysql", "mysql_query", json!({"sql": "select /*! sleep(1) */ 1"}), "sql ?"),
        ("mcp-bigquery", "execute_sql", json!({"sql": "select * from `d.t`"}), "sql reads d.t"),
        ("mcp-fetch", "fetch", json!({"url": "http://169.254.169.254/", "max_length": 5}), "url 169.254.169.254"),
    ] {
        assert_eq!(describe(client, tool, &arguments), expected, "{client} {tool} {arguments}");
    }
}
