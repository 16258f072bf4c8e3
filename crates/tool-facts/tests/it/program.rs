//! Tests programs: their names, their subcommands, and the commands that their options hide.

use holdpoint_tool_facts::Shell;

fn subcommand(text: &str) -> String {
    let shell = Shell::parse(text).unwrap();
    assert!(shell.doubt.is_none(), "{text}: {:?}", shell.doubt);
    shell.commands.last().unwrap().subcommand.clone()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn subcommand_of_git_is_found_behind_its_options() {
    for text in [
        "git push",
        "git -C x push",
        "git -C x -C y push",
        "git --git-dir=x push",
        "git --git-dir x push",
        "git --work-tree=x push",
        "git --no-pager push",
        "git -c user.name=x push",
        "git -P -c color.ui=never push --force",
        "/usr/bin/git push",
        "git --namespace status push",
    ] {
        assert_eq!(subcommand(text), "push", "{text}");
    }
    for text in [
        "git -c alias.x='!sh' x",
        "git -c core.pager=x log",
        "git -c core.fsmonitor=x status",
        "git -c CORE.SSHCOMMAND=x fetch",
        "git --exec-path=x status",
        "git --config-env=core.pager=X log",
        "git --unknown x status",
        "git fetch --upload-pack=x",
        "git fetch --upload-pa x",
        "git push --receive-pack=x",
        "git clone -u x y",
        "git clone -c core.pager=x y",
        "git clone ext::sh",
        "git rebase -x 'rm x' main",
        "git rebase --exec 'rm x' main",
        "git submodule foreach 'git push'",
        "git bisect run x",
        "git grep -Ox y",
        "git grep -nO'touch x' y",
        "git grep -iO y",
        "git clone -qux y",
        "git clone -qccore.pager=x y",
        "git rebase -ix 'rm x' main",
        "git archive --e=x HEAD",
        "git archive --remote=ext::sh HEAD",
        "git grep --open-files-in-pager=x y",
        "git filter-branch x",
        "git difftool -x y",
        "git diff --ext-diff",
        "git p",
        "git git",
        "git Status",
        "git 'add commit'",
        "git diff --no-index a b",
        "git diff --no-ind a b",
        "git grep --no-index x",
        "git config alias.x '!rm y'",
        "git config --global core.hooksPath x",
        "git config core.pager x",
        "git config set core.fsmonitor x",
        "git config --unset core.hooksPath",
        "git config --add include.path x",
        "git config --edit",
        "git config color.foo.fsmonitor x",
        "git config --rename-section color.foo core",
        "git config rename-section color.foo core",
        "git config --remove-section color.foo",
        "git config --comment user.name core.fsmonitor x",
        "git config set --value user.name core.fsmonitor x",
        "git config set user.name x",
        "git config user.name --edit",
        "git config user.name x y",
        "git config --global user.name x",
        "git config --type path user.name x",
        "git config --local --local user.name x",
        "git config --name-only core.fsmonitor x",
        "git -c color.foo.fsmonitor=x status",
        "git maintenance start",
        "git bisect visualize git/evil",
        "git init --bare .",
        "git clone --mirror x y",
        "git maintenance register",
        "git maintenance",
        "git cherry-pick --strategy x/evil HEAD",
        "git cherry-pick --strategy=x/evil HEAD",
        "git revert --strat x/evil HEAD",
        "git rebase -s x/evil main",
        "git rebase -sx/evil main",
        "git pull -s evil",
        "git merge -qs evil main",
    ] {
        assert!(Shell::parse(text).unwrap().doubt.is_some(), "{text}");
    }
    for text in
        ["git merge -s ort main", "git rebase --strategy=ours main", "git cherry-pick -s HEAD", "git pull -srecursive"]
    {
        assert!(Shell::parse(text).unwrap().doubt.is_none(), "{text}");
    }
    for text in [
        "git config user.name x",
        "git config --local user.name x",
        "git config user.name",
        "git config --get core.pager",
        "git config --global --get core.pager",
        "git config --list",
        "git config get core.pager",
        "git config color.ui auto",
    ] {
        assert_eq!(subcommand(text), "config", "{text}");
    }
    assert_eq!(subcommand("docker push x"), "push");
    assert_eq!(subcommand("docker --context ps push x"), "");
    assert!(Shell::parse("git -C x status").unwrap().commands[0].cwd_changed);
    assert!(Shell::parse("cd x && git status").unwrap().commands[1].cwd_changed);
    assert!(!Shell::parse("git status && cd x").unwrap().commands[0].cwd_changed);
}

#[test]
fn git_with_output_file_or_other_directory_is_not_plain() {
    for text in [
        "git diff --output=x",
        "git log --output x",
        "git log --outpu=x",
        "git log --outp x",
        "git diff --o=x",
        "git show --out x",
        "git archive -o x HEAD",
        "git archive -ox HEAD",
        "git format-patch -o x HEAD",
        "git config --file x user.name y",
        "git config -f x user.name y",
        "git config -fx user.name y",
        "git config --fil=x user.name y",
        "git archive -vox HEAD",
        "git format-patch -qox HEAD",
        "git format-patch -qo x HEAD",
        "git apply --build-fake-ancestor=x p",
        "git apply --build-f x p",
    ] {
        let shell = Shell::parse(text).unwrap();
        assert_eq!((shell.writes, shell.plain), (vec!["x".to_owned()], false), "{text}");
    }
    for text in [
        "git -C /evil status",
        "git --git-dir=/evil/.git status",
        "git --git-dir /evil/.git status",
        "git --work-tree=/etc diff",
        "cd x",
        "git diff --no-index /etc/shadow /dev/null",
        "git diff /etc/shadow /dev/null",
        "git diff a ../../etc/shadow",
    ] {
        assert!(!Shell::parse(text).unwrap().plain, "{text}");
    }
    for text in ["git log --oneline", "git diff main..work", "git log -p -- src", "git diff HEAD~1 -- a/b"] {
        assert!(Shell::parse(text).unwrap().plain, "{text}");
    }
}

#[test]
fn git_subcommands_that_write_their_operands_are_not_plain() {
    for (text, writes) in [
        ("git merge-file .git/config base.txt evil.txt", &[".git/config", "base.txt", "evil.txt"][..]),
        ("git merge-file -L -p .git/config b e", &[".git/config", "b", "e"]),
        ("git mailinfo .git/hooks/pre-commit patch", &[".git/hooks/pre-commit", "patch"]),
        ("git interpret-trailers --in-place .git/hooks/pre-commit", &[".git/hooks/pre-commit"]),
        ("git interpret-trailers --in-pl --trailer 'x: y' h", &["x: y", "h"]),
        ("git mv -f evil.cfg .git/config", &[".git/config"]),
        ("git mv pre-commit .GIT/hooks/pre-commit", &[".GIT/hooks/pre-commit"]),
    ] {
        let shell = Shell::parse(text).unwrap();
        assert_eq!(
            (shell.writes.as_slice(), shell.plain),
            (&writes.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..], false),
            "{text}"
        );
    }
    for text in ["git interpret-trailers --parse m", "git mv a.rs src/b.rs", "git init", "git init sub"] {
        assert!(Shell::parse(text).unwrap().plain, "{text}");
    }
}

