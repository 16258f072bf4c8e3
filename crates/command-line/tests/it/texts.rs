//! Texts of commands for comparisons with real shells.

use proptest::prelude::*;

/// Pieces that have a meaning in shells.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "git ", "tool ", "x ", "a2 ", "no ", "git", "tool", " ", " ", " ", "\t", "\n", "\n", "; ", ";", " && ", "&&", " || ", " | ", "|", " & ", "(", ")", "( ", " )",
    "{ ", "; }", " }", "'", "'", "'a b'", "\"", "\"", "\"a b\"", "\\", "\\ ", "\\'", "\\\"", "\\$", "\\;", "\\\n", "$", "$?", "$#", "$V", "\"$V\"", "${V}", "${V:-a}", "${V%1}",
    "${#V}", "$@", "$*", "$1", "$$", "#", " # ", "a#b", " > h", ">", " >>i", " 2>j", " < f.txt", "<", " 2>&1", " >&2", " &>k", "&>", ">|", "|&", "2", "=", "V=w ", "V=w; ", "W=1 ",
    "V+=y ", "~", "*", "?", "[", "]", "[ ", " ]", "[[ ", " ]]", "{a,b}", "{1..3}", "{", "}", ",", "..", "/d", "d", "cd d", "cd d && ", "cd .. ; ", "cd", "!", "! ", "^", "%", "+", ":",
    "@", "-", "--", "if ", "; then ", "; else ", "; fi", "while no; do ", "until tool; do ", "for i in ", "for i in a b; do ", "; do ", "; done", "$i", "\"$i\"", "case a in ", "a) ", "*) ",
    ";;", " esac", "f() ", "f() { ", "f", "function f { ", "$(", "$(tool ", "`", "`tool`", "<(", ">(", "$((", "))", "((", "1+1", " <<E\n", "\nE\n", " <<'E'\n", " <<-E\n", "\tE\n", "<<<", "$'",
    "\\x67", "'\\''", "\"\"", "''", "eval ", "exec ", "command ", "time ", "env ", "A=b ", "sh -c ", "xargs ", "nice ", "timeout 1 ", "export ", "export V=z; ", "set -e; ", "set -- a b; ", "in ",
    "do ", "then ", "else ", "done ", "fi ", "esac ", "é", "\r", "a=(b c) ", "${a[0]}", "select i in ", "coproc ", "trap ", " EXIT", "true", "false", "f.txt", "*.txt", "read r", "pushd d", "popd",
    "return", "exit", "break", "continue", "local l=1", "unset V", "-n", "0", "1",
];

/// Texts of random signs.
pub(crate) fn signs() -> impl Strategy<Value = String> {
    let first = prop::sample::select(vec!["git ", "tool ", "", "", "cd d; "]);
    (first, prop::collection::vec(prop::sample::select(SIGNS), 1..10))
        .prop_map(|(first, signs)| format!("{first}{}", signs.concat()))
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b1", "'c d'", "\"e f\"", "g\\ h", "-x", "--long=1", "a'b'\"c\"", "$V", "\"$V\"", "${V}", "\"${V}x\"", "${V:-w}", "\"${V#v}\"", "${#V}", "$(tool y)", "\"$(tool 'a b')\"", "`x 1`",
    "\"`x 2`\"", "$?", "$#", "$((1 + 2))", "*.txt", "./*.txt", "?.txt", "[fg].txt", "d/*", "{a,b}", "p{1..3}q", "{a,b{c,d}}", "x{,.bak}", "{}", "@{1}", "a#b", "''", "\"\"", "~", "~/z", "a=~", "$i", "\"$i\"",
    "\"${i}.o\"", "$W", "\"$W\"", "é", "\"$\"", "a$", "'$V'", "\"\\$V\"", "\"a\\nb\"", "\\*", "'*'", "=", "a=b", "!", "%", "+", "^", "\"$@\"", "$*", "{a}", "a,b", "[", "]", "[a", "1..3", "$'a\\tb'",
    "\"${V:+y}\"", "${V/1/2}", "${V:0:2}", "-", "--", "do", "if", "f", "}", "d", "..",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => (prop::sample::select(WORDS), prop::sample::select(WORDS)).prop_map(|(one, two)| format!("{one}{two}")),
    ]
}

