//! Answers a question through each API, and checks how each API refuses a second answer.

use reqwest::Method;
use serde_json::{Value, json};

use crate::cross::asking::AskedQuestion;
use crate::cross::table::{Api, Kind};
use server_testkit::client::{ApiClient, Reply, reply};
use server_testkit::websocket;

/// Result of an answer through one API.
enum AnswerReply {
    Http(Reply),
    Socket(Value),
}

/// Answers a question and checks the reply of the dialect.
pub(crate) async fn answered(by: &ApiClient, asked: &AskedQuestion, kind: &Kind, api: Api, label: &str) {
    match (api, says(by, asked, kind, api).await) {
        (Api::Http, AnswerReply::Http(reply)) => {
            assert_eq!((reply.status, &reply.body["status"]), (200, &json!("answered")), "{label}: {}", reply.body);
        }
        (Api::Flows, AnswerReply::Http(reply)) => {
            assert_eq!((reply.status, &reply.body["status"]), (202, &json!("ANSWERED")), "{label}: {}", reply.body);
            assert_eq!(
                (&reply.body["response"]["source"], &reply.body["response"]["respondedBy"]),
                (&json!("USER"), &json!("alice")),
                "{label}"
            );
        }
        (_, AnswerReply::Http(reply)) => {
            assert_eq!((reply.status, &reply.body["success"]), (200, &json!(true)), "{label}: {}", reply.body);
        }
        (Api::Ws, AnswerReply::Socket(message)) => {
            assert_eq!(
                (&message["status"], &message["result"]["status"]),
                (&json!(200), &json!("answered")),
                "{label}: {message}"
            );
        }
        (_, AnswerReply::Socket(message)) => {
            assert_eq!(
                (&message["type"], &message["call_id"]),
                (&json!("hitl_resolved"), &json!(asked.call)),
                "{label}: {message}"
            );
            assert_eq!((&message["source"], &message["by"]), (&json!("user"), &json!("alice")), "{label}: {message}");
        }
    }
}

/// Answers a question that cannot be answered and checks the refusal of the dialect.
pub(crate) async fn refused(by: &ApiClient, asked: &AskedQuestion, kind: &Kind, api: Api, (code, label): (&str, &str)) {
    let code = json!(code);
    match (api, says(by, asked, kind, api).await) {
        (_, AnswerReply::Http(reply)) => {
            assert_eq!((reply.status, &reply.body["code"]), (409, &code), "{label}, on {api:?}: {}", reply.body);
            if matches!(api, Api::Hitl | Api::React) {
                assert_eq!(reply.body["success"], json!(false), "{label}, on {api:?}");
            }
        }
        (Api::Ws, AnswerReply::Socket(message)) => {
            assert_eq!((&message["status"], &message["problem"]["code"]), (&json!(409), &code), "{label}: {message}");
        }
        (_, AnswerReply::Socket(message)) => {
            let told = (&message["type"], &message["code"], &message["call_id"]);
            assert_eq!(told, (&json!("error"), &code, &json!(asked.call)), "{label}: {message}");
        }
    }
}

async fn says(by: &ApiClient, asked: &AskedQuestion, kind: &Kind, api: Api) -> AnswerReply {
    match api {
        Api::Http => {
            AnswerReply::Http(by.post(&format!("/v1/interactions/{}/answer", asked.id), kind.answer.clone()).await)
        }
        Api::Ws => {
            let mut message = kind.answer.clone();
            message["type"] = json!("answer");
            message["interaction"] = json!(asked.id);
            AnswerReply::Socket(by.joins("/v1/ws").await.asks(message).await)
        }
        Api::Flows => {
            let (session, request) = (AskedQuestion::bare(&asked.session), AskedQuestion::bare(&asked.id));
            let path = format!("/api/flows/{session}/interactions/{request}/respond");
            let body = json!({ "payload": kind.payload });
            let request = by.request(Method::POST, &path).header("X-Chat-Session-Id", &asked.channel);
            AnswerReply::Http(reply(request.json(&body)).await)
        }
        Api::Hitl => {
            let (hitl_type, data) = &kind.response;
            let body = json!({ "request_id": asked.id, "hitl_type": hitl_type, "response_data": data });
            AnswerReply::Http(by.post("/hitl/respond", body).await)
        }
        Api::Tools => {
            let mut socket = by.joins(&format!("/ws/{}", asked.session)).await;
            let mut message = kind.decision.clone();
            message["type"] = json!("hitl_decision");
            message["call_id"] = json!(asked.call);
            socket.says(message).await;
            AnswerReply::Socket(about(&mut socket, asked).await)
        }
        Api::React => {
            let mut body = kind.chosen.clone();
            body["sessionId"] = json!(asked.channel);
            body["requestId"] = json!(asked.id);
            AnswerReply::Http(by.post("/api/agent/chat/react/interaction_response", body).await)
        }
    }
}

/// Returns the next message that reports the end of the question or an error.
async fn about(socket: &mut websocket::Socket, asked: &AskedQuestion) -> Value {
    loop {
        let message = socket.hears().await;
        let mine = message["call_id"] == json!(asked.call) && message["type"] == "hitl_resolved";
        if mine || message["type"] == "error" {
            return message;
        }
    }
}