#[test]
fn package_managers_that_run_programs_or_work_elsewhere_are_not_plain() {
    for text in [
        "npm explore p -- ../../evil",
        "npm expl p",
        "npm --editor=./evil edit p",
        "npm edit p",
        "npm --loglevel silent explore p",
        "npm --viewer ./evil help x",
        "npm run x --script-shell=./evil",
        "npm --script-sh ./evil test",
        "npm i --userconfig x",
        "npm config set script-shell ./evil",
        "npm c set script-shell ./evil",
        "npm set script-shell ./evil",
        "npm config edit",
        "npm init evil",
        "npm create evil",
        "npm -script-shell=./evil test",
    ] {
        assert!(Shell::parse(text).unwrap().doubt.is_some(), "{text}");
    }
    for text in [
        "npm -C /etc i",
        "npm -C/etc i",
        "npm --prefix /etc i",
        "npm -prefix /etc i",
        "npm --local-prefix /etc i",
        "npm i --prefix=/etc",
        "npm --pref /etc i",
        "pnpm -C /etc i",
        "pnpm --dir /etc i",
        "yarn --cwd /etc",
    ] {
        let shell = Shell::parse(text).unwrap();
        assert_eq!((shell.commands[0].cwd_changed, shell.plain), (true, false), "{text}");
    }
    for text in [
        "npm test",
        "npm run edit",
        "npm init -y",
        "npm run build -- --prefix y",
        "npm ci --prefer-offline",
        "npm config get prefix",
        "npm config list",
        "npm install --save-dev explore",
        "yarn build",
        "pnpm -r test",
    ] {
        assert!(Shell::parse(text).unwrap().plain, "{text}");
    }
}

