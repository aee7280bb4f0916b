//! Whole files, whole messages.

use proptest::prelude::*;

use super::*;
use crate::domain::findings::Level;
use crate::domain::paths::PathClass;
use crate::domain::settings::{ParamSpec, ParamValue};
use crate::domain::time::Span;

static CAP: [ParamSpec; 1] =
    [ParamSpec { name: "max", default: || ParamValue::Count(100), min: 1, doc: "Iterations." }];
static MIXED: [ParamSpec; 4] = [
    ParamSpec { name: "share", default: || ParamValue::Share(0.5), min: 0, doc: "A share." },
    ParamSpec { name: "pause", default: || ParamValue::Span(Span(600)), min: 0, doc: "A pause." },
    ParamSpec { name: "strict", default: || ParamValue::Switch(false), min: 0, doc: "A switch." },
    ParamSpec {
        name: "exempt",
        default: || ParamValue::List(vec!["Revert".to_owned()]),
        min: 0,
        doc: "A list.",
    },
];

fn rules() -> [RuleSpecView; 3] {
    [
        RuleSpecView { id: "iteration-cap", summary: "Caps.", default_level: Level::Halt, params: &CAP },
        RuleSpecView { id: "mixed", summary: "Mixes.", default_level: Level::Warn, params: &MIXED },
        RuleSpecView { id: "untested-edit", summary: "Tests.", default_level: Level::Block, params: &[] },
    ]
}

fn source(layer: Layer, text: &str) -> Source {
    let name = match layer {
        Layer::Default => "default.toml",
        Layer::User => "/home/u/.config/andon/config.toml",
        Layer::Repository => "andon.toml",
        Layer::CommandLine => "command line",
    };
    Source { layer, name: name.to_owned(), text: text.as_bytes().to_vec() }
}

fn read(text: &str) -> Result<Config, ConfigErrors> {
    load_with(&[source(Layer::Repository, text)], &rules())
}

