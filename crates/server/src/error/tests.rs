use super::*;

/// What a store says of itself is for the log: tables, files, addresses and statements are nobody else's business.
#[tokio::test]
async fn nothing_of_the_inside_is_told() {
    let inside = || "relation holdpoint.interactions at 10.0.0.7:5432, /var/lib/holdpoint".to_owned();
    let errors = [
        StoreError::Unavailable(inside()),
        StoreError::Newer(inside()),
        StoreError::Diverged(inside()),
        StoreError::InUse(inside()),
        StoreError::Exists(inside()),
        StoreError::Corrupt(inside()),
        StoreError::Panicked,
        StoreError::InDoubt,
    ];
    for error in errors {
        let said = format!("{error:?}");
        let response = ApiError::from(Error::from(error)).into_response();
        assert!(response.status().is_server_error(), "{said}");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        for part in ["relation", "10.0.0.7", "/var/lib", "Corrupt", "panick"] {
            assert!(!body.contains(part), "{said}: {body}");
        }
    }
}
