//! Admits schemas and checks answers, with a cache of compiled schemas.

use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::compile;
use crate::error::{CheckError, FieldError, SchemaError, SchemaReason};
use crate::explain;
use crate::guard::{self, SchemaMeasure};
use crate::limits::FormLimits;
use crate::measure;
use crate::schema_cache::SchemaCache;

/// Largest number of errors that may arise while an answer is explained; each takes some 300 bytes.
const ERRORS_HELD: u64 = 100_000;
/// Largest number of bytes of the answer that those errors may copy.
const BYTES_HELD: u64 = 64 * 1024 * 1024;
/// Memory that a pattern may keep after matching: its cache of earlier matches, and 256 KiB for its states.
const MATCHING_BYTES: u64 = compile::PATTERN_CACHE as u64 + 256 * 1024;

/// Admits the schemas of questions and checks answers against them, with a cache of compiled schemas.
pub struct Forms {
    limits: FormLimits,
    compiled: SchemaCache<Compiled>,
}

struct Compiled {
    schema: Value,
    validator: Validator,
    weight: u64,
    unique_items: bool,
}

impl Forms {
    /// Creates forms with an empty cache.
    #[must_use]
    pub fn new(limits: FormLimits) -> Self {
        let compiled = SchemaCache::new(limits.cached_bytes);
        Self { limits, compiled }
    }

    /// Checks whether a question may use a schema, before people see the question.
    pub fn admit(&self, schema: &Value) -> Result<(), SchemaError> {
        self.admit_while(schema, &|| true)
    }

    /// Like [`Forms::admit`], but stops when `wanted` returns false because the caller has gone.
    pub fn admit_while(&self, schema: &Value, wanted: &dyn Fn() -> bool) -> Result<(), SchemaError> {
        self.compiled(schema, wanted).map(drop)
    }

    /// Checks an answer. The errors are sorted, without duplicates, and limited in number.
    pub fn check(&self, schema: &Value, data: &Value) -> Result<(), CheckError> {
        self.check_while(schema, data, &|| true)
    }

    /// Bytes of all compiled schemas in the cache, including the memory that their patterns may need for matching.
    pub fn cached_bytes(&self) -> u64 {
        self.compiled.bytes()
    }

    /// Like [`Forms::check`], but stops when `wanted` returns false because the caller has gone.
    pub fn check_while(&self, schema: &Value, data: &Value, wanted: &dyn Fn() -> bool) -> Result<(), CheckError> {
        let compiled = self.compiled(schema, wanted)?;
        let fields = self.errors(&compiled, data);
        if fields.is_empty() { Ok(()) } else { Err(CheckError::Fields(fields)) }
    }

    fn errors(&self, compiled: &Compiled, data: &Value) -> Vec<FieldError> {
        let measured = match measure::measure(data, &self.limits, compiled.unique_items) {
            Ok(measured) => measured,
            Err(error) => return vec![error],
        };
        let (bytes, values) = (measured.bytes as u64, measured.values as u64);
        let by_bytes = compiled.weight.saturating_mul(bytes);
        if by_bytes.saturating_mul(measured.depth as u64) > self.limits.work {
            return vec![FieldError::new("", "limit", "The answer is too large for a form with so many rules.")];
        }
        let explainable = by_bytes <= BYTES_HELD && compiled.weight.saturating_mul(values) <= ERRORS_HELD;
        let limit = if explainable { self.limits.errors } else { 0 };
        compile::catch_panic(|| explain::errors(&compiled.validator, data, limit))
            .unwrap_or_else(|| vec![FieldError::new("", "limit", "The answer could not be checked.")])
    }

    /// Finds a compiled schema in the cache, or guards and compiles it.
    ///
    /// Canonical JSON rounds numbers beyond 53 bits, so equal digests do not prove equal schemas. The schemas are compared too.
    fn compiled(&self, schema: &Value, wanted: &dyn Fn() -> bool) -> Result<Arc<Compiled>, SchemaError> {
        guard::size(schema, &self.limits)?;
        let digest = digest(schema)?;
        if let Some(compiled) = self.compiled.get(&digest).filter(|compiled| compiled.schema == *schema) {
            return Ok(compiled);
        }
        let passed = guard::guard(schema, &self.limits, wanted)?;
        let bytes = passed.compiled as u64 + passed.patterns as u64 * MATCHING_BYTES;
        let SchemaMeasure { dialect, weight, unique_items, .. } = passed;
        let validator = compile::compile(schema, dialect)?;
        let compiled = Arc::new(Compiled { schema: schema.clone(), validator, weight, unique_items });
        self.compiled.put(digest, Arc::clone(&compiled), bytes);
        Ok(compiled)
    }
}

impl Default for Forms {
    fn default() -> Self {
        Self::new(FormLimits::default())
    }
}

fn digest(schema: &Value) -> Result<[u8; 32], SchemaError> {
    let canonical =
        serde_json_canonicalizer::to_vec(schema).map_err(|_| SchemaError::new(SchemaReason::Unusable, ""))?;
    Ok(Sha256::digest(canonical).into())
}