fn messages(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn without_sources_the_defaults_of_the_design_hold() {
    let config = load_with(&[], &rules()).unwrap();
    assert_eq!(
        config.guard,
        Guard {
            ack: Ack::Delete,
            applies_to: AppliesTo::Everyone,
            on_internal_error: OnInternalError::Warn,
            session_gap: Span(21_600),
        }
    );
    assert_eq!(config.test, TestSettings { command: None, reports: vec![], timeout: Some(Span(1_800)) });
    assert_eq!(config.paths.docs, ["**/*.md", "docs/**"]);
    assert_eq!(config.paths.ignore, ["**/*.log"]);
    assert!(config.paths.api.is_empty() && config.normalize.is_empty());
    assert_eq!(config.paths.rules.class(b"docs/a.txt"), PathClass::Docs);
    assert_eq!(config.rules["iteration-cap"].level, Level::Halt);
    assert_eq!(config.rules["iteration-cap"].count("max"), 100);
}

#[test]
fn everything_that_can_be_said_is_heard() {
    let config = read(
        r#"
        [guard]
        ack = "resume"
        applies_to = "agents"
        on_internal_error = "block"
        session_gap = "1h 30m"
        [test]
        command = ["cargo", "test"]
        reports = ["target/**/junit.xml"]
        timeout = "off"
        [paths]
        docs = []
        ignore = ["*.tmp"]
        api = ["src/lib.rs"]
        [rules]
        untested-edit = "off"
        iteration-cap = { level = "block", max = 0x10 }
        mixed.share = 1
        mixed.pause = "1h"
        mixed.strict = true
        mixed.exempt = ["Release #"]
        [normalize]
        zulu = 'z[0-9]+'
        alpha = 'a+'
        "#,
    )
    .unwrap();
    assert_eq!(config.guard.ack, Ack::Resume);
    assert_eq!(config.guard.applies_to, AppliesTo::Agents);
    assert_eq!(config.guard.on_internal_error, OnInternalError::Block);
    assert_eq!(config.guard.session_gap, Span(5_400));
    assert_eq!(config.test.command.as_ref().map(TestCommand::display).as_deref(), Some("cargo test"));
    assert_eq!((config.test.reports.len(), config.test.timeout), (1, None));
    assert_eq!(config.paths.rules.class(b"README.md"), PathClass::Code);
    assert_eq!(config.paths.api, ["src/lib.rs"]);
    assert_eq!(config.rules["untested-edit"].level, Level::Off);
    assert_eq!(config.rules["iteration-cap"].level, Level::Block);
    assert_eq!(config.rules["iteration-cap"].count("max"), 16);
    let mixed = &config.rules["mixed"];
    assert_eq!(mixed.level, Level::Warn);
    assert_eq!(mixed.params["share"], ParamValue::Share(1.0));
    assert_eq!(mixed.params["pause"], ParamValue::Span(Span(3_600)));
    assert_eq!(mixed.params["strict"], ParamValue::Switch(true));
    assert_eq!(mixed.list("exempt"), ["Release #"]);
    let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
    assert_eq!(config.normalize, [pair("zulu", "z[0-9]+"), pair("alpha", "a+")]);
}

#[test]
fn each_doubt_is_an_error_with_place_and_mend() {
    let cases = [
        ("[gaurd]", "andon.toml:1:2: unknown section `gaurd`\n  help: did you mean `guard`?"),
        (
            "\n[zzz]",
            "andon.toml:2:2: unknown section `zzz`\n  help: known here: guard, test, paths, rules, normalize",
        ),
        ("command = \"x\"", "andon.toml:1:1: unknown section `command`\n  help: `command` belongs in [test]"),
        (
            "[workflow]\nnodes = []",
            "andon.toml:1:2: section `workflow` is not available in this version\n  help: remove it, or use a newer version of andon",
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
            "[guard]\nack = \"signed\"",
            "andon.toml:2:7: `guard.ack` = \"signed\" is not available in this version\n  help: write ack = \"delete\"",
        ),
        (
            "[guard]\nack = true",
            "andon.toml:2:7: `guard.ack` must be \"delete\" or \"resume\", not true\n  help: write ack = \"delete\"",
        ),
        (
            "[guard]\nsession_gap = \"soon\"",
            "andon.toml:2:15: `guard.session_gap` must be a duration such as \"6h\", not \"soon\"\n  help: write session_gap = \"6h\"",
        ),
        (
            "[guard]\nsession_gap = \"0s\"",
            "andon.toml:2:15: `guard.session_gap` must be between 1m and 8760h, not 0s\n  help: write session_gap = \"6h\"",
        ),
        (
            "[test]\ntimeout = 30",
            "andon.toml:2:11: `test.timeout` must be a duration such as \"30m\", or \"off\", not 30\n  help: write timeout = \"30m\"",
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
            "andon.toml:2:8: `paths.docs` must be a list of globs, not \"docs/**\"\n  help: write docs = [\"**/*.md\", \"docs/**\"]",
        ),
        (
            "[paths]\ndocs = [\"{a\"]",
            "andon.toml:2:9: `{a` in `paths.docs` is no glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)\n  help: mend or remove it",
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
            "[rules]\ntool-loop = \"off\"",
            "andon.toml:2:1: rule `tool-loop` is not available in this version\n  help: remove it, or use a newer version of andon",
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
            "andon.toml:2:5: the pattern of `normalize.a` is no regular expression: unclosed group\n  help: mend or remove it; https://docs.rs/regex shows the syntax",
        ),
        (
            "[normalize]\na = '((a{99}){99}){99}'",
            "andon.toml:2:5: the pattern of `normalize.a` is no regular expression: it is too large when compiled\n  help: mend or remove it; https://docs.rs/regex shows the syntax",
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
            "# \u{e9}\u{e9}\n'\u{e9}\u{1b}' = 1",
            "andon.toml:2:3: not valid TOML: invalid literal string, expected non-single-quote visible characters\n  help: mend the syntax; https://toml.io shows it",
        ),
        (
            "\"\\u001b[2J\" = 1",
            "andon.toml:1:1: unknown section `\\u{1b}[2J`\n  help: known here: guard, test, paths, rules, normalize",
        ),
    ];
    let wrong: Vec<String> = cases
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
    let places: Vec<String> = errors
        .errors
        .iter()
        .map(|error| {
            let at = error.at.unwrap();
            format!("{}:{}:{}", error.file, at.line, at.column)
        })
        .collect();
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
    let text: String = (0..20_000).map(|n| format!("unknown{n} = 1\n")).collect();
    let errors = read(&text).unwrap_err();
    assert_eq!((errors.errors.len(), errors.more), (50, 19_950));
    assert!(errors.to_string().ends_with("\nand 19950 more"));
    assert!(read(&"=\n".repeat(1000)).unwrap_err().more > 900);
}

#[test]
fn what_is_no_text_or_no_toml_is_named() {
    let bytes = |text: &[u8]| {
        let source =
            Source { layer: Layer::Repository, name: "HEAD:andon.toml".to_owned(), text: text.to_vec() };
        load_with(&[source], &rules()).unwrap_err().to_string()
    };
    assert_eq!(
        bytes(b"[guard]\nack = \"\xff\""),
        "HEAD:andon.toml:2:8: not UTF-8 text\n  help: save the file as UTF-8"
    );
    assert_eq!(bytes(b"\xff\xfe["), "HEAD:andon.toml:1:1: not UTF-8 text\n  help: save the file as UTF-8");
    assert_eq!(
        bytes(&vec![b'#'; MAX_BYTES + 1]),
        "HEAD:andon.toml: is larger than 1 MiB\n  help: shorten it: a configuration is a few dozen lines"
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
fn the_higher_layer_wins_key_by_key() {
    let sources = [
        source(Layer::CommandLine, "rules.iteration-cap.max = 3"),
        source(
            Layer::User,
            "[guard]\nack = \"resume\"\nsession_gap = \"2h\"\n[normalize]\na = 'user'\nb = 'b'",
        ),
        source(
            Layer::Repository,
            "[guard]\n\nsession_gap = \"3h\"\n[rules.iteration-cap]\nlevel = \"warn\"\nmax = 9\n[normalize]\nc = 'c'\na = 'repository'",
        ),
    ];
    let config = load_with(&sources, &rules()).unwrap();
    let shown: Vec<String> = config.entries().iter().map(Entry::to_string).collect();
    assert_eq!(
        shown,
        [
            "guard.ack = \"resume\"  # user, /home/u/.config/andon/config.toml:2",
            "guard.applies_to = \"everyone\"  # default",
            "guard.on_internal_error = \"warn\"  # default",
            "guard.session_gap = \"3h\"  # repository, andon.toml:3",
            "test.command = (unset)  # default",
            "test.reports = []  # default",
            "test.timeout = \"30m\"  # default",
            "paths.docs = [\"**/*.md\", \"docs/**\"]  # default",
            "paths.ignore = [\"**/*.log\"]  # default",
            "paths.api = []  # default",
            "rules.iteration-cap.level = \"warn\"  # repository, andon.toml:5",
            "rules.iteration-cap.max = 3  # command line, command line:1",
            "rules.mixed.level = \"warn\"  # default",
            "rules.mixed.exempt = [\"Revert\"]  # default",
            "rules.mixed.pause = \"10m\"  # default",
            "rules.mixed.share = 0.5  # default",
            "rules.mixed.strict = false  # default",
            "rules.untested-edit.level = \"block\"  # default",
            "normalize.a = \"repository\"  # repository, andon.toml:9",
            "normalize.b = \"b\"  # user, /home/u/.config/andon/config.toml:6",
            "normalize.c = \"c\"  # repository, andon.toml:8",
        ]
    );
    assert_eq!(config.guard.session_gap, Span(10_800));
    assert_eq!(config.normalize[0], ("a".to_owned(), "repository".to_owned()));
    assert_eq!(config.origin("guard.applies_to"), Origin::Default);
    assert_eq!(
        config.entries()[11].to_json(),
        serde_json::json!({
            "key": "rules.iteration-cap.max", "value": 3, "layer": "command line", "file": "command line", "line": 1,
        })
    );
}

#[test]
fn sources_are_read_with_bounds() {
    let root = tempfile::tempdir().unwrap();
    let user = root.path().join("user.toml");
    assert_eq!(read_sources(root.path(), Some(&user)).unwrap(), []);
    std::fs::write(root.path().join("andon.toml"), "[guard]\n").unwrap();
    std::fs::write(&user, [0xff]).unwrap();
    let sources = read_sources(root.path(), Some(&user)).unwrap();
    assert_eq!(sources.iter().map(|one| one.layer).collect::<Vec<_>>(), [Layer::User, Layer::Repository]);
    assert_eq!(sources[1].name, "andon.toml");
    std::fs::write(&user, vec![b'#'; MAX_BYTES + 1]).unwrap();
    let error = read_sources(root.path(), Some(&user)).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: is larger than 1 MiB", user.display()));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    for target in ["/dev/zero", "/", "nowhere"] {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(target, root.path().join("andon.toml")).unwrap();
        let error = read_sources(root.path(), None).unwrap_err();
        assert!(error.to_string().starts_with("andon.toml: "), "{error}");
    }
}

#[test]
fn the_template_loads_commented_and_uncommented() {
    for command in [None, Some("cargo test"), Some("a 'b' \"c\" \\ \u{1b} \n d")] {
        let text = template(command);
        let config = load(&[source(Layer::Repository, &text)]).unwrap();
        assert_eq!(config.test.command, command.map(|one| TestCommand::Shell(one.to_owned())), "{text}");
        let is_setting = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        let uncommented: Vec<&str> =
            text.lines().map(|line| line.strip_prefix("# ").filter(is_setting).unwrap_or(line)).collect();
        let open = load(&[source(Layer::Repository, &uncommented.join("\n"))]).unwrap();
        assert_eq!(open.guard, config.guard);
        assert_eq!(open.rules, load(&[]).unwrap().rules);
        assert_eq!((open.paths.docs, open.paths.ignore), (config.paths.docs, config.paths.ignore));
        assert!(open.test.command.is_some() && open.test.timeout == config.test.timeout);
    }
}

#[test]
fn the_schema_is_closed_and_described() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let sections = schema["properties"].as_object().unwrap();
    assert_eq!(sections.len(), 5);
    for (name, section) in sections {
        assert!(section["description"].is_string(), "{name}");
        if name != "normalize" {
            assert_eq!(section["additionalProperties"], false, "{name}");
        }
    }
    let ack = &schema["properties"]["guard"]["properties"]["ack"];
    assert_eq!(ack["enum"], serde_json::json!(["delete", "resume"]));
    assert_eq!(ack["default"], "delete");
    let rules = schema["properties"]["rules"]["properties"].as_object().unwrap();
    assert_eq!(rules.len(), crate::detect::REGISTRY.len());
}

#[test]
fn the_registry_and_the_configuration_agree() {
    let config = load(&[]).unwrap();
    assert_eq!(config.rules, crate::detect::defaults());
    for rule in known_rules() {
        assert!(!super::rules::PLANNED.contains(&rule.id), "{} is here and planned", rule.id);
        assert!(rule.params.iter().all(|spec| spec.name != "level"), "{}", rule.id);
    }
}

#[test]
fn every_default_is_a_value_that_may_be_written() {
    for section in &super::keys::SECTIONS {
        let super::keys::Contents::Keys(keys) = &section.contents else { continue };
        for key in *keys {
            let default = (key.default)();
            if default == Value::Unset {
                continue;
            }
            let config = read(&format!("[{}]\n{} = {default}", section.name, key.name)).unwrap();
            let name = format!("{}.{}", section.name, key.name);
            let entry = config.entries().into_iter().find(|entry| entry.key == name).unwrap();
            assert_eq!((entry.value, entry.origin.layer()), (default, Layer::Repository));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_load_or_fail(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = load(&[Source { layer: Layer::Repository, name: "andon.toml".to_owned(), text }]);
    }

    #[test]
    fn any_toml_like_text_loads_or_fails_with_places_inside(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", " ", "\"", "'", "'''", "#", "\\", "\u{e9}", "1",
                "1.5", "true", "\"6h\"", "guard", "ack", "\"delete\"", "rules", "iteration-cap", "max", "level",
                "\"off\"", "paths", "docs", "[\"**\"]", "normalize", "'a+'", "test", "command", "\r\n", "\u{feff}",
            ]),
            0..40,
        )
    ) {
        let text = parts.concat();
        if let Err(errors) = read(&text) {
            prop_assert!(!errors.errors.is_empty());
            for error in errors.errors {
                let line = error.at.map_or(1, |at| at.line);
                prop_assert!(line >= 1 && line <= text.split('\n').count());
            }
        }
    }
}

#[test]
fn zz_timing() {
    let text = template(Some("cargo test")) + "\n";
    let user = "[guard]\nack = \"resume\"\n";
    let sources = [source(Layer::User, user), source(Layer::Repository, &text)];
    for _ in 0..5 {
    let t = std::time::Instant::now();
    for _ in 0..200 { std::hint::black_box(load_with(std::hint::black_box(&sources), &rules()).unwrap()); }
    println!("load {:?}", t.elapsed() / 200);
    let t = std::time::Instant::now();
    for _ in 0..200 { std::hint::black_box(crate::domain::paths::PathRules::new(&["**/*.md".to_owned(), "docs/**".to_owned()], &["**/*.log".to_owned()]).unwrap()); }
    println!("paths {:?}", t.elapsed() / 200);
    }
}
