//! The data files and their format.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::operands::{OperandKind, OperandKinds};
use super::options::Options;
use crate::HazardKind;

/// Every table. A new file under `data/programs` is added here.
const TABLES: &[&str] = &[
    include_str!("../../data/programs/build.toml"),
    include_str!("../../data/programs/checks.toml"),
    include_str!("../../data/programs/clusters.toml"),
    include_str!("../../data/programs/containers.toml"),
    include_str!("../../data/programs/files.toml"),
    include_str!("../../data/programs/git.toml"),
    include_str!("../../data/programs/git_changes.toml"),
    include_str!("../../data/programs/git_groups.toml"),
    include_str!("../../data/programs/hosting.toml"),
    include_str!("../../data/programs/languages.toml"),
    include_str!("../../data/programs/network.toml"),
    include_str!("../../data/programs/node.toml"),
    include_str!("../../data/programs/operations.toml"),
    include_str!("../../data/programs/packages.toml"),
    include_str!("../../data/programs/python.toml"),
    include_str!("../../data/programs/python_packages.toml"),
    include_str!("../../data/programs/reading.toml"),
    include_str!("../../data/programs/runtimes.toml"),
    include_str!("../../data/programs/rust.toml"),
    include_str!("../../data/programs/search.toml"),
    include_str!("../../data/programs/shell.toml"),
    include_str!("../../data/programs/system.toml"),
];

/// The programs by name.
static PROGRAMS: LazyLock<HashMap<String, &'static Node>> = LazyLock::new(|| {
    let rows: Vec<Row> = TABLES.iter().flat_map(|text| parse(text).rows()).collect();
    let (more, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.continues);
    let mut programs = HashMap::new();
    for mut row in rows {
        let continued = more.iter().filter(|more| more.names.first() == row.names.first());
        row.subcommand.extend(continued.flat_map(|more| more.subcommand.iter().cloned()));
        let siblings = row.subcommand.clone();
        let node: &'static Node = Box::leak(Box::new(Node::new(
            &row,
            &siblings,
            Inherited {
                guards_values: row.guards_values && !row.dashed,
                glues_no_values: row.glues_no_values,
                ..Inherited::default()
            },
        )));
        programs.extend(row.names.into_iter().map(|name| (name, node)));
    }
    programs
});

/// Finds a program by its bare name.
pub(super) fn program(name: &str) -> Option<&'static Node> {
    PROGRAMS.get(name).copied()
}

/// How the words of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    /// Letters combine, options may follow operands, `--` ends them.
    Gnu,
    /// Like `Gnu`, but options end at the first operand.
    Posix,
    /// Options are whole words with one dash.
    Words,
    /// There are no options: every word is an operand.
    Text,
}

/// How the words after `--` are read.
#[derive(Debug)]
pub(super) enum Rest {
    /// They are operands of this kind.
    Kind(OperandKind),
    /// By the table with this name.
    Table(String),
}

/// What a subcommand has from its program.
#[derive(Debug, Clone, Copy)]
struct Inherited {
    style: Style,
    own_options_only: bool,
    guards_values: bool,
    glues_no_values: bool,
}

impl Default for Inherited {
    fn default() -> Self {
        Self { style: Style::Gnu, own_options_only: false, guards_values: false, glues_no_values: false }
    }
}

/// When a program reads the working directory if no operand names what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReadsHere {
    /// In any case.
    Always,
    /// Unless its standard input is something to read.
    Alone,
    /// If it reads directories recursively, as `grep -r` does.
    Recursive,
}

/// Code that judges words by rules of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Special {
    /// The script of `sed`.
    Sed,
    /// The program of `awk`.
    Awk,
    /// The operands of `test` and `[`.
    Test,
    /// The operands of `[[`.
    DoubleBracket,
    /// `git config`.
    GitConfig,
    /// `command`, which only looks for a program with `-v`.
    Command,
    /// The operands of `find`, which has signs among them.
    Find,
    /// The program of `jq`, which may name modules.
    Jq,
    /// `cd` and `pushd`, whose operand may be absent or `-`.
    ChangeDirectory,
    /// `ln` with one operand makes a link in the working directory.
    Link,
    /// `gzip` and the like, which replace their operands.
    Compress,
    /// `unzip`, which writes into the working directory.
    Unzip,
    /// `patch`, whose input names the files.
    Patch,
    /// The first operand of `tar` may be a bundle of letters, and its files depend on the mode.
    Tar,
    /// `date` with an operand that does not begin with `+` sets the clock.
    Date,
    /// `printf`, whose option `-v` sets a variable.
    Printf,
    /// `set`.
    Set,
    /// `export` and the like, whose operands are names and `NAME=value`.
    Variables,
}

