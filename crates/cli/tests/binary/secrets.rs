//! Secrets in the real binary: keys that are rotated while it runs, and values that are nowhere once they were delivered.

mod marker;
mod places;
mod rotation;
