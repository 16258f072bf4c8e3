//! Refuses schemas that are too large, or dangerous to compile or to validate with.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::compile::{self, Dialect, Unmeasured};
use crate::cost::{self, Node};
use crate::error::{SchemaError, SchemaReason};
use crate::keywords::{self, JudgedValues};
use crate::limits::FormLimits;
use crate::{measure, pointer};

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const ANCHORS: [&str; 2] = ["$anchor", "$dynamicAnchor"];

/// Bytes that one subschema takes after compilation, from the largest one measured.
const NODE_BYTES: usize = 512;
/// Bytes that one value of the schema takes: the schema is kept, and most values are copied into the validator.
const VALUE_BYTES: usize = 64;
/// Bytes that a compiled pattern takes besides its automaton.
const PATTERN_BYTES: usize = 16 * 1024;
/// Bytes of a compiled pattern that count as one more visit of a value: matching may go through all states for each byte of text.
const BYTES_A_LOOK: usize = 1024;

/// Measurements of a schema that may be compiled.
pub(crate) struct SchemaMeasure {
    pub(crate) dialect: Dialect,
    /// Largest number of visits of one value.
    pub(crate) weight: u64,
    /// Whether any subschema uses `uniqueItems`.
    pub(crate) unique_items: bool,
    /// Bytes that the schema takes after compilation.
    pub(crate) compiled: usize,
    /// Number of different patterns.
    pub(crate) patterns: usize,
}

/// Refuses a value that is not a schema, or is too large or nested too deeply. Later functions may therefore recurse freely.
pub(crate) fn size(schema: &Value, limits: &FormLimits) -> Result<(), SchemaError> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err(SchemaError::new(SchemaReason::NotASchema, ""));
    }
    if let Err(pointer) = measure::within_depth(schema, limits.schema_depth) {
        return Err(SchemaError::new(SchemaReason::TooDeep { limit: limits.schema_depth }, pointer));
    }
    if measure::bytes(schema, limits.schema_bytes).is_none() {
        return Err(SchemaError::new(SchemaReason::TooLarge { limit: limits.schema_bytes }, ""));
    }
    Ok(())
}

/// Refuses a schema that is dangerous to compile or to validate with; expects a schema that `size` has accepted.
/// Stops before the next pattern when `wanted` returns false because the caller has gone.
pub(crate) fn guard(
    schema: &Value,
    limits: &FormLimits,
    wanted: &dyn Fn() -> bool,
) -> Result<SchemaMeasure, SchemaError> {
    let dialect = dialect(schema)?;
    let mut walk = SchemaWalk::new(schema, dialect, limits, wanted);
    walk.run()?;
    let weight = walk.weight()?;
    let patterns = walk.patterns.len();
    Ok(SchemaMeasure { dialect, weight, unique_items: walk.unique_items, compiled: walk.compiled, patterns })
}

fn dialect(schema: &Value) -> Result<Dialect, SchemaError> {
    match schema.get("$schema") {
        None => Ok(Dialect::default()),
        Some(uri) => uri
            .as_str()
            .and_then(Dialect::from_uri)
            .ok_or_else(|| SchemaError::new(SchemaReason::UnsupportedDialect, "/$schema")),
    }
}

/// A reference of the schema that is not resolved yet.
struct Reference<'a> {
    from: usize,
    pointer: String,
    target: &'a str,
}

/// A walk over every location where the validator would read a schema, which builds the graph for the estimate.
struct SchemaWalk<'a> {
    root: &'a Value,
    dialect: Dialect,
    limits: &'a FormLimits,
    nodes: Vec<Node<'a>>,
    by_pointer: HashMap<String, usize>,
    anchors: BTreeMap<&'a str, usize>,
    todo: Vec<(usize, &'a Value)>,
    references: Vec<Reference<'a>>,
    seen_references: usize,
    branches: usize,
    properties: usize,
    unique_items: bool,
    /// Size of each compiled pattern.
    patterns: HashMap<&'a str, usize>,
    /// Bytes that all schemas and values read so far take after compilation.
    compiled: usize,
    wanted: &'a dyn Fn() -> bool,
}

