//! Compares passwords and changes the password of the signed-in person. `hashing.rs` computes the hashes.

use domain::audit::kind::UserNamed;
use domain::{AuditDraft, AuditKind, Caller, Credential, Problem, Refusal, VisitId, user};
use store::{StoreError, VisitRecord};
use zeroize::Zeroizing;

use crate::access;
use crate::run::transaction::Work;
use crate::{Engine, Error};

/// Hash that no password matches. It is compared for unknown people, so that their refusal takes as long as a wrong password.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A password as received. It is overwritten when dropped and never printed.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl From<String> for Password {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl Engine {
    /// Sets the password of the signed-in person. The old password is required, unless the visit began with a one-time link that has set no password
    /// yet. All other browsers are signed out.
    pub async fn me_password(&self, caller: &Caller, old: Option<Password>, new: Password) -> Result<(), Error> {
        let Credential::Visit(visit) = caller.credential else { return Err(Refusal::NeedsSignIn.into()) };
        let record = access::authenticate::read_visit(self, visit).await?;
        let by_link = record.visit.by_link;
        check(&record, old.is_some(), &new)?;
        let known = read_hash(self, &record).await?;
        if let (false, Some(old)) = (by_link, old)
            && !is_right(self, old, known.clone()).await?
        {
            return Err(Refusal::PasswordWrong.into());
        }
        let hash = hash(self, new).await?;
        let scope = caller.scope;
        self.transact_by(caller, move |work| {
            work.caller()?;
            require_unchanged(work, &record, known.as_ref())?;
            work.tx.password_save(record.user.id, Some(&hash))?;
            work.tx.visits_end(record.user.id, Some(visit))?;
            work.tx.links_delete(record.user.id)?;
            let named = UserNamed { user: record.user.name.clone() };
            work.append_audit(&scope, &AuditDraft::plain(AuditKind::UserPasswordChanged(named)))
        })
        .await
    }
}

/// Whether the password matches the hash. Takes equally long if there is no hash.
pub(crate) async fn is_right(engine: &Engine, password: Password, hash: Option<String>) -> Result<bool, Error> {
    let fits = engine.hashes.run_queued(move |hasher| {
        let fits = hasher.fits(password.0.as_bytes(), hash.as_deref().unwrap_or(NOBODY));
        fits && hash.is_some()
    });
    fits.await
}

async fn hash(engine: &Engine, password: Password) -> Result<String, Error> {
    let salt: [u8; 16] = engine.ids.random();
    let hash = engine.hashes.run_queued(move |hasher| hasher.hash(password.0.as_bytes(), &salt)).await?;
    hash.ok_or_else(|| StoreError::Corrupt("a password could not be hashed".into()).into())
}

async fn read_hash(engine: &Engine, record: &VisitRecord) -> Result<Option<String>, Error> {
    let id = record.user.id;
    let found = engine.read(store::Cost::Point, move |reads| Ok(reads.user_by_id(id)?)).await?;
    Ok(found.and_then(|found| found.password))
}

fn check(record: &VisitRecord, old: bool, new: &Password) -> Result<(), Error> {
    let mut problems = Vec::new();
    user::check_password("/new", &new.0, &mut problems);
    if record.user.subject.is_some() {
        problems.push(Problem::new("/new", "is not needed: you sign in through an identity provider"));
    }
    if !old && !record.visit.by_link {
        problems.push(Problem::new("/old", "is needed"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

/// Refuses if the state has changed since it was read before the hashing: the link has set another password, the visit has ended, or the old
/// password was changed.
fn require_unchanged(work: &mut Work<'_>, record: &VisitRecord, known: Option<&String>) -> Result<(), Error> {
    let visit: VisitId = record.visit.id;
    let now = work.tx.user_by_id(record.user.id)?.and_then(|found| found.password);
    let holds = if record.visit.by_link { work.tx.visit_consume_link(visit)? } else { work.tx.visit(visit)?.is_some() };
    if holds && now.as_ref() == known { Ok(()) } else { Err(Refusal::PasswordWrong.into()) }
}
