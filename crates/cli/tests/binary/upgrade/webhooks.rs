//! Checks that messages refused by the endpoint are sent again under their identifiers, signed with the secrets of the
//! archive.

use serde_json::json;

use super::fixture::UpgradedServer;
use crate::common::{soon, until};
use crate::webhooks::endpoint::Endpoint;

pub(super) async fn due_messages_are_sent(upgraded: &UpgradedServer, endpoint: &Endpoint) {
    let got = soon("the messages that were due", endpoint.wait_for(2)).await;
    let question = upgraded.text("/webhooks/question");
    for (name, secrets) in [("events", ["secret", "newer_secret"].as_slice()), ("answers", ["secret"].as_slice())] {
        let message = got.iter().find(|message| message.path == format!("/{name}")).unwrap();
        assert_eq!(message.id(), upgraded.text(&format!("/webhooks/{name}/delivery")));
        // The older of two secrets ends 30 days after the archive was made; the newest one stays valid.
        let newest = upgraded.text(&format!("/webhooks/{name}/{}", secrets.last().unwrap()));
        standardwebhooks::Webhook::new(&newest).unwrap().verify(&message.raw, &message.headers).unwrap();
        let told = message.body.pointer("/data/interaction").unwrap();
        assert!(told == &json!(question) || told["id"] == json!(question), "{told}");
    }
    let root = upgraded.client("root");
    until("the answer is taken", async || {
        (root.question(&question).await.body["delivery"]["state"] == "completed").then_some(())
    })
    .await;
    let path = format!("/v1/webhooks/{}/deliveries?state=delivered", upgraded.text("/webhooks/events/id"));
    until("the delivery is recorded", async || {
        let listed = root.get(&path).await.done(200).body;
        (listed["deliveries"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
}
