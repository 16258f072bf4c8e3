//! Detects transaction ids of another cluster after a restore, and repairs them by raising the recorded ids.

use store::{LineageAdoption, LineageMismatch, LineageReads, LineageWrites, StoreError, StoreResult};

use crate::connection::Executor;
use crate::event::OWN;
use crate::values::{column, number, signed};

/// Highest recorded transaction id, and the id that would be recorded next. The `xmax` of a snapshot is above all transactions whose rows
/// the snapshot shows.
const RECORDED: &str = "select coalesce(greatest( \
    (select xid from events order by events.xid desc limit 1), (select xid from audit order by audit.xid desc limit 1), \
    (select xid from audit_linked), (select cursor_major from webhooks order by cursor_major desc limit 1)), \
    '0'::xid8)::text::bigint, \
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint + raised from lineage";
/// Number of entries up to the end of the chains, minus the number of links.
const UNCHAINED: &str = "select (select count(*) from audit, audit_linked \
    where (audit.xid, audit.position) <= (audit_linked.xid, audit_linked.position)) \
    - (select coalesce(sum(seq), 0) from audit_heads)::bigint";

impl LineageReads for Executor<'_> {
    fn lineage_mismatch(&mut self) -> StoreResult<Option<LineageMismatch>> {
        let row = self.row(RECORDED, &[])?.ok_or(StoreError::Conflict)?;
        let found = LineageMismatch { recorded: number(&row, 0)?, next: number(&row, 1)? };
        Ok((found.recorded >= found.next).then_some(found))
    }

    fn audit_skipped_count(&mut self) -> StoreResult<u64> {
        let row = self.row(UNCHAINED, &[])?.ok_or(StoreError::Conflict)?;
        Ok(u64::try_from(column::<i64>(&row, 0)?).unwrap_or(0))
    }
}

impl LineageWrites for Executor<'_> {
    /// Blocks all other writers. Statements have no time limit, because the tables may be large.
    fn lineage_adopt(&mut self) -> StoreResult<LineageAdoption> {
        self.change("set local statement_timeout = 0", &[])?;
        self.change("set local lock_timeout = '5s'", &[])?;
        self.change("lock table lineage, events, audit, audit_chain, audit_linked, webhooks in exclusive mode", &[])?;
        let mut adopted = LineageAdoption::default();
        if let Some(LineageMismatch { recorded, next }) = self.lineage_mismatch()? {
            adopted.raised = recorded - next + 1;
            self.guarded("update lineage set raised = raised + $1", &[&signed(adopted.raised)?])?;
            // Events written since the restore follow the newest event of the dump, but have lower ids.
            let sql = format!(
                "update events set xid = {OWN} from (select xid, position from events \
                 order by events.xid desc, position desc limit 1) as newest \
                 where events.position > newest.position and events.xid < newest.xid"
            );
            adopted.events = self.change(&sql, &[])?;
        }
        if self.audit_skipped_count()? > 0 {
            let sql = format!(
                "update audit set xid = {OWN} from audit_linked \
                 where (audit.xid, audit.position) <= (audit_linked.xid, audit_linked.position) \
                 and not exists (select 1 from audit_chain \
                 where audit_chain.xid = audit.xid and audit_chain.position = audit.position)"
            );
            adopted.entries = self.change(&sql, &[])?;
        }
        Ok(adopted)
    }
}
