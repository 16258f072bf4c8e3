//! Reads a list of the store from page to page.

use store::{Bounded, Page, StoreResult};

/// Position of a reader in a list. Each page begins after the last row of the page before it.
pub(crate) struct Pages<T, C> {
    limit: u32,
    cursor: fn(&T) -> C,
    next: Option<Page<C>>,
}

impl<T, C> Pages<T, C> {
    /// Begins at the first row. `cursor` returns the position of a row.
    pub(crate) const fn new(limit: u32, cursor: fn(&T) -> C) -> Self {
        Self::from(Page::first(limit), cursor)
    }

    /// Begins at a page.
    pub(crate) const fn from(page: Page<C>, cursor: fn(&T) -> C) -> Self {
        Self { limit: page.limit, cursor, next: Some(page) }
    }

    /// Reads the next page. Returns `None` after the last one.
    pub(crate) fn next(
        &mut self,
        read: impl FnOnce(Page<C>) -> StoreResult<Bounded<T>>,
    ) -> StoreResult<Option<Bounded<T>>> {
        let Some(page) = self.next.take() else { return Ok(None) };
        let found = read(page)?;
        let last = found.last().filter(|_| found.more);
        self.next = last.map(|last| Page { after: Some((self.cursor)(last)), limit: self.limit });
        Ok(Some(found))
    }

    /// Position after which the next page begins. `None` after the last page.
    pub(crate) fn cursor(self) -> Option<C> {
        self.next?.after
    }

    /// Whether the last page was read.
    pub(crate) const fn is_over(&self) -> bool {
        self.next.is_none()
    }
}
