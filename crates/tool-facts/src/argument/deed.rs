//! What a call with paths does besides: a rule that looks at its paths alone does not know of it.
//!
//! Lists of names that run something (`hook`, `formatter`, `after_write`) were never long enough. So nothing beside a path is harmless
//! but what is on the lists of `neighbour.rs`, and what is beside the command, the address or the SQL of the same call.

use serde_json::Value;

use super::companion::{Company, Sorted, Stranger};
use super::name::{plain, sort};
use super::{Sort, companion, neighbour, place};

/// What an editor's tool is told to do to a file.
const EDITOR_COMMANDS: &[&str] = &["view", "create", "str_replace", "insert", "undo_edit"];

/// Notes the commands, addresses and SQL of a call with paths, and everything else that is not known to be harmless.
pub(super) fn add(arguments: &Value, sorted: &Sorted, strangers: &mut Vec<Stranger>) {
    let company = ["shell", "url", "sql"].into_iter().filter(|other| sorted.values().any(|found| found == other));
    let company = company.map(|beside| Company { beside, sorted }).collect();
    let deeds = Deeds { sorted, company };
    for (name, value) in arguments.as_object().into_iter().flatten() {
        let mut variables = Vec::new();
        deeds.look_at_part(name, value, &mut variables);
        let stranger = |variable| Stranger { beside: "path", argument: name.clone(), variable };
        strangers.extend(variables.into_iter().map(stranger));
    }
}

struct Deeds<'a> {
    sorted: &'a Sorted,
    /// What else is parsed of the call.
    company: Vec<Company<'a>>,
}

impl Deeds<'_> {
    /// Notes what is not known to be harmless in an argument, with the variable through which it can be looked at.
    fn look(&self, name: &str, value: &Value, variables: &mut Vec<Option<&'static str>>) {
        let short = plain(name);
        // `hook_path` and `pipe_to` end like the name of a path, and say that it is run.
        let path = is_path(name) && place::only_names_a_place(name);
        let opened = path || neighbour::holds_arguments(name);
        match self.sorted.get(&std::ptr::from_ref(value)).copied() {
            // A text under a name that says nothing may lead somewhere: rules see the path, but not what it is for.
            Some("path") | None => {}
            // The tools of editors have one for what they do: it is no program.
            Some("shell") if short == "command" && is_of_editor(value) => return,
            Some(variable) => return variables.push(Some(variable)),
        }
        let harmless = companion::is_harmless_anywhere(&short, value) || neighbour::is_harmless(name, value);
        if is_empty(value) || harmless {
            return;
        }
        // Its words and variables are facts of a command, its method and body those of an address, and its values those of SQL.
        if let Some(variable) = self.told_by(&short, value) {
            return variables.push(Some(variable));
        }
        match value {
            Value::String(_) if path => {}
            Value::Object(fields) if opened => {
                fields.iter().for_each(|(name, inner)| self.look_at_part(name, inner, variables));
            }
            Value::Array(items) if opened => {
                items.iter().for_each(|item| self.look(name, item, variables));
            }
            _ => variables.push(None),
        }
    }

    /// The same for an argument that may be a path by its name: what stands under it is written there.
    fn look_at_part(&self, name: &str, value: &Value, variables: &mut Vec<Option<&'static str>>) {
        match value {
            Value::String(_) if name.contains(['/', '\\']) => {}
            Value::Object(fields) if name.contains(['/', '\\']) => {
                fields.iter().for_each(|(name, inner)| self.look_at_part(name, inner, variables));
            }
            value => self.look(name, value, variables),
        }
    }

    /// The variable that tells of an argument, where something else of the call does.
    fn told_by(&self, short: &str, value: &Value) -> Option<&'static str> {
        let told = |company: &&Company<'_>| company.belongs(short, value) || company.harmless(short, value);
        self.company.iter().find(told).map(|company| company.beside)
    }
}

/// Says whether a name is that of a path.
fn is_path(name: &str) -> bool {
    matches!(sort(name), Some(Sort::Path | Sort::File | Sort::PerhapsPath | Sort::Location))
}

fn is_of_editor(value: &Value) -> bool {
    value.as_str().is_some_and(|command| EDITOR_COMMANDS.contains(&command))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