/// One program or subcommand.
#[derive(Debug)]
pub(super) struct Node {
    /// How its words are read.
    pub(super) style: Style,
    /// Its own options.
    pub(super) options: Options,
    /// Kinds of its operands.
    pub(super) operands: OperandKinds,
    /// Options that take the place of the first operand.
    pub(super) instead_of_first: Vec<String>,
    /// When it reads the working directory if no operand names what it reads.
    pub(super) reads_here: Option<ReadsHere>,
    /// What it does without any option.
    pub(super) does: Option<HazardKind>,
    /// No option in its manual writes, runs or sends.
    pub(super) all_options_harmless: bool,
    /// It may stand without a subcommand.
    pub(super) bare: bool,
    /// Options of the nodes above do not count here.
    pub(super) own_options_only: bool,
    /// What it does without an operand, such as to run its standard input.
    pub(super) alone: Option<HazardKind>,
    /// Options with which it only prints something.
    pub(super) information: Vec<String>,
    /// Options with which it writes nothing.
    pub(super) checking: Vec<String>,
    /// How the words after `--` are read.
    pub(super) rest: Option<Rest>,
    /// Patterns of operands that are not harmless.
    pub(super) operand_exceptions: Vec<String>,
    /// A word that begins with a dash is not the value of the option before it.
    pub(super) guards_values: bool,
    /// A value is never glued to a letter.
    pub(super) glues_no_values: bool,
    /// Code that judges its words.
    pub(super) special: Option<Special>,
    /// Its subcommands by name.
    pub(super) subcommands: HashMap<String, Self>,
}

impl Node {
    /// Says whether no option has its value in the same word without a sign between.
    pub(super) fn all_options_are_words(&self) -> bool {
        !self.options.has_prefixes()
    }