impl<'a> SchemaWalk<'a> {
    fn new(root: &'a Value, dialect: Dialect, limits: &'a FormLimits, wanted: &'a dyn Fn() -> bool) -> Self {
        let mut walk = Self {
            root,
            dialect,
            limits,
            nodes: Vec::new(),
            by_pointer: HashMap::new(),
            anchors: BTreeMap::new(),
            todo: Vec::new(),
            references: Vec::new(),
            seen_references: 0,
            branches: 0,
            properties: 0,
            unique_items: false,
            patterns: HashMap::new(),
            compiled: 0,
            wanted,
        };
        walk.node(String::new(), root);
        walk
    }

    /// Reads all subschemas below the top level first, so that all anchors are known when references are followed.
    fn run(&mut self) -> Result<(), SchemaError> {
        self.charge(measure::values(self.root).saturating_mul(VALUE_BYTES), String::new)?;
        loop {
            while let Some((index, schema)) = self.todo.pop() {
                self.charge(NODE_BYTES, String::new)?;
                if let Value::Object(schema) = schema {
                    self.read(index, schema)?;
                }
            }
            let Some(reference) = self.references.pop() else { return Ok(()) };
            let target = self.follow(&reference)?;
            self.nodes[reference.from].edges.push((JudgedValues::Here, target));
        }
    }

    fn read(&mut self, index: usize, schema: &'a Map<String, Value>) -> Result<(), SchemaError> {
        let at = self.nodes[index].pointer.clone();
        self.read_identity(index, schema, &at)?;
        self.read_patterns(index, schema, &at)?;
        self.read_references(index, schema, &at)?;
        self.unique_items |= schema.get("uniqueItems") == Some(&Value::Bool(true));
        self.nodes[index].asks_twice =
            schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems");
        if let Some(Value::Array(options)) = schema.get("enum") {
            self.nodes[index].own += options.len() as u64;
        }
        for child in keywords::children(schema, &at) {
            self.properties += usize::from(child.named);
            self.branches += usize::from(child.place == JudgedValues::Here);
            if self.properties > self.limits.properties {
                let limit = self.limits.properties;
                return Err(SchemaError::new(SchemaReason::TooManyProperties { limit }, child.pointer));
            }
            if self.branches > self.limits.branches {
                let limit = self.limits.branches;
                return Err(SchemaError::new(SchemaReason::TooManyBranches { limit }, child.pointer));
            }
            let target = self.node(child.pointer, child.schema);
            self.nodes[index].edges.push((child.place, target));
        }
        Ok(())
    }

    fn read_identity(&mut self, index: usize, schema: &'a Map<String, Value>, at: &str) -> Result<(), SchemaError> {
        let mut anchors: Vec<(&str, &'a str)> =
            ANCHORS.iter().filter_map(|&keyword| Some((keyword, schema.get(keyword)?.as_str()?))).collect();
        if index != 0 {
            if schema.contains_key("$schema") {
                return Err(SchemaError::new(SchemaReason::UnsupportedDialect, pointer::child(at, "$schema")));
            }
            match schema.get("$id").and_then(Value::as_str).map(|id| id.strip_prefix('#')) {
                None => {}
                Some(Some(name)) if self.dialect == Dialect::Draft7 => anchors.push(("$id", name)),
                Some(_) => {
                    return Err(SchemaError::new(SchemaReason::EmbeddedResource, pointer::child(at, "$id")));
                }
            }
        }
        for (keyword, name) in anchors {
            if self.anchors.insert(name, index).is_some_and(|other| other != index) {
                return Err(SchemaError::new(SchemaReason::DuplicateAnchor, pointer::child(at, keyword)));
            }
        }
        Ok(())
    }

    fn read_patterns(&mut self, index: usize, schema: &'a Map<String, Value>, at: &str) -> Result<(), SchemaError> {
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            self.pattern(index, pattern, || pointer::child(at, "pattern"))?;
        }
        if let Some(map) = schema.get("patternProperties").and_then(Value::as_object) {
            for pattern in map.keys() {
                self.pattern(index, pattern, || pointer::child(&pointer::child(at, "patternProperties"), pattern))?;
            }
        }
        Ok(())
    }

    /// Compiles a new pattern within the rest of the budget. The validator keeps equal patterns once, so they are counted once.
    fn pattern(&mut self, index: usize, pattern: &'a str, at: impl Fn() -> String) -> Result<(), SchemaError> {
        let limit = self.limits.pattern_bytes;
        if pattern.len() > limit {
            return Err(SchemaError::new(SchemaReason::PatternTooLong { limit }, at()));
        }
        let bytes = if let Some(&bytes) = self.patterns.get(pattern) {
            bytes
        } else {
            let bytes = self.compile_pattern(pattern, &at)?;
            self.patterns.insert(pattern, bytes);
            bytes
        };
        self.nodes[index].own += (bytes / BYTES_A_LOOK) as u64;
        Ok(())
    }