#[test]
fn program_outside_the_system_directories_keeps_its_path() {
    for (text, program, name, path) in [
        ("git x", "git", "git", ""),
        ("/usr/bin/git x", "git", "git", "/usr/bin/git"),
        ("/bin/ls", "ls", "ls", "/bin/ls"),
        ("/tmp/git x", "/tmp/git", "git", "/tmp/git"),
        ("./git x", "./git", "git", "./git"),
        ("/usr/bin/../../tmp/git x", "/usr/bin/../../tmp/git", "git", "/usr/bin/../../tmp/git"),
        ("GIT x", "GIT", "git", ""),
        ("git.exe x", "git.exe", "git", ""),
    ] {
        let simple = &Shell::parse(text).unwrap().commands[0];
        assert_eq!(
            (simple.program.as_str(), simple.name.as_str(), simple.path.as_str()),
            (program, name, path),
            "{text}"
        );
    }
    assert!(Shell::parse("./x").unwrap().opaque);
    assert!(Shell::parse("/tmp/git status").unwrap().opaque);
}

#[test]
fn code_that_is_not_shell_is_opaque() {
    for text in [
        "python -c 'import os'",
        "python3 x.py",
        "python3.12 x.py",
        "perl -e x",
        "node -e x",
        "awk 'BEGIN{system(\"x\")}'",
        "make",
        "npm test",
        "bash x.sh",
        "source x",
        ". x",
        "vim -c ':!x'",
        "sed -i s/a/b/ x",
        "sed '1e git push' x",
        "sed 's/a/b/e' x",
        "sed 's/a/b/w x' y",
        "sed -n '1p;e git push' y",
        "ruby x",
        "psql -c x",
    ] {
        assert!(Shell::parse(text).unwrap().opaque, "{text}");
    }
    for text in ["sed -n 1,5p x", "sed s/a/b/g x", "sed -n '$p' x", "ls", "git status", "grep x y"] {
        assert!(!Shell::parse(text).unwrap().opaque, "{text}");
    }
    for text in [
        "tar -cf x --checkpoint=1 --checkpoint-action=exec=x y",
        "tar --checkpoint-act=exec=x y",
        "tar xf y --to-command=x",
        "tar -I x -xf y",
        "tar xIf x y",
        "rsync -e x a b",
        "rsync -ave x a b",
        "sort --compress-program=x y",
        "zip x y -T -TT z",
        "scp -oProxyCommand=x a b",
        "rg --pre x y",
        "fd -x git push",
        "split --filter=x y",
    ] {
        assert!(Shell::parse(text).unwrap().doubt.is_some(), "{text}");
    }
}
