//! Failures of providers on real sockets.

use std::time::Duration;

use domain::agent::Provider;
use serde_json::{Value, json};

use super::anthropic::{message, text};
use super::server::{Reply, Server, events};
use super::{KEY, QUICK, aloud, ask, at, choice, retries, user};
use crate::model::{Delta, ModelError, Request, Turn};
use crate::models::retry::TimeLimits;

fn openai(text: &str) -> String {
    format!(
        "{}data: [DONE]\n\n",
        events(&[json!({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})])
    )
}

async fn play(
    provider: Provider,
    replies: Vec<Reply>,
    pace: TimeLimits,
) -> (Result<Turn, ModelError>, Vec<Delta>, usize) {
    let server = Server::start(replies);
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (turn, heard) = ask(&at(&server.url, choice(provider), pace), request).await;
    (turn, heard, server.seen().len())
}

#[tokio::test]
async fn request_is_retried_after_status_429() {
    let busy =
        || Reply::status("429 Too Many Requests", "retry-after: 0\r\n", r#"{"error": {"message": "Slow down"}}"#);
    let replies = vec![busy(), busy(), Reply::stream(&openai("ok"))];
    let (turn, heard, asked) = play(Provider::Openai, replies, QUICK).await;
    assert_eq!((turn.unwrap().text.as_str(), asked), ("ok", 3));
    assert_eq!(retries(&heard), ["the provider answered 429"; 2]);
}

#[tokio::test]
async fn request_fails_after_three_attempts_with_status_503() {
    let broken = || Reply::status("503 Service Unavailable", "", "<html>\nno\t upstream</html>");
    let (turn, heard, asked) = play(Provider::Anthropic, vec![broken(), broken(), broken()], QUICK).await;
    let why = "the provider answered 503";
    assert_eq!((turn, asked), (Err(ModelError::Unavailable(format!("{why} (asked 3 times)"))), 3));
    assert_eq!(retries(&heard), [why; 2]);
}

#[tokio::test]
async fn refused_request_is_not_retried_and_its_body_is_not_shown() {
    for (status, code) in [
        ("400 Bad Request", "x"),
        ("401 Unauthorized", "x"),
        ("403 Forbidden", "x"),
        ("404 Not Found", "x"),
        ("413 Payload Too Large", "x"),
        ("429 Too Many Requests", "insufficient_quota"),
    ] {
        let body = json!({"error": {"message": format!("Not with {KEY}, {}", "no ".repeat(5000)), "code": code}});
        let (turn, heard, asked) =
            play(Provider::Openai, vec![Reply::status(status, "", &body.to_string())], QUICK).await;
        let Err(ModelError::Refused(message)) = turn else { panic!("{status}: {turn:?}") };
        let kind = if code == "x" { String::new() } else { format!(" ({code})") };
        assert_eq!(message, format!("the provider answered {}{kind}", &status[..3]));
        assert_eq!((heard.len(), asked), (0, 1));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start(vec![Reply::stream(&openai("stolen"))]);
    let reply =
        Reply::status("307 Temporary Redirect", &format!("location: {}/v1/chat/completions\r\n", elsewhere.url), "");
    let (turn, _, _) = play(Provider::Openai, vec![reply], QUICK).await;
    assert!(matches!(turn, Err(ModelError::Refused(_))), "{turn:?}");
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn incomplete_stream_is_retried() {
    let half = events(&text(0, &["half"]));
    let unfinished = openai("half").replace("\"stop\"", "null").replace("data: [DONE]\n\n", "");
    for (provider, half, whole) in [
        (Provider::Anthropic, half, message(&text(0, &["whole"]), "end_turn")),
        (Provider::Openai, unfinished, openai("whole")),
    ] {
        // The connection breaks; the stream ends without its last event; the stream is complete.
        let replies = vec![Reply::stream(&half).cut(), Reply::stream(&half), Reply::stream(&whole)];
        let (turn, heard, asked) = play(provider, replies, QUICK).await;
        assert_eq!((turn.unwrap().text.as_str(), asked), ("whole", 3));
        let why = retries(&heard);
        assert_eq!(why, ["the provider was cut off", "the provider's reply was cut off before its end"]);
        assert_eq!(aloud(&heard).0, "whole");
        let (turn, _, _) =
            play(provider, vec![Reply::stream("").cut(), Reply::stream(""), Reply::stream(&whole)], QUICK).await;
        assert_eq!(turn.unwrap().text, "whole");
    }
}

#[tokio::test]
async fn no_prefix_of_a_message_is_accepted_as_a_turn() {
    let whole = message(&text(0, &["whole"]), "end_turn");
    let pace = TimeLimits { retries: 0, ..QUICK };
    for (at, _) in whole.match_indices('\n') {
        let prefix = &whole[..=at];
        if prefix == whole {
            break;
        }
        let (turn, _, _) = play(Provider::Anthropic, vec![Reply::stream(prefix)], pace).await;
        assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{prefix}: {turn:?}");
    }
}

#[tokio::test]
async fn silent_provider_is_retried_after_the_idle_limit() {
    let pace = TimeLimits { idle: Duration::from_millis(300), retries: 3, ..QUICK };
    let replies = vec![
        Reply::mute(),
        Reply::stream("").silent(),
        Reply::stream(&events(&text(0, &["half"]))).silent(),
        Reply::stream(&message(&text(0, &["whole"]), "end_turn")),
    ];
    let (turn, heard, asked) = play(Provider::Anthropic, replies, pace).await;
    assert_eq!((turn.unwrap().text.as_str(), asked), ("whole", 4));
    assert_eq!(retries(&heard), ["the provider was silent for 0.3 seconds"; 3]);
}

#[tokio::test]
async fn unreachable_provider_is_retried_and_then_unavailable() {
    let url = {
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/{KEY}", gone.local_addr().unwrap())
    };
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (turn, heard) = ask(&at(&url, choice(Provider::Openai), QUICK), request).await;
    let Err(ModelError::Unavailable(message)) = turn else { panic!("{turn:?}") };
    assert_eq!(message, "the provider cannot be reached (asked 3 times)");
    assert_eq!(heard.len(), 2);
}

#[tokio::test]
async fn malformed_stream_is_an_error() {
    let deep = format!("data: {}\n\n", "[".repeat(10_000));
    for garbage in
        ["data: {\"choices\": [}\n\n", "data: \n\n", "nonsense\n\n", "data: [DONE]\n\n", "data: \u{0}\n\n", &deep]
    {
        for provider in [Provider::Openai, Provider::Anthropic] {
            let pace = TimeLimits { retries: 0, ..QUICK };
            let (turn, _, _) = play(provider, vec![Reply::stream(garbage)], pace).await;
            assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{garbage}: {turn:?}");
        }
    }
    let strange: [Value; 6] = [
        json!(null),
        json!([1]),
        json!({"choices": "x", "usage": 3}),
        json!({"choices": [{"delta": {"tool_calls": [3, {"index": "a"}], "content": 4, "reasoning_details": [1, {}]}}]}),
        json!({"type": 7, "index": -1}),
        json!({"type": "content_block_start", "content_block": 9}),
    ];
    for provider in [Provider::Openai, Provider::Anthropic] {
        let (turn, _, _) =
            play(provider, vec![Reply::stream(&events(&strange))], TimeLimits { retries: 0, ..QUICK }).await;
        assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{turn:?}");
    }
}

#[tokio::test]
async fn response_without_an_event_stream_is_refused_at_once() {
    let page = Reply::status("200 OK", "content-type: text/html; charset=secret\r\n", "<html>Welcome</html>");
    let (turn, _, asked) = play(Provider::Openai, vec![page], QUICK).await;
    let Err(ModelError::Refused(message)) = turn else { panic!("{turn:?}") };
    let expected = "the endpoint answers with text/html instead of an event stream";
    assert_eq!((message.as_str(), asked), (expected, 1));
    let error = r#"{"error": {"message": "No such model", "type": "invalid_request_error"}}"#;
    let (turn, _, _) =
        play(Provider::Openai, vec![Reply::status("200 OK", "content-type: application/json\r\n", error)], QUICK).await;
    assert_eq!(
        turn,
        Err(ModelError::Refused("the provider ended its reply with an error (invalid_request_error)".to_owned()))
    );
}

#[tokio::test]
async fn server_without_tls_never_receives_the_key() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let plain = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut socket, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        let mut heard = Vec::new();
        let _ = std::io::Read::read_to_end(&mut socket, &mut heard);
        heard
    });
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (turn, _) = ask(&at(&url, choice(Provider::Openai), TimeLimits { retries: 0, ..QUICK }), request).await;
    assert!(matches!(turn, Err(ModelError::Unavailable(_))), "{turn:?}");
    let heard = String::from_utf8_lossy(&plain.join().unwrap()).into_owned();
    assert!(!heard.is_empty() && !heard.contains(KEY), "{heard}");
}

#[tokio::test]
async fn dropping_a_turn_closes_the_connection() {
    let server = Server::start(vec![
        Reply::stream(&events(&text(0, &["half"]))).silent(),
        Reply::stream(&message(&text(0, &["ok"]), "end_turn")),
    ]);
    let model = at(&server.url, choice(Provider::Anthropic), QUICK);
    let history = [user("hi")];
    let request = Request { instructions: "", history: &history, tools: &[] };
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    let mut said = move |delta| heard.send(delta).unwrap();
    let turn = crate::model::Model::turn(&model, request, &mut said);
    tokio::select! {
        turn = turn => panic!("{turn:?}"),
        delta = hears.recv() => assert_eq!(delta, Some(Delta::Text("half".into()))),
    }
    // The server answers requests one after another: it reads the second only because the first connection was closed.
    assert_eq!(ask(&model, request).await.0.unwrap().text, "ok");
}
