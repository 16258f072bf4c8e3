//! Creates and redeems tickets. A ticket opens one stream for a browser, which can send no other credential there.

use domain::audit::kind::TicketMade;
use domain::{AuditDraft, AuditKind, Caller, Credential, SignedDuration, Ticket, TicketId, Timestamp, Visit};
use store::{Cost, VisitRecord};

use crate::access;
use crate::access::authenticate::{TICKET, fingerprint, format_credential, parse_credential};
use crate::{Engine, Error, Idempotency};

/// Lifetime of a ticket: enough to open a stream.
const LIFETIME: SignedDuration = SignedDuration::from_secs(30);

impl Engine {
    /// Creates a ticket for the caller. The text of the ticket is shown only once.
    pub async fn ticket_create(
        &self,
        caller: &Caller,
        idempotency: Option<Idempotency>,
    ) -> Result<(String, Timestamp), Error> {
        let pepper = access::authenticate::load_pepper(self).await?;
        let (scope, credential, actor) = (caller.scope, caller.credential, caller.actor.clone());
        let made = self.command_with_secret(caller, "ticket", idempotency, move |work, secret| {
            let expires_at = work.now.saturating_add(LIFETIME).unwrap_or(work.now);
            let ticket = Ticket { id: work.ids.ticket(work.now), credential, scope, expires_at };
            work.tx.ticket_insert(&ticket, &fingerprint(&pepper, secret))?;
            let made = TicketMade { ticket: ticket.id, expires_at };
            work.append_audit(&scope, &AuditDraft::by(&actor, AuditKind::TicketMade(made)))?;
            Ok((ticket.id, expires_at))
        });
        let ((id, expires_at), secret): ((TicketId, Timestamp), _) = made.await?;
        Ok((format_credential(TICKET, id.uuid(), &secret), expires_at))
    }

    /// Returns the caller of a ticket and uses the ticket up. The credential that created the ticket must still be valid.
    pub async fn authenticate_ticket(&self, text: &str) -> Result<Caller, Error> {
        let (id, secret) = parse_credential(TICKET, text).ok_or(Error::Unauthenticated)?;
        let hash = fingerprint(&access::authenticate::load_pepper(self).await?, &secret);
        // Anybody may send a ticket, so an unknown one must not cost a writing transaction.
        let exists = self.read(Cost::Point, move |reads| Ok(reads.has_ticket(TicketId::from_uuid(id), &hash)?));
        if !exists.await? {
            return Err(Error::Unauthenticated);
        }
        let taken = self.transact(move |work| {
            let taken = work.tx.ticket_redeem(TicketId::from_uuid(id), &hash)?;
            Ok(taken.filter(|ticket| work.now < ticket.expires_at))
        });
        let ticket = taken.await?.ok_or(Error::Unauthenticated)?;
        let now = self.now();
        let caller = match ticket.credential {
            Credential::Key(key) => access::authenticate::read_key(self, key).await?.key.caller(now),
            Credential::Visit(visit) => {
                let VisitRecord { visit, user, .. } = access::authenticate::read_visit(self, visit).await?;
                Visit { project: ticket.scope.project, ..visit }.caller(&user, now)
            }
            Credential::Worker => None,
        };
        caller.filter(|caller| caller.scope == ticket.scope).ok_or(Error::Unauthenticated)
    }
}
