//! Programs, and which of their words name what they write.

/// Which words of a program name what it writes.
pub(super) struct Writer {
    pub(super) names: &'static [&'static str],
    pub(super) operands: Operands,
    /// Letters and long options (which may be cut short) whose value is written.
    pub(super) letters: &'static str,
    pub(super) longs: &'static [&'static str],
    /// Letters that take a value which is not.
    pub(super) values: &'static str,
    /// Letters that change nothing about what is written. `None` where that is never known for certain.
    pub(super) flags: Option<&'static str>,
    /// Letters and long options that may be read past, where what is written is not known for certain: with these alone, what is told by the
    /// words is all that one asks for. Long options are passed over for the others too.
    pub(super) seen: &'static str,
    pub(super) quiet: &'static [&'static str],
    /// Options, and an empty name for operands, by which `-` is the standard output. Everywhere else it is a file of that name.
    pub(super) output: &'static [&'static str],
}

/// Which of a program's operands are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    Untouched,
    All,
    Last,
    /// The second of two.
    Second,
    AllButFirst,
    /// Whatever it is given, something appears where it runs.
    Here,
}

pub(super) const NOTHING: Writer = Writer {
    names: &[],
    operands: Operands::Untouched,
    letters: "",
    longs: &[],
    values: "",
    flags: None,
    seen: "",
    quiet: &[],
    output: &[],
};

/// Programs that write no file, whatever their words are.
pub(super) const READERS: &str = " : b2sum basename cat cd cksum cmp col colrm column comm cut date df diff diff3 dirname du echo \
    egrep exit expand expr export false fgrep fmt fold free getconf grep groups head hexdump id join jq logname ls lsblk lscpu md5sum nl \
    nproc numfmt od paste pathchk pgrep popd pr printenv printf ps pushd pwd readlink readonly realpath rev rg seq set sha1sum \
    sha224sum sha256sum sha384sum sha512sum sleep stat strings sum tac tail test tr true tsort tty type ulimit umask uname \
    unexpand unset uptime w wait wc whereis which who whoami ";