#[rustfmt::skip]
fn simple() -> impl Strategy<Value = String> {
    let before = prop::sample::select(vec![
        "", "", "", "", "", "W=w1 ", "V='n m' ", "env ", "env A=1 ", "nice -n 2 ", "timeout 1 ", "command ", "xargs ", "xargs -n 1 ", "xargs -I{} ", "! ", "time ", "exec ", "nohup ", "env -u V ", "find d -exec ",
    ]);
    let program = prop::sample::select(vec!["tool", "git", "x", "no", "fail", "'tool'", "g\"it\"", "f", "\\x"]);
    let after = prop::sample::select(vec![
        "", "", "", "", "", " > h", " >> d/i", " 2>&1", " 2> j", " < f.txt", " > \"$V\"", " <<< a", " &> k", " <<E\na $V `x 5`\nE", " <<'E'\n$(no)\nE", " > h 2>&1", " # c", " {} \\;", " {} +", " > l$i",
    ]);
    (before, program, prop::collection::vec(word(), 0..4), after).prop_map(|(before, program, words, after)| {
        let words: String = words.iter().map(|word| format!(" {word}")).collect();
        format!("{before}{program}{words}{after}")
    })
}

#[rustfmt::skip]
fn single() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => simple(),
        4 => prop::sample::select(vec![
            "cd d", "cd d/e", "cd ..", "cd -", "cd missing", "pushd d", "popd", "W=w2", "W='w 3'", "W=", "W=*.txt", "i=5", "export W=w4", "V=$V.x", "set -e", "set +e", "read W < f.txt", "true", "false", ":",
            "[ -f f.txt ]", "[ \"$V\" = a ]", "[[ -n $V ]]", "[[ $V == v* && -f f.txt ]]", "[[ $V =~ ^v(1|2) ]]", "i=$((i + 1))", "((i++))", "exit 3", "unset W", "W=$(tool)", "W+=q", "a=(1 2)", "eval tool e",
            "eval 'cd d; tool e'", "sh -c 'tool s; cd d; git t'", "bash -c 'tool $V' z y", "sh -c \"tool $W\"", "trap 'tool t' EXIT", "exec > m", "export PATH", "local q=1", "return", "alias tool=git", "shift", "test -d d",
        ]).prop_map(str::to_owned),
    ]
}

/// Texts of commands, nested.
pub(crate) fn command() -> impl Strategy<Value = String> {
    let joint = || {
        prop::sample::select(vec![
            "; ",
            "; ",
            " && ",
            " && ",
            " || ",
            " | ",
            "\n",
            " &\n",
            " && \\\n",
            " |\n",
            "\n\n# note\n",
        ])
    };
    single().prop_recursive(4, 16, 4, move |inner| {
        let list = (inner.clone(), prop::collection::vec((joint(), inner.clone()), 0..3));
        let list = list.prop_map(|(first, more)| more.iter().fold(first, |text, (joint, next)| format!("{text}{joint}{next}"))).boxed();
        prop_oneof![
            4 => list.clone(),
            1 => list.clone().prop_map(|list| format!("( {list}\n)")),
            1 => list.clone().prop_map(|list| format!("{{ {list}\n}}")),
            1 => (inner.clone(), list.clone(), list.clone()).prop_map(|(test, one, two)| format!("if {test}\nthen {one}\nelse {two}\nfi")),
            1 => list.clone().prop_map(|list| format!("if tool; then {list}\nfi")),
            1 => (word(), word(), list.clone()).prop_map(|(one, two, list)| format!("for i in {one} {two}; do {list}\ndone")),
            1 => list.clone().prop_map(|list| format!("for i in 1 2 3; do {list}\ndone > n")),
            1 => list.clone().prop_map(|list| format!("while fail; do {list}\ndone")),
            1 => list.clone().prop_map(|list| format!("until tool u; do {list}\ndone < f.txt")),
            1 => list.clone().prop_map(|list| format!("while read -r W; do {list}\ndone < f.txt")),
            1 => (word(), list.clone(), list.clone()).prop_map(|(word, one, two)| format!("case {word} in a|b*) {one}\n;; *) {two}\n;; esac")),
            1 => (list.clone(), list.clone()).prop_map(|(body, after)| format!("f() {{ {body}\n}}\n{after}\nf a")),
            1 => list.clone().prop_map(|list| format!("tool \"$({list}\n)\"")),
            1 => list.clone().prop_map(|list| format!("x $({list}\n)")),
            1 => list.clone().prop_map(|list| format!("x <({list}\n)")),
            1 => list.clone().prop_map(|list| format!("sh -c '{}'", list.replace('\'', "'\\''"))),
            1 => list.clone().prop_map(|list| format!("eval '{}'", list.replace('\'', "'\\''"))),
            1 => list.prop_map(|list| format!("W=$({list}\n); tool \"$W\"")),
        ]
    })
}
