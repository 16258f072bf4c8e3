//! Part of a list that is bounded in number and in bytes, so that no list costs more memory than that, whatever its rows hold.

use std::ops::{Deref, DerefMut};

use crate::StoreResult;

/// About how many bytes of rows a list is read up to. One row is always read, however large it is.
pub const PAGE_BYTES: usize = 4 << 20;

/// What was read of a list. It can be used as the vector that it holds.
#[derive(Debug, Clone)]
pub struct Bounded<T> {
    items: Vec<T>,
    /// Whether reading stopped at a bound, in number or in bytes: what comes after the last one was not looked at.
    pub more: bool,
    /// How many bytes the rows had.
    pub bytes: usize,
}

impl<T> Bounded<T> {
    /// Takes rows one by one, each with its bytes, until there are no more, or `limit` rows, or [`PAGE_BYTES`].
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

    /// The items alone.
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
    fn a_list_ends_at_its_number_or_at_its_bytes_and_has_at_least_one() {
        assert_eq!(read(&[1, 1, 1], 10), (3, false, 4));
        assert_eq!(read(&[1, 1, 1], 2), (2, true, 2));
        assert_eq!(read(&[PAGE_BYTES * 3, 1], 10), (1, true, 2));
        assert_eq!(read(&[PAGE_BYTES / 2, PAGE_BYTES / 2, 1, 1], 10), (2, true, 3));
        assert_eq!(read(&[], 10), (0, false, 1));
    }
}
