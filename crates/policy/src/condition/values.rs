//! Converts a call to the values that an expression reads.

use std::collections::HashMap;

use cel::{
    Context,
    common::{
        types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt},
        value::Val,
    },
};
use serde_json::{Map, Number, Value};

use super::inspection::{Arguments, Reads};
use crate::case::Case;

/// Largest number of values that an expression may read, by the nesting depth of its loops: the cost grows with that power.
pub(super) const MOST_VALUES: [usize; 3] = [100_000, 2_000, 300];
/// The first whole number that a double cannot tell from the next one: 2^53.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// Adds the variables that an expression reads, and no others.
pub(super) fn bind<'v>(context: &mut Context<'_, 'v>, reads: &Reads, case: &'v Case<'_>) -> Result<(), String> {
    let mut budget = Budget(MOST_VALUES.get(reads.loops).copied().unwrap_or(0));
    for name in &reads.variables {
        let value = match *name {
            "tool" => text(case.call.tool),
            "caller" => caller(case),
            other => budget.value(case.fact(other))?,
        };
        context.add_variable_as_val(*name, value);
    }
    let arguments = case.call.arguments.as_object();
    let value = match &reads.arguments {
        Arguments::Unread => return Ok(()),
        Arguments::Whole => budget.value(case.call.arguments)?,
        Arguments::Fields(names) => {
            let found = names.iter().filter_map(|name| arguments?.get_key_value(name));
            budget.map(found)?
        }
    };
    context.add_variable_as_val("args", value);
    Ok(())
}

fn text<'v>(text: &'v str) -> Box<dyn Val + 'v> {
    Box::new(CelString::from(text))
}

fn caller<'v>(case: &'v Case<'_>) -> Box<dyn Val + 'v> {
    let agent = case.call.agent.map_or_else(|| Box::new(CelNull) as Box<dyn Val>, text);
    let entries = [("agent", agent), ("user", text(case.call.user)), ("role", text(case.call.role.name()))];
    let entries: HashMap<_, _> =
        entries.into_iter().map(|(name, value)| (CelMapKey::String(CelString::from(name)), value)).collect();
    Box::new(CelMap::from(entries))
}

/// Number of values that may still be converted.
struct Budget(usize);

impl Budget {
    fn value<'v>(&mut self, value: &'v Value) -> Result<Box<dyn Val + 'v>, String> {
        self.0 = self.0.checked_sub(1).ok_or("the call is too large for this expression")?;
        Ok(match value {
            Value::Null => Box::new(CelNull),
            Value::Bool(truth) => Box::new(CelBool::from(*truth)),
            Value::Number(it) => number(it)?,
            Value::String(it) => text(it),
            Value::Array(items) => {
                let items: Result<Vec<_>, String> = items.iter().map(|item| self.value(item)).collect();
                Box::new(CelList::from(items?))
            }
            Value::Object(fields) => self.object(fields)?,
        })
    }

    fn object<'v>(&mut self, fields: &'v Map<String, Value>) -> Result<Box<dyn Val + 'v>, String> {
        self.map(fields.iter())
    }

    fn map<'v>(&mut self, fields: impl Iterator<Item = (&'v String, &'v Value)>) -> Result<Box<dyn Val + 'v>, String> {
        let mut map: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = HashMap::new();
        for (name, value) in fields {
            map.insert(CelMapKey::String(CelString::from(name.as_str())), self.value(value)?);
        }
        Ok(Box::new(CelMap::from(map)))
    }
}

/// Converts a number that an expression can compare exactly. Larger JSON numbers have lost their last digits already.
fn number(number: &Number) -> Result<Box<dyn Val>, String> {
    if let Some(whole) = number.as_i64() {
        return Ok(Box::new(CelInt::from(whole)));
    }
    if let Some(whole) = number.as_u64() {
        return Ok(Box::new(CelUInt::from(whole)));
    }
    match number.as_f64() {
        Some(double) if double.abs() < INEXACT => Ok(Box::new(CelDouble::from(double))),
        _ => Err("a number is too large to be compared".into()),
    }
}
