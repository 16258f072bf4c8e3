//! Limits of schemas and answers, with their defaults.

/// Limits within which schemas are admitted and answers are checked.
///
/// The defaults fit forms that a person could fill in, with a wide margin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormLimits {
    /// Bytes of the schema when written as compact JSON.
    pub schema_bytes: usize,
    /// Levels of JSON nesting in the schema.
    pub schema_depth: usize,
    /// References (`$ref`, `$dynamicRef`, `$recursiveRef`) in the schema.
    pub refs: usize,
    /// Number of subschemas that check the same value again: in `allOf`, `anyOf`, `oneOf`, `not`, `if` and similar keywords.
    pub branches: usize,
    /// Number of named subschemas: in `properties`, `patternProperties`, `$defs` and similar keywords.
    pub properties: usize,
    /// Bytes of a regular expression.
    pub pattern_bytes: usize,
    /// Visits of one value, by the estimate over the graph of references; an `enum` counts each of its values.
    pub weight: u64,
    /// Nested subschemas that are being checked at once, for an answer as deep as allowed. This limits the stack.
    pub nesting: u64,
    /// Bytes that a schema may take after compilation: all its patterns, subschemas and values together.
    pub compiled_bytes: usize,
    /// Bytes of compiled schemas in the cache, including the memory that their patterns need for matching.
    pub cached_bytes: u64,
    /// Bytes of an answer when written as compact JSON.
    pub data_bytes: usize,
    /// Levels of JSON nesting in an answer.
    pub data_depth: usize,
    /// Values in an answer, counting every item and every field.
    pub data_values: usize,
    /// Items in a list, if any subschema uses `uniqueItems`.
    pub unique_items: usize,
    /// Product of the weight of the schema, the bytes of an answer, and its depth.
    pub work: u64,
    /// Errors reported for one answer; zero reports only that the answer is wrong.
    pub errors: usize,
}

impl Default for FormLimits {
    fn default() -> Self {
        Self {
            schema_bytes: 64 * 1024,
            schema_depth: 32,
            refs: 64,
            branches: 256,
            properties: 512,
            pattern_bytes: 512,
            weight: 4096,
            nesting: 512,
            compiled_bytes: 2 * 1024 * 1024,
            cached_bytes: 32 * 1024 * 1024,
            data_bytes: 1024 * 1024,
            data_depth: 64,
            data_values: 50_000,
            unique_items: 10_000,
            work: 1 << 30,
            errors: 50,
        }
    }
}
