//! The errors, word for word.

use super::{super::*, read, rules, source};

fn messages(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

static CASES: &[(&str, &str)] = &[
    ("[gaurd]", "andon.toml:1:2: unknown section `gaurd`\n  help: did you mean `guard`?"),
    (
        "\n[zzz]",
        "andon.toml:2:2: unknown section `zzz`\n  help: known here: guard, test, paths, rules, usage, agents, normalize, workflow, on_stall, advisor, fallback, notify, identity",
    ),
    ("command = \"x\"", "andon.toml:1:1: unknown section `command`\n  help: `command` belongs in [test]"),
    (
        "[usage]\ncached = \"maybe\"",
        "andon.toml:2:10: `usage.cached` must be \"separate\" or \"included\", not \"maybe\"\n  help: write cached = \"separate\"",
    ),
    (
        "[identity]\nchecksum = \"sha256:x\"",
        "andon.toml:2:12: `identity.checksum` must be \"sha256:\" and 64 hexadecimal digits, not \"sha256:x\"\n  help: write checksum = \"sha256:0000000000000000000000000000000000000000000000000000000000000000\"",
    ),
    (
        "[identity.pinned]\n\"A.md\" = \"644\"",
        "andon.toml:2:10: `A.md` must be a mode and an id, as \"100644 <id>\"\n  help: andon pin",
    ),
    (
        "[identity]\nauthorized_roles = [\"\"]",
        "andon.toml:2:21: `identity.authorized_roles` must be a list of texts, not an empty text in the list\n  help: write authorized_roles = [\"coder\", \"tester\"]",
    ),
    (
        "[rules]\niteration-cap = { max = \"none\" }",
        "andon.toml:2:25: `rules.iteration-cap.max` must be a whole number from 1 to 1000000000, not \"none\"\n  help: the rule is this limit; to have none, switch it off: iteration-cap = \"off\"",
    ),
    (
        "guard = 1",
        "andon.toml:1:9: `guard` is a section, not a value\n  help: write [guard] on a line of its own",
    ),
    (
        "[[guard]]",
        "andon.toml:1:1: `guard` is a section, not a value\n  help: write [guard] on a line of its own",
    ),
    (
        "[guard]\nsession-gap = \"6h\"",
        "andon.toml:2:1: unknown key `session-gap` in [guard]\n  help: did you mean `session_gap`?",
    ),
    (
        "[guard]\nuntested-edit = \"off\"",
        "andon.toml:2:1: unknown key `untested-edit` in [guard]\n  help: `untested-edit` belongs in [rules]",
    ),
    (
        "[notify]\ncommand = [\"bell\"]",
        "andon.toml:2:1: `notify.command` is read from your own configuration only: it runs a program\n  help: move it to $XDG_CONFIG_HOME/andon/config.toml (~/.config/andon/config.toml)",
    ),
    (
        "[fallback]\nproviders = [\"a on nothing\"]",
        "andon.toml:2:14: `fallback.providers` must be a list of providers, not `a on nothing`\n  help: write providers = [\"first\", \"second on failed_gate, stop_event\"]",
    ),
    (
        "[guard]\nledger = \"12\"",
        "andon.toml:2:10: `guard.ledger` must be the 64 hexadecimal digits of a ledger entry, not \"12\"\n  help: write ledger = \"0000000000000000000000000000000000000000000000000000000000000000\"",
    ),
    (
        "[guard]\nack = true",
        "andon.toml:2:7: `guard.ack` must be \"delete\" or \"resume\" or \"signed\", not true\n  help: write ack = \"delete\"",
    ),
    (
        "[guard]\nsession_gap = \"soon\"",
        "andon.toml:2:15: `guard.session_gap` must be a duration such as \"6h\", not \"soon\"\n  help: write session_gap = \"6h\"",
    ),
    (
        "[guard]\nsession_gap = \"0s\"",
        "andon.toml:2:15: `guard.session_gap` must be between 1m and 8760h, not 0s\n  help: write session_gap = \"6h\"",
    ),
    ("[test]\nformat = \"junti\"", "andon.toml:2:10: no such format: `junti`\n  help: did you mean `junit`?"),
    (
        "[test]\nformat = 7",
        "andon.toml:2:10: `test.format` must be \"auto\" or the name of a format, not 7\n  help: write format = \"junit\"",
    ),
    (
        "[test]\ntimeout = 30",
        "andon.toml:2:11: `test.timeout` must be a duration such as \"30m\", or \"none\", not 30\n  help: write timeout = \"30m\"",
    ),
    (
        "[test]\ncommand = \" \"",
        "andon.toml:2:11: `test.command` must be a text or a list of texts, not an empty one\n  help: write command = \"cargo test\"",
    ),
    (
        "[test]\ncommand = [\"a\", 1]",
        "andon.toml:2:17: `test.command` must be a text or a list of texts, not 1 in the list\n  help: write command = \"cargo test\"",
    ),
    (
        "[test]\ncommand = \"a\\u0000\"",
        "andon.toml:2:11: `test.command` holds a NUL character\n  help: remove it",
    ),
    (
        "[paths]\ndocs = \"docs/**\"",
        "andon.toml:2:8: `paths.docs` must be a list of globs, not \"docs/**\"\n  help: write docs = [\"**/*.md\", \"**/*.rst\"]",
    ),
    (
        "[paths]\ndocs = [\"{a\"]",
        "andon.toml:2:9: `{a` in `paths.docs` is no glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)\n  help: fix or remove it",
    ),
    (
        "[paths]\napi = [\"../x\"]",
        "andon.toml:2:8: `../x` in `paths.api` can match nothing\n  help: write it from the repository root, without a leading `/`, `.` or `..`",
    ),
    (
        "[rules]\nuntested_edit = \"off\"",
        "andon.toml:2:1: unknown rule `untested_edit`\n  help: did you mean `untested-edit`?",
    ),
    (
        "[rules]\nuntested-edit = \"bock\"",
        "andon.toml:2:17: no such level: `bock`\n  help: did you mean `block`?",
    ),
    (
        "[rules]\niteration-cap = 5",
        "andon.toml:2:17: rule `iteration-cap` takes a level or a table, not 5\n  help: write iteration-cap = \"halt\" or iteration-cap = { max = 100 }",
    ),
    (
        "[rules]\niteration-cap = { maximum = 5 }",
        "andon.toml:2:19: rule `iteration-cap` has no parameter `maximum`\n  help: did you mean `max`?",
    ),
    (
        "[rules.iteration-cap]\nlevel = 3",
        "andon.toml:2:9: the level of `iteration-cap` must be a text, not 3\n  help: one of off, note, warn, block, halt",
    ),
    (
        "[rules]\niteration-cap = { max = 0 }",
        "andon.toml:2:25: `rules.iteration-cap.max` must be a whole number from 1 to 1000000000, not 0\n  help: write max = 100",
    ),
    (
        "[rules]\nmixed.share = 1.5",
        "andon.toml:2:15: `rules.mixed.share` must be a share between 0.0 and 1.0, not 1.5\n  help: write share = 0.5",
    ),
    (
        "[rules]\nmixed.strict = \"yes\"",
        "andon.toml:2:16: `rules.mixed.strict` must be true or false, not \"yes\"\n  help: write strict = false",
    ),
    (
        "[rules]\nmixed.exempt = [\"\"]",
        "andon.toml:2:17: `rules.mixed.exempt` must be a list of texts, not an empty text in the list\n  help: write exempt = [\"Revert\"]",
    ),
    (
        "[normalize]\n\"a b\" = 'x'",
        "andon.toml:2:1: `a b` is no name for a pattern\n  help: use letters, digits, `-` and `_`, at most 64",
    ),
    (
        "[normalize]\na = 1",
        "andon.toml:2:5: `normalize.a` must be a regular expression, not 1\n  help: write a = 'build [0-9]+'",
    ),
    (
        "[normalize]\na = '('",
        "andon.toml:2:5: the pattern of `normalize.a` is no regular expression: unclosed group\n  help: fix or remove it; https://docs.rs/regex shows the syntax",
    ),
    (
        "[normalize]\na = '((a{99}){99}){99}'",
        "andon.toml:2:5: the pattern of `normalize.a` is no regular expression: it is too large when compiled\n  help: fix or remove it; https://docs.rs/regex shows the syntax",
    ),
    (
        "[normalize]\na = '.*'",
        "andon.toml:2:5: the pattern of `normalize.a` matches the empty text\n  help: use `+` for `*`, or name what must be there",
    ),
    (
        "[guard]\nack = \"delete\"\nack = \"resume\"",
        "andon.toml:3:1: `ack` is set twice\n  help: keep one of the two",
    ),
    (
        "[test]\n[test]\ncommand = \"x\"",
        "andon.toml:2:2: `test` is set twice\n  help: keep one of the two, with the keys of both",
    ),
    (
        "[rules.untested-edit]\n[rules.untested-edit]\n",
        "andon.toml:2:8: `untested-edit` is set twice\n  help: keep one of the two, with the keys of both",
    ),
    (
        "# \u{e9}\u{e9}\n'\u{e9}\u{1b}' = 1",
        "andon.toml:2:3: not valid TOML: invalid literal string, expected non-single-quote visible characters\n  help: fix the syntax; https://toml.io shows it",
    ),
    (
        "\"\\u001b[2J\" = 1",
        "andon.toml:1:1: unknown section `\\u{1b}[2J`\n  help: known here: guard, test, paths, rules, usage, agents, normalize, workflow, on_stall, advisor, fallback, notify, identity",
    ),
];

#[test]
fn each_doubt_is_an_error_with_place_and_hint() {
    let wrong: Vec<String> = CASES
        .iter()
        .map(|(text, expected)| (messages(text), expected))
        .filter(|(message, expected)| message != *expected)
        .map(|(message, expected)| format!("--- expected\n{expected}\n--- got\n{message}\n"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_errors_are_listed_by_source_and_place() {
    let user = source(Layer::User, "[guard]\nack = 1\n");
    let repository = source(
        Layer::Repository,
        "[rules]\nuntested-edit = \"of\"\n[guard]\nack = \"resume\"\nack = \"delete\"\nsession_gap = 1\n[paths]\ndocs = [\"{\", 1]\nignore = [\"[\", \"{\"]\n",
    );
    let broken = source(Layer::CommandLine, "guard.ack = \n");
    let errors = load_with(&[broken, repository, user], &rules()).unwrap_err();
    let places: Vec<String> =
        errors.errors.iter().map(|error| error.location.as_ref().unwrap().to_string()).collect();
    assert_eq!(
        places,
        [
            "/home/u/.config/andon/config.toml:2:7",
            "andon.toml:2:17",
            "andon.toml:5:1",
            "andon.toml:6:15",
            "andon.toml:8:14",
            "andon.toml:9:11",
            "andon.toml:9:16",
            "command line:1:13",
        ]
    );
}

#[test]
fn a_flood_of_errors_is_counted_not_listed() {
    let text: String = (0..20_000).map(|n| format!("unknown{n} = 1")).collect::<Vec<_>>().join("\n");
    let errors = read(&text).unwrap_err();
    assert_eq!((errors.errors.len(), errors.more), (50, 19_950));
    assert!(errors.to_string().ends_with("\nand 19950 more"));
    assert!(read(&"=\n".repeat(1000)).unwrap_err().more > 900);
}

#[test]
fn what_is_no_text_or_no_toml_is_named() {
    let bytes = |text: &[u8]| {
        let source = ConfigSource {
            layer: Layer::Repository,
            name: "HEAD:andon.toml".to_owned(),
            text: text.to_vec(),
        };
        load_with(&[source], &rules()).unwrap_err().to_string()
    };
    assert_eq!(
        bytes(b"[guard]\nack = \"\xff\""),
        "HEAD:andon.toml:2:8: not UTF-8 text\n  help: save the file as UTF-8"
    );
    assert_eq!(bytes(b"\xff\xfe["), "HEAD:andon.toml:1:1: not UTF-8 text\n  help: save the file as UTF-8");
    assert_eq!(
        bytes(&vec![b'#'; MAX_BYTES + 1]),
        "HEAD:andon.toml: is larger than 1 MiB: 1048577 bytes\n  help: shorten it: a configuration is a few dozen lines"
    );
    assert!(read("\u{feff}[guard]\nack = \"resume\"").is_ok());
    assert_eq!(messages("\u{feff}[x]").lines().next().unwrap(), "andon.toml:1:2: unknown section `x`");
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let dotted = vec!["a"; 79].join(".");
    let hostile = [
        format!("a = {}", "[".repeat(400_000)),
        format!("a = {}", "{a=".repeat(200_000)),
        format!("[{}]", vec!["a"; 400_000].join(".")),
        format!("{} = 1", vec!["a"; 400_000].join(".")),
        format!("[{dotted}]\n{dotted} = {}1{}", format!("{{ {dotted} = ").repeat(78), "}".repeat(78)),
        "[[a]]\n".repeat(100_000),
        format!("[{dotted}]\n").repeat(5_000),
    ];
    for text in hostile {
        assert!(text.len() <= MAX_BYTES);
        assert!(read(&text).is_err(), "{}", &text[..40]);
    }
}

#[test]
fn patterns_are_bounded_over_all_layers() {
    let patterns = |prefix: &str, count: usize| {
        let lines: Vec<String> = (0..count).map(|n| format!("{prefix}{n} = 'x'")).collect();
        format!("[normalize]\n{}\n", lines.join("\n"))
    };
    let load_both = |user: &str, repository: &str| {
        load_with(&[source(Layer::User, user), source(Layer::Repository, repository)], &rules())
    };
    assert_eq!(load_both(&patterns("a", 64), &patterns("a", 64)).unwrap().normalize.len(), 64);
    let errors = load_both(&patterns("a", 40), &patterns("b", 25)).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "andon.toml:26:1: more than 64 patterns in [normalize], all layers together\n  help: join some with `|`"
    );
    let long = format!("[normalize]\na = '{}'", "x".repeat(1025));
    assert!(
        messages(&long).starts_with("andon.toml:2:5: the pattern of `normalize.a` is longer than 1024 bytes")
    );
    let deep = format!("[normalize]\na = '{}x{}'", "(".repeat(60), ")".repeat(60));
    assert!(messages(&deep).contains("is no regular expression"));
    let bomb: Vec<String> = (0..20_000).map(|n| format!("a{n} = '((a{{99}}){{99}}){{99}}'")).collect();
    assert_eq!(read(&format!("[normalize]\n{}", bomb.join("\n"))).unwrap_err().more, 15);
}

#[test]
fn the_context_window_has_a_size_and_thresholds_in_order() {
    for (text, expected) in [
        (
            "[rules]\ncontext-window = { window = 0 }",
            "andon.toml:2:29: `rules.context-window.window` must be a whole number from 1 to 1000000000, not 0\n  help: write window = 200000",
        ),
        (
            "[rules]\ncontext-window = { warn = -1 }",
            "andon.toml:2:27: `rules.context-window.warn` must be a whole number from 1 to 1000000000, not -1\n  help: write warn = 75",
        ),
        (
            "[rules]\n\ncontext-window = { warn = 82 }",
            "andon.toml:3: `rules.context-window`: warn = 82, compact = 80, block = 85 must be percentages in rising order, at most 100\n  help: write context-window = { warn = 75, compact = 80, block = 85 }",
        ),
        (
            "[rules]\ncontext-window = { block = 101 }",
            "andon.toml:2: `rules.context-window`: warn = 75, compact = 80, block = 101 must be percentages in rising order, at most 100\n  help: write context-window = { warn = 75, compact = 80, block = 85 }",
        ),
    ] {
        assert_eq!(load(&[source(Layer::Repository, text)]).unwrap_err().to_string(), expected);
    }
    let user = source(Layer::User, "[rules]\ncontext-window = { warn = 60, compact = 70 }");
    let own = source(Layer::Repository, "[rules]\ncontext-window = { block = 65 }");
    assert!(load(std::slice::from_ref(&user)).is_ok());
    let error = load(&[user, own]).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"
    andon.toml:2: `rules.context-window`: warn = 60, compact = 70, block = 65 must be percentages in rising order, at most 100
      help: write context-window = { warn = 75, compact = 80, block = 85 }
    ");
}