pub(super) const WRITERS: &[Writer] = &[
    Writer { names: &["tee", "gtee", "sponge"], operands: Operands::All, flags: Some("aip"), ..NOTHING },
    Writer { names: &["truncate", "gtruncate"], operands: Operands::All, values: "sr", flags: Some("co"), ..NOTHING },
    Writer { names: &["touch", "gtouch"], operands: Operands::All, values: "drt", flags: Some("achm"), ..NOTHING },
    Writer {
        names: &["mkdir", "gmkdir", "mkfifo"],
        operands: Operands::All,
        values: "m",
        flags: Some("pv"),
        ..NOTHING
    },
    Writer { names: &["rm", "grm", "rmdir", "unlink"], operands: Operands::All, flags: Some("dfiIpRrv"), ..NOTHING },
    Writer { names: &["chmod", "chown", "chgrp"], operands: Operands::AllButFirst, flags: Some("cfRv"), ..NOTHING },
    Writer {
        names: &[
            "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "shred", "zip",
        ],
        operands: Operands::All,
        letters: "o",
        values: "S",
        output: &[""],
        ..NOTHING
    },
    Writer {
        names: &["split", "gsplit", "csplit", "patch", "unzip", "mktemp", "ar", "mknod"],
        operands: Operands::Here,
        letters: "dopr",
        longs: &["output", "reject-file", "directory", "tmpdir"],
        ..NOTHING
    },
    Writer { names: &["tcpdump", "tshark"], letters: "w", values: "cirsFG", output: &["w"], ..NOTHING },
    Writer {
        names: &["mv", "gmv"],
        operands: Operands::All,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
        flags: Some("finuvT"),
        ..NOTHING
    },
    Writer {
        names: &["cp", "gcp"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
        // Those that make links, or keep the ones that they find, have later writes go elsewhere.
        flags: Some("fHiLnpTuvx"),
        ..NOTHING
    },
    Writer {
        names: &["ln", "gln", "link"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
        ..NOTHING
    },
    Writer {
        names: &["install", "ginstall"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "mogS",
        flags: Some("CcDdpsTv"),
        ..NOTHING
    },
    Writer { names: &["rsync"], operands: Operands::Last, longs: &["log-file", "write-batch"], values: "e", ..NOTHING },
    Writer { names: &["scp"], operands: Operands::Last, values: "oFSDciJlPX", ..NOTHING },
    Writer {
        names: &["uniq", "guniq"],
        operands: Operands::Second,
        values: "fsw",
        flags: Some("cDduiz"),
        quiet: &["count", "repeated", "unique", "ignore-case", "zero-terminated"],
        output: &[""],
        ..NOTHING
    },
    Writer {
        names: &["xxd"],
        operands: Operands::Second,
        values: "cglsonR",
        seen: "abCdeEiprtuv",
        output: &[""],
        ..NOTHING
    },
    // Only some systems have it.
    Writer {
        names: &["base64", "base32"],
        letters: "o",
        longs: &["output"],
        values: "wb",
        flags: Some("dD"),
        quiet: &["decode", "wrap", "break", "ignore-garbage"],
        ..NOTHING
    },
    Writer {
        names: &["sort", "gsort"],
        letters: "o",
        longs: &["output"],
        values: "ktS",
        flags: Some("bCcdfghiMmnRrsuVz"),
        quiet: &[
            "reverse",
            "unique",
            "numeric-sort",
            "general-numeric-sort",
            "human-numeric-sort",
            "version-sort",
            "month-sort",
            "ignore-case",
            "ignore-leading-blanks",
            "dictionary-order",
            "random-sort",
            "stable",
            "merge",
            "check",
            "debug",
            "zero-terminated",
            "key",
            "field-separator",
        ],
        ..NOTHING
    },
    Writer { names: &["shuf", "gshuf"], letters: "o", longs: &["output"], values: "in", flags: Some("erz"), ..NOTHING },
    Writer {
        names: &["tree"],
        letters: "o",
        longs: &["output"],
        values: "LPIHT",
        seen: "adfxlpsughDFqNQrtcUvSCnAiXJ",
        quiet: &["dirsfirst", "noreport", "prune", "du", "si", "inodes", "gitignore", "matchdirs", "ignore-case"],
        ..NOTHING
    },
    Writer {
        names: &["iconv"],
        letters: "o",
        longs: &["output"],
        values: "ft",
        seen: "cls",
        quiet: &["from-code", "to-code", "silent", "list"],
        ..NOTHING
    },
    Writer { names: &["xmllint", "pandoc", "cc", "gcc", "clang", "ld"], letters: "o", longs: &["output"], ..NOTHING },
    Writer {
        names: &["curl"],
        letters: "oDc",
        longs: &[
            "output",
            "output-dir",
            "dump-header",
            "cookie-jar",
            "trace",
            "trace-ascii",
            "stderr",
            "etag-save",
            "hsts",
            "alt-svc",
            "libcurl",
        ],
        values: "AbCdeEFHhKmPQrTtuUwxXyYz",
        seen: "0123469aBfgGiIjJkLlMnNOpqRsSvVZ",
        quiet: &[
            "silent",
            "show-error",
            "fail",
            "fail-with-body",
            "location",
            "head",
            "get",
            "include",
            "compressed",
            "verbose",
            "insecure",
            "no-buffer",
            "ipv4",
            "ipv6",
            "http1.1",
            "http2",
            "globoff",
            "max-time",
            "connect-timeout",
            "retry",
            "retry-delay",
            "header",
            "request",
            "data",
            "data-raw",
            "data-binary",
            "data-urlencode",
            "json",
            "form",
            "user",
            "user-agent",
            "referer",
            "cookie",
            "proxy",
            "url",
            "write-out",
        ],
        output: &["o", "D", "c", "output", "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr"],
        ..NOTHING
    },
    Writer {
        names: &["wget", "wget2"],
        operands: Operands::Here,
        letters: "OoaP",
        longs: &["output-document", "output-file", "append-output", "directory-prefix", "save-cookies", "warc-file"],
        values: "tTwQUlARDIXBie",
        output: &["O", "output-document"],
        ..NOTHING
    },
];
