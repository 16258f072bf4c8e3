//! An MCP server written by hand, as a program over standard streams and over HTTP. It logs every call.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::Deployment;

const HELLO: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tickets","version":"1"}}"#;
const FILED: &str = r#"{"content":[{"type":"text","text":"filed as 17"}]}"#;

/// Reads one JSON-RPC message a line and writes one reply a line; calls of `slow` get no reply.
const PROGRAM: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*) reply 'HELLO' ;;
    *'"method":"tools/list"'*) reply 'TOOLS' ;;
    *'"method":"tools/call"'*)
      printf '%s\n' "$line" >> "$1"
      case $line in *'"name":"slow"'*) ;; *) reply 'FILED' ;; esac ;;
  esac
done
"#;

/// An MCP server and the log of its calls.
pub(crate) struct Tickets {
    definition: String,
    log: PathBuf,
}

impl Tickets {
    /// Writes the program, which the agent's worker starts.
    pub(crate) fn program(deployment: &Deployment) -> Self {
        // The program may read its own directory and write to the workspace of the agent.
        let (programs, workspace) = (deployment.path("programs"), deployment.path("workspaces/demo"));
        for directory in [&programs, &workspace] {
            fs::create_dir_all(directory).unwrap();
        }
        let (script, log) = (programs.join("tickets.sh"), workspace.join("tickets.log"));
        let text = PROGRAM.replace("HELLO", HELLO).replace("TOOLS", &tools()).replace("FILED", FILED);
        fs::write(&script, text).unwrap();
        let command = format!("[\"/bin/sh\", \"{}\", \"{}\"]", script.display(), log.display());
        let read_only = format!("read_only = [\"{}\"]", programs.display());
        let definition =
            format!("workspace = \"demo\"\n[[mcp]]\nname = \"tickets\"\ncommand = {command}\n{read_only}\n");
        Self { definition, log }
    }

    /// Starts an HTTP server that listens until the process ends.
    pub(crate) fn address(deployment: &Deployment) -> Self {
        let log = deployment.path("tickets.log");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let kept = log.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let log = kept.clone();
                std::thread::spawn(move || serve(&connection.unwrap(), &log));
            }
        });
        Self { definition: format!("[[mcp]]\nname = \"tickets\"\nurl = \"http://127.0.0.1:{port}/mcp\"\n"), log }
    }

    /// Sections for the definition of an agent that uses this server.
    pub(crate) fn definition(&self) -> &str {
        &self.definition
    }

    /// Logged calls, each with its tool and arguments.
    pub(crate) fn called(&self) -> Vec<(String, Value)> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let calls = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["params"].take());
        calls.map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone())).collect()
    }
}

fn tools() -> String {
    let tool = |name: &str| json!({ "name": name, "description": name, "inputSchema": { "type": "object" } });
    let tools = ["get", "create", "drop", "slow"].map(tool);
    json!({ "tools": tools }).to_string()
}

/// Answers one request of a client.
fn serve(mut connection: &TcpStream, log: &Path) {
    let mut reader = BufReader::new(connection);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match said["method"].as_str() {
        Some("initialize") => Some(HELLO.to_owned()),
        Some("tools/list") => Some(tools()),
        Some("tools/call") => {
            let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
            log.write_all(format!("{said}\n").as_bytes()).unwrap();
            if said["params"]["name"] == "slow" {
                // Waits until the client disconnects.
                let _ = reader.read(&mut [0]);
                return;
            }
            Some(FILED.to_owned())
        }
        _ => None,
    };
    let reply = match result {
        Some(result) => {
            let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", said["id"]);
            format!("200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}", text.len())
        }
        None if first.starts_with("POST") => "202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned(),
        None => "405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    // The client may have been killed.
    let _ =
        connection.write_all(format!("HTTP/1.1 {}", reply.replacen("\r\n", "\r\nConnection: close\r\n", 1)).as_bytes());
}
