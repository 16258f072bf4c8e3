//! An MCP server for the tests of the client: it lists tools page by page, answers, is slow, fails, sends too much, and
//! dies.
//!
//! `everything stdio` uses its standard streams; `everything http` writes the port that it listens on to its standard
//! output.

#![expect(clippy::unwrap_used, reason = "a server for tests may panic")]

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

#[derive(Clone)]
struct Everything;

/// Tools with two hints: whether the tool only reads, and whether it may be repeated.
const TOOLS: &[(&str, bool, bool)] = &[
    ("echo", true, false),
    ("put", false, true),
    ("fail", false, false),
    ("refuse", false, false),
    ("slow", false, false),
    ("huge", false, false),
    ("flood", false, false),
    ("picture", true, false),
    ("structured", true, false),
    ("environment", true, false),
    ("die", false, false),
    ("pid", true, false),
];

/// Number of tools on one page.
const PAGE: usize = 5;

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let from: usize = request.and_then(|page| page.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let mut all: Vec<Tool> = TOOLS.iter().map(|(name, reads, again)| tool(name, *reads, *again)).collect();
        if std::env::args().nth(2).as_deref() == Some("many") {
            all.extend((0..300).map(|number| tool(&format!("more-{number}"), true, false)));
        }
        let mut result = ListToolsResult::with_all_items(all.iter().skip(from).take(PAGE).cloned().collect());
        result.next_cursor = (from + PAGE < all.len()).then(|| (from + PAGE).to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match &*request.name {
            "echo" => text(arguments.to_string()),
            "put" => append(&arguments, "put"),
            "fail" => CallToolResult::error(vec![ContentBlock::text("it did not work")]),
            "refuse" => return Err(ErrorData::invalid_params("these arguments are wrong", None)),
            "slow" => {
                append(&arguments, "began");
                tokio::select! {
                    () = context.ct.cancelled() => append(&arguments, "cancelled"),
                    () = tokio::time::sleep(Duration::from_secs(1000)) => text("at last".to_owned()),
                }
            }
            "huge" => text("x".repeat(1 << 20)),
            "flood" => text("x".repeat(9 << 20)),
            "picture" => {
                CallToolResult::success(vec![ContentBlock::text("look"), ContentBlock::image("AAAAAAAA", "image/png")])
            }
            "structured" => CallToolResult::structured(json!({"sum": 3})),
            "environment" => {
                let mut names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                text(names.join(" "))
            }
            "pid" => text(std::process::id().to_string()),
            "die" => {
                append(&arguments, "began");
                eprintln!("I am dying");
                std::process::exit(7);
            }
            other => return Err(ErrorData::invalid_params(format!("there is no {other}"), None)),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

fn tool(name: &str, reads: bool, again: bool) -> Tool {
    let schema: Map<String, Value> = serde_json::from_value(json!({"type": "object"})).unwrap();
    let annotations = ToolAnnotations::new().read_only(reads).idempotent(again);
    Tool::new(name.to_owned(), format!("The tool {name}"), Arc::new(schema)).with_annotations(annotations)
}

/// Appends a line to the file that the arguments name.
fn append(arguments: &Value, line: &str) -> CallToolResult {
    if let Some(path) = arguments["file"].as_str() {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
    CallToolResult::success(vec![ContentBlock::text(line)])
}

#[tokio::main]
async fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("stdio") => {
            Everything.serve(stdio()).await.unwrap().waiting().await.unwrap();
        }
        Some("http") => http().await,
        _ => eprintln!("stdio or http"),
    }
}

async fn http() {
    let mut config = StreamableHttpServerConfig::default();
    config.json_response = std::env::args().nth(2).as_deref() == Some("json");
    config.legacy_session_mode = !config.json_response;
    let service = StreamableHttpService::new(|| Ok(Everything), Arc::new(LocalSessionManager::default()), config);
    let router = Router::new().nest_service("/mcp", service).layer(from_fn(with_token));
    let port = std::env::args().nth(3).map_or(0, |port| port.parse().unwrap());
    let listener = tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    std::io::stdout().flush().unwrap();
    axum::serve(listener, router).await.unwrap();
}

async fn with_token(request: Request, next: Next) -> Response {
    let token = request.headers().get("authorization").and_then(|value| value.to_str().ok());
    if token == Some("Bearer letmein") { next.run(request).await } else { StatusCode::UNAUTHORIZED.into_response() }
}