    fn compile_pattern(&mut self, pattern: &str, at: &impl Fn() -> String) -> Result<usize, SchemaError> {
        if !(self.wanted)() {
            return Err(SchemaError::new(SchemaReason::Abandoned, at()));
        }
        self.charge(PATTERN_BYTES, at)?;
        let limit = self.limits.compiled_bytes;
        let reason = |why| match why {
            Unmeasured::TooLarge => SchemaReason::CompiledTooLarge { limit },
            Unmeasured::Unsupported => SchemaReason::UnsupportedPattern,
        };
        let bytes = compile::pattern_bytes(pattern, limit - self.compiled);
        let bytes = bytes.map_err(|why| SchemaError::new(reason(why), at()))?;
        self.charge(bytes, at)?;
        Ok(bytes)
    }

    /// Takes bytes from the budget of the compiled schema.
    fn charge(&mut self, bytes: usize, at: impl Fn() -> String) -> Result<(), SchemaError> {
        let limit = self.limits.compiled_bytes;
        self.compiled = self.compiled.saturating_add(bytes);
        if self.compiled > limit {
            return Err(SchemaError::new(SchemaReason::CompiledTooLarge { limit }, at()));
        }
        Ok(())
    }

    fn read_references(&mut self, index: usize, schema: &'a Map<String, Value>, at: &str) -> Result<(), SchemaError> {
        for keyword in REFERENCES {
            let Some(target) = schema.get(keyword).and_then(Value::as_str) else { continue };
            let pointer = pointer::child(at, keyword);
            self.seen_references += 1;
            if self.seen_references > self.limits.refs {
                return Err(SchemaError::new(SchemaReason::TooManyRefs { limit: self.limits.refs }, pointer));
            }
            self.references.push(Reference { from: index, pointer, target });
        }
        Ok(())
    }

    fn follow(&mut self, reference: &Reference<'a>) -> Result<usize, SchemaError> {
        let Some(fragment) = reference.target.strip_prefix('#') else {
            return Err(SchemaError::new(SchemaReason::RemoteReference, &reference.pointer));
        };
        let unknown = || SchemaError::new(SchemaReason::UnknownReference, &reference.pointer);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(fragment).copied().ok_or_else(unknown);
        }
        let (pointer, target) = pointer::resolve(self.root, fragment).ok_or_else(unknown)?;
        if !matches!(target, Value::Object(_) | Value::Bool(_)) {
            return Err(unknown());
        }
        Ok(self.node(pointer, target))
    }

    /// Returns the node of a location in the schema; a new node is queued for reading.
    fn node(&mut self, pointer: String, schema: &'a Value) -> usize {
        if let Some(&index) = self.by_pointer.get(&pointer) {
            return index;
        }
        let index = self.nodes.len();
        self.by_pointer.insert(pointer.clone(), index);
        self.nodes.push(Node { pointer, own: 1, edges: Vec::new(), asks_twice: false });
        self.todo.push((index, schema));
        index
    }

    fn weight(&self) -> Result<u64, SchemaError> {
        let estimate = cost::estimate(&self.nodes, self.limits)
            .map_err(|index| SchemaError::new(SchemaReason::ReferenceLoop, &self.nodes[index].pointer))?;
        if let Some(pointer) = self.smallest_over(&estimate.weights, self.limits.weight) {
            return Err(SchemaError::new(SchemaReason::TooExpensive { limit: self.limits.weight }, pointer));
        }
        if let Some(pointer) = self.smallest_over(&estimate.nestings, self.limits.nesting) {
            return Err(SchemaError::new(SchemaReason::TooNested { limit: self.limits.nesting }, pointer));
        }
        Ok(estimate.weights.first().copied().unwrap_or(1))
    }

    /// Finds, of all nodes over the limit, the one that exceeds it least: the innermost cause.
    fn smallest_over(&self, counts: &[u64], limit: u64) -> Option<&str> {
        let over = counts.iter().zip(&self.nodes).filter(|&(&count, _)| count > limit);
        over.map(|(&count, node)| (count, node.pointer.as_str())).min().map(|(_, pointer)| pointer)
    }
}
