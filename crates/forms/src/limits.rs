/// The bounds within which schemas are admitted and answers are checked.
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
    /// Subschemas that judge the same value again: those of `allOf`, `anyOf`, `oneOf`, `not`, `if` and their kin.
    pub branches: usize,
    /// Named subschemas: those of `properties`, `patternProperties`, `$defs` and their kin.
    pub properties: usize,
    /// Bytes of a regular expression.
    pub pattern_bytes: usize,
    /// How often one value may be looked at, by the estimate over the graph of references; an `enum` counts its values.
    pub weight: u64,
    /// How many subschemas may be under way inside each other, for an answer as deep as allowed: the bound on the stack.
    pub nesting: u64,
    /// Bytes that a schema may take once it is compiled: all its patterns, subschemas and values together.
    pub compiled_bytes: usize,
    /// Bytes of compiled schemas that are kept for the next answer, including what their patterns need while they match.
    pub cached_bytes: u64,
    /// Bytes of an answer when written as compact JSON.
    pub data_bytes: usize,
    /// Levels of JSON nesting in an answer.
    pub data_depth: usize,
    /// Values in an answer, counting every item and every field.
    pub data_values: usize,
    /// Items in a list, wherever the schema speaks of `uniqueItems`.
    pub unique_items: usize,
    /// The weight of the schema times the bytes and the depth of an answer.
    pub work: u64,
    /// Errors reported for one answer; zero reports only that there are some.
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
