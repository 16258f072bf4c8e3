//! Versions of agents and flows: path parameters and lists.

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use domain::{Caller, Definition, DefinitionKind};
use http::StatusCode;
use http::request::Parts;
use protocol::DefinitionView;
use serde::Deserialize;
use store::Page;
use utoipa::IntoParams;

use crate::App;
use crate::error::ApiError;
use crate::params::limit;

/// Extractor of a name and a version in the path.
pub(crate) struct Version(String, String);

impl Version {
    /// The definition of this version.
    pub(crate) async fn get(
        self,
        app: &App,
        caller: &Caller,
        kind: DefinitionKind,
    ) -> Result<Json<DefinitionView>, ApiError> {
        let found = app.engine.definition_get(caller, kind, (self.0, self.1)).await?;
        Ok(Json(DefinitionView::whole(found.definition, !found.from_file)))
    }

    /// Retires the version, so that no new session uses it.
    pub(crate) async fn retire(self, app: &App, caller: &Caller, kind: DefinitionKind) -> Result<StatusCode, ApiError> {
        app.engine.definition_retire(caller, kind, (self.0, self.1), None).await?;
        Ok(StatusCode::NO_CONTENT)
    }
}

/// Reply to an added version.
pub(crate) fn added_reply(definition: Definition) -> (StatusCode, Json<DefinitionView>) {
    (StatusCode::CREATED, Json(DefinitionView::whole(definition, true)))
}

impl FromRequestParts<App> for Version {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let read = Path::<(String, String)>::from_request_parts(parts, app).await;
        let wrong = || ApiError::IdInvalid("the name or the version in the path cannot be read".into());
        let Path((name, version)) = read.map_err(|_| wrong())?;
        if name.contains('\0') || version.contains('\0') { Err(wrong()) } else { Ok(Self(name, version)) }
    }
}

/// Query of a list of versions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionsQuery {
    /// Value of `next` from the previous page, `name@version`.
    cursor: Option<String>,
    /// Maximum number of entries; 50 if absent.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

impl VersionsQuery {
    /// Reads a page of versions, and the cursor of the next one.
    pub(crate) async fn list(
        self,
        app: &App,
        caller: &Caller,
        kind: DefinitionKind,
    ) -> Result<(Vec<DefinitionView>, Option<String>), ApiError> {
        let after = self.cursor.as_deref().map(cursor).transpose()?;
        let limit = limit(self.limit)?;
        let (found, more) = app.engine.definition_list(caller, kind, Page { after, limit }).await?;
        let last = found.last().filter(|_| more);
        let next = last.map(|last| format!("{}@{}", last.definition.name, last.definition.version));
        let shown = found.into_iter().map(|one| DefinitionView::new(one.definition, !one.from_file));
        Ok((shown.collect(), next))
    }
}

fn cursor(text: &str) -> Result<(String, String), ApiError> {
    let parts = text.split_once('@');
    let (name, version) = parts.ok_or_else(|| ApiError::QueryInvalid("cursor: not `name@version`".into()))?;
    Ok((name.to_owned(), version.to_owned()))
}
