//! A page of a list that is limited in rows and in bytes, so that large rows cannot exhaust memory.

use std::ops::{Deref, DerefMut};

use crate::StoreResult;

/// Limit on the bytes of a page. The first row is always read, however large it is.
pub const PAGE_BYTES: usize = 4 << 20;

/// A page of a list. It dereferences to the vector of its items.
#[derive(Debug, Clone)]
pub struct Bounded<T> {
    items: Vec<T>,
    /// Whether reading stopped at a limit, so that further rows may follow the last item.
    pub more: bool,
    /// Number of bytes in the rows of the page.
    pub bytes: usize,
}

impl<T> Bounded<T> {
    /// Reads rows, each with its number of bytes, until the list ends or `limit` rows or [`PAGE_BYTES`] bytes are read.
    pub fn read(limit: u32, mut next: impl FnMut() -> StoreResult<Option<(usize, T)>>) -> StoreResult<Self> {
        let mut read = Self::default();
        while let Some((bytes, item)) = next()? {
            if !read.items.is_empty() && read.bytes + bytes > PAGE_BYTES {
                read.more = true;
                break;
            }
            read.bytes += bytes;
            read.items.push(item);
            if read.items.len() >= limit as usize {
                read.more = true;
                break;
            }
        }
        Ok(read)
    }

    /// Returns the items without the mark of more.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self { items: Vec::new(), more: false, bytes: 0 }
    }
}

impl<T> Deref for Bounded<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.items
    }
}

impl<T> DerefMut for Bounded<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<T> IntoIterator for Bounded<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<T, U: ?Sized> PartialEq<U> for Bounded<T>
where
    Vec<T>: PartialEq<U>,
{
    fn eq(&self, other: &U) -> bool {
        self.items == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sizes: &[usize], limit: u32) -> (usize, bool, usize) {
        let mut rows = sizes.iter().map(|size| (*size, ()));
        let mut looked_at = 0;
        let read = Bounded::read(limit, || {
            looked_at += 1;
            Ok(rows.next())
        });
        let read = read.unwrap_or_default();
        (read.len(), read.more, looked_at)
    }

    #[test]
    fn page_ends_at_its_row_or_byte_limit_and_has_at_least_one_row() {
        assert_eq!(read(&[1, 1, 1], 10), (3, false, 4));
        assert_eq!(read(&[1, 1, 1], 2), (2, true, 2));
        assert_eq!(read(&[PAGE_BYTES * 3, 1], 10), (1, true, 2));
        assert_eq!(read(&[PAGE_BYTES / 2, PAGE_BYTES / 2, 1, 1], 10), (2, true, 3));
        assert_eq!(read(&[], 10), (0, false, 1));
    }
}
