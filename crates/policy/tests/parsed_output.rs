//! Files that programs write because their words say so.
#![expect(clippy::panic, reason = "a helper that fails is a test that fails")]

use holdpoint_policy::Shell;

fn written(text: &str) -> String {
    let shell = Shell::parse(text).unwrap_or_else(|unparsed| panic!("{text:?}: {unparsed:?}"));
    assert!(!shell.plain || shell.writes.is_empty(), "{text}");
    shell.writes.join(" ")
}

#[test]
fn what_is_written_without_a_redirection_is_seen() {
    for (text, expected) in [
        ("find . -delete", "."),
        ("find -delete", "."),
        ("find a b -name x -delete", "a b"),
        ("find -L a -delete", "a"),
        ("find a -fprintf x y", "x"),
        ("sort -o x y", "x"),
        ("sort -ox y", "x"),
        ("sort -uo x y", "x"),
        ("sort y -o x", "x"),
        ("sort --output=x y", "x"),
        ("sort --outp x y", "x"),
        ("sort -k 2 y", ""),
        ("tee x", "x"),
        ("tee -a x y", "x y"),
        ("tee -- -x", "-x"),
        ("dd if=a of=x", "x"),
        ("cp a x", "x"),
        ("cp -r a b x", "x"),
        ("cp -t x a b", "x"),
        ("cp --target-directory=x a", "x"),
        ("mv a x", "a x"),
        ("install -m 755 a x", "x"),
        ("ln -s a x", "x"),
        ("ln -s a", "."),
        ("truncate -s 0 x", "x"),
        ("sed -i s/a/b/ x y", "x y"),
        ("sed -i.bak -e s/a/b/ x", "x"),
        ("sed -ni s/a/b/p x", "x"),
        ("sed --in-place s/a/b/ x", "x"),
        ("sed s/a/i/ x", ""),
        ("curl -o x https://a.b", "x"),
        ("curl -sSLo x https://a.b", "x"),
        ("curl --output x https://a.b", "x"),
        ("curl -O https://a.b/c", "."),
        ("curl -H 'a: o' https://a.b", ""),
        ("curl -o - https://a.b", ""),
        ("curl -c x https://a.b", "x"),
        ("wget -O x https://a.b", "x"),
        ("wget https://a.b", "."),
        ("wget -P x https://a.b", "x"),
        ("tar -xf a", "."),
        ("tar xf a", "."),
        ("tar -xf a -C x", "x"),
        ("tar --extract --file=a --directory=x", "x"),
        ("tar -cf x a", "x"),
        ("tar czf x a", "x"),
        ("tar --create --file=x a", "x"),
        ("tar -tf a", ""),
        ("rsync -a a x", "x"),
        ("rsync --delete a h:x", "h:x"),
        ("uniq a x", "x"),
        ("uniq a", ""),
        ("xargs -0 cp a x", "x"),
        ("sudo tee x", "x"),
        ("find . -exec cp a x \\;", "x"),
        ("install -d x y", "x y"),
        ("install -m 700 -d x y", "x y"),
        ("touch x y", "x y"),
        ("touch -r a x", "x"),
        ("mkdir -p x", "x"),
        ("rm -rf x y", "x y"),
        ("chmod -R 700 x y", "x y"),
        ("chmod +x y", "y"),
        ("chmod -x y", "y"),
        ("gzip x", "x"),
        ("split a", "."),
        ("patch -o x a", "x"),
        ("tcpdump -w x", "x"),
        ("tcpdump -nw x", "x"),
        ("tar --index-file=x -tf a", "x ."),
        ("curl -w '%output{x}a' https://a.b", "."),
        ("ls", ""),
        ("cat a b", ""),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
}

#[test]
fn what_is_written_is_known_only_of_programs_that_are() {
    for text in [
        "ls -la",
        "cat a | grep b > x",
        "cp -r a x",
        "cp -t x a",
        "mv a x && touch y",
        "sort -nuo x y",
        "tee -a x",
        "install -d x",
        "mkdir -m 700 x",
        "find . -name x -delete",
        "dd if=a of=x",
        "git status",
        "git log --output=x",
        "sh -c 'cat a > x'",
        "sudo tee x",
        "cd a; echo b > c",
        "printf '%s' a",
    ] {
        assert!(Shell::parse(text).unwrap_or_default().writes_known, "{text}");
    }
    for text in [
        "make",
        "tool x",
        "python3 x.py",
        "cat a | tool",
        "sh x.sh",
        "git bundle create x HEAD",
        "git worktree add x",
        "git commit -m x",
        "tar -xf x",
        "curl https://a.b",
        "gzip x",
        "cp --backup a x",
        "cp -b a x",
        "rm *.o",
        "sort -T x y",
        "/tmp/ls",
        "xargs rm",
        "docker ps",
        "ssh host ls",
        "echo $X",
    ] {
        assert!(!Shell::parse(text).unwrap_or_default().writes_known, "{text}");
    }
}
