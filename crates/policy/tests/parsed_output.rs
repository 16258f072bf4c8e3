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
        ("ls", ""),
        ("cat a b", ""),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
}
