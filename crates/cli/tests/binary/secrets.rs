//! Tests secrets in the real binary: key rotation while it runs, and values that leave no trace after their delivery.

mod marker;
mod places;
mod rotation;