    /// Makes a program or subcommand of its row. `siblings` are the subcommands of the program, whose options it may share.
    fn new(row: &Row, siblings: &[Row], above: Inherited) -> Self {
        let style = row.style.unwrap_or(above.style);
        let own_options_only = row.own_options_only.unwrap_or(above.own_options_only);
        let inherited = Inherited { style, own_options_only, ..above };
        let mut subcommands = HashMap::new();
        for subcommand in &row.subcommand {
            for name in subcommand.name.iter().chain(&subcommand.names) {
                subcommands.insert(name.clone(), Self::new(subcommand, siblings, inherited));
            }
        }
        let mut options = Options::new(row);
        for sibling in siblings.iter().filter(|sibling| sibling.name.is_some() && sibling.name == row.like) {
            options.extend(Options::new(sibling));
        }
        Self {
            style,
            options,
            reads_here: row.reads_here,
            does: row.does,
            operands: OperandKinds::parse(&row.operands),
            instead_of_first: row.instead_of_first.clone(),
            all_options_harmless: row.all_options_harmless,
            bare: row.bare,
            own_options_only,
            alone: row.alone,
            information: row.information.clone(),
            checking: row.checking.clone(),
            rest: match (&row.rest, &row.rest_as) {
                (_, Some(table)) => Some(Rest::Table(table.clone())),
                (Some(kind), None) => Some(Rest::Kind(OperandKind::named(kind))),
                (None, None) => None,
            },
            operand_exceptions: row.except.get("operands").cloned().unwrap_or_default(),
            guards_values: above.guards_values,
            glues_no_values: above.glues_no_values,
            special: row.special,
            subcommands,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The programs of the file may take a word that begins with a dash for an option where the option before it wants a value.
    #[serde(default)]
    guards_values: bool,
    /// The programs of the file read `-tc x` as `-t -c x`, even if `-t` takes a value.
    #[serde(default)]
    glues_no_values: bool,
    program: Vec<Row>,
}

impl Table {
    /// The programs, with what the file says of all of them.
    fn rows(self) -> Vec<Row> {
        let mut rows = self.program;
        for row in &mut rows {
            row.guards_values = self.guards_values;
            row.glues_no_values = self.glues_no_values;
        }
        rows
    }
}

/// A row of a table: a program or a subcommand.
///
/// An option is written as in a command: `-o`, `--output`. At its end, `=` says that it takes a value, `?` that it may have a value in the same word,
/// `;` that the words up to `;` or `{} +` belong to it, `+` that a name and then the value are the next two words. Without such a sign, the options of
/// `text`, `reads`, `writes`, `directories`, `projects`, `modules`, `contacts`, `settings` and `choices` take a value, those of `optional` may have one,
/// and the others have none.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Row {
    /// Bare names of the program, or further names of a subcommand.
    names: Vec<String>,
    /// Name of a subcommand.
    name: Option<String>,
    /// The row has further subcommands of a program of another table.
    continues: bool,
    /// A subcommand of the program whose options count here too, unless they are listed here.
    like: Option<String>,
    /// How the words are read. A subcommand has the style of its program.
    style: Option<Style>,
    /// Harmless options without a value.
    pub(super) flags: Vec<String>,
    /// Harmless options whose value is only text.
    pub(super) text: Vec<String>,
    /// Harmless options that may have a value in the same word.
    pub(super) optional: Vec<String>,
    /// Beginnings of harmless options whose value follows without a sign between, such as `-D` of `-Dname=value`. Only of the style `words`.
    pub(super) prefixes: Vec<String>,
    /// A number after the dash is a harmless option, as in `head -5`.
    pub(super) numbers: bool,
    /// Options whose value is a file or directory that is read.
    pub(super) reads: Vec<String>,
    /// Options whose value is a file or directory that is written.
    pub(super) writes: Vec<String>,
    /// Options whose value is the directory in which the program works.
    pub(super) directories: Vec<String>,
    /// Options whose value is an address that the program contacts.
    pub(super) contacts: Vec<String>,
    /// Options whose value is a setting of git, `key=value`.
    pub(super) settings: Vec<String>,
    /// Options whose value is a file or directory whose code or settings the program runs by its nature.
    pub(super) projects: Vec<String>,
    /// Options whose value is a module; the words after it are read by the table `python -m MODULE`.
    pub(super) modules: Vec<String>,
    /// Options whose value must match one of these patterns. Any other value starts a program.
    pub(super) choices: BTreeMap<String, Vec<String>>,
    /// Options, or `operands`, and patterns of values that are not harmless. The first pattern decides; `!` before it says that a value is harmless.
    pub(super) except: BTreeMap<String, Vec<String>>,
    /// Options with which the program only prints something.
    pub(super) information: Vec<String>,
    /// Options with which operands of the kind `write` are only read.
    pub(super) checking: Vec<String>,
    /// What the program does without an operand.
    #[serde(deserialize_with = "hazard_kind")]
    alone: Option<HazardKind>,
    /// Kind of the words after `--`.
    rest: Option<String>,
    /// Name of the table that reads the words after `--`.
    rest_as: Option<String>,
    /// The value of an option may begin with a dash.
    dashed: bool,
    /// What the file says about values that begin with a dash.
    #[serde(skip)]
    guards_values: bool,
    /// What the file says about values that are glued to a letter.
    #[serde(skip)]
    glues_no_values: bool,
    /// Options that make the program write or delete its operands, or files that are not named.
    pub(super) writing: Vec<String>,
    /// Options that start a program, or load settings or code that may.
    pub(super) running: Vec<String>,
    /// Options that send or load over the network.
    pub(super) sending: Vec<String>,
    /// Kinds of operands in order. One may repeat (`read...`); kinds after it are those of the last operands.
    operands: Vec<String>,
    /// Options that take the place of the first operand, as `-e` takes that of the pattern of `grep`.
    instead_of_first: Vec<String>,
    /// When it reads the working directory if no operand names what it reads.
    reads_here: Option<ReadsHere>,
    /// What a subcommand does without any option: `writes`, `runs` or `sends`.
    #[serde(deserialize_with = "hazard_kind")]
    does: Option<HazardKind>,
    /// No option in its manual writes, runs or sends, so a word that may be an option does no harm.
    all_options_harmless: bool,
    /// Of a program with subcommands: it does no harm without one.
    bare: bool,
    /// Options of the program do not count after a subcommand, and those of a subcommand not after the next. Holds for all levels below.
    own_options_only: Option<bool>,
    /// Code that judges the words.
    special: Option<Special>,
    /// Why something is as it is.
    #[serde(rename = "note")]
    _note: String,
    /// The subcommands.
    subcommand: Vec<Self>,
}

fn hazard_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HazardKind>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "writes" => Ok(Some(HazardKind::Writes)),
        "runs" => Ok(Some(HazardKind::Runs)),
        "sends" => Ok(Some(HazardKind::Sends)),
        other => Err(D::Error::custom(format!("`{other}` is no effect"))),
    }
}

#[expect(clippy::panic, reason = "a program whose row is lost would be unknown; the tests parse every table")]
fn parse(text: &'static str) -> Table {
    match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => panic!("an embedded table cannot be parsed: {error}"),
    }
}
