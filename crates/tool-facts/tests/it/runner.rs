//! Tests all known ways in which programs run other programs: the inner command is listed, and in doubt where another could run.

use holdpoint_tool_facts::Shell;

fn read(text: &str) -> Shell {
    Shell::parse(text).unwrap_or_else(|unparsed| panic!("{text:?}: {unparsed:?}"))
}

/// Asserts that the inner command is listed, so that forbidding rules see it, and that the text is not plain.
fn lists(text: &str) -> Shell {
    let shell = read(text);
    let pushes = |words: &[String]| words.starts_with(&["git".into(), "push".into()]);
    assert!(shell.commands.iter().any(|one| pushes(&one.words)), "{text}: {:#?}", shell.commands);
    assert!(!shell.plain, "{text}");
    shell
}

#[test]
fn inner_command_of_an_environment_runner_is_listed() {
    for text in [
        "pipenv run git push",
        "poetry run git push",
        "uv run git push",
        "uv run --with x git push",
        "uv run -- git push",
        "conda run git push",
        "conda run -n x git push",
        "mise exec -- git push",
        "mise exec node@20 -- git push",
        "mise x -- git push",
        "asdf exec git push",
        "bundle exec git push",
        "npx git push",
        "npx -y git push",
        "npm exec -- git push",
        "heroku run git push",
        "heroku run -a x git push",
        "docker run x git push",
        "docker run --rm -it -v a:b --env=A=1 x git push",
        "docker exec -it x git push",
        "docker run x sh -c 'git push'",
        "kubectl exec x -- git push",
        "kubectl exec -n a -it x -- git push",
        "docker run x git push -- y",
        "uv run git push -- y",
        "mise exec -- git push -- y",
    ] {
        assert_eq!(lists(text).doubt, None, "{text}");
    }
    for text in [
        "docker --context a run x git push",
        "docker run --new-option x git push",
        "docker compose exec x git push",
        "conda run --new-option git push",
        "osh -c 'git push'",
        "fly ssh console -C 'git push'",
        "flyctl ssh console --command='git push'",
        "gcloud compute ssh x --command='git push'",
        "gcloud compute ssh x --command 'git push'",
        "npx -c 'git push'",
        "nix-shell -p x --run 'git push'",
        "vagrant ssh -c 'git push'",
    ] {
        assert!(lists(text).doubt.is_some(), "{text}");
    }
    for text in ["docker ps", "kubectl get pods", "npm test", "uv sync", "gcloud config list", "heroku apps"] {
        let shell = read(text);
        assert_eq!((shell.doubt, shell.plain), (None, true), "{text}");
    }
    assert!(read("kubectl exec x -- ls").remote);
    assert!(read("heroku run ls").remote);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn inner_command_of_other_runners_is_listed_with_doubt() {
    for text in [
        "xterm -e git push",
        "xterm -e 'git push'",
        "xterm -T x -e git push",
        "parallel git push",
        "parallel -j 4 git push ::: a b",
        "script -c 'git push'",
        "script -c 'git push' x",
        "flock x git push",
        "flock -w 5 x git push",
        "flock x -c 'git push'",
        "chroot d git push",
        "unshare -r git push",
        "nsenter -t 1 -m git push",
        "taskset -c 0 git push",
        "strace git push",
        "strace -f -o x git push",
        "ltrace git push",
        "gdb -ex 'shell git push'",
        "gdb -batch -ex '!git push'",
        "ls | entr git push",
        "ls | entr -r git push",
        "tmux new git push",
        "tmux new-session -d 'git push'",
        "tmux new -s x -d git push",
        "screen -dm git push",
        "screen -S x -dm git push",
        "runuser -u x -- git push",
        "runuser x -c 'git push'",
        "gosu x git push",
        "systemd-run git push",
        "sg x -c 'git push'",
        "strace git push -- y",
        "strace -- git push",
        "op run -- git push",
        "aws-vault exec x -- git push",
        "x86_64 git push",
        "linux32 git push",
        "i386 git push",
        "uname26 git push",
        "sem git push",
        "sem -j 4 git push",
        "pee cat 'git push'",
        "ssh-agent git push",
        "dbus-launch git push",
        "ccache git push",
        "hyperfine 'git push'",
        "hyperfine -w 3 ls 'git push'",
        "watchexec git push",
        "watchexec -e rs git push",
        "doppler run -- git push",
        "dtach -n x git push",
    ] {
        let shell = lists(text);
        assert!(shell.doubt.is_some() && shell.opaque, "{text}");
    }
    for text in ["run-parts x", "crontab x", "crontab -", "at now", "tmux", "screen", "xterm", "gdb x", "parallel"] {
        let shell = read(text);
        assert!(shell.doubt.is_some() && shell.opaque, "{text}");
    }
    assert_eq!(lists("su x -c 'git push'").doubt, None);
    assert_eq!(lists("su x --command='git push'").doubt, None);
    assert_eq!(lists("ionice -c 3 git push").doubt, None);
    assert_eq!(lists("watch -n 1 git push").doubt, None);
}
