//! Whole files, whole messages.

mod errors;
mod generated;

use proptest::prelude::*;

use super::*;
use andon_core::domain::{AckMode, Level, Param, ParamSpec, ParamValue, PathClass, Span};
use testreport::Format;

const MAX: Param<u64> = Param::total("max", 100, 1);
const EXEMPT: Param<Vec<String>> = Param::list("exempt", andon_core::words!["Revert"]);
static CAP: [ParamSpec; 1] = [MAX.spec];
static MIXED: [ParamSpec; 4] = [
    Param::share("share", 0.5).spec,
    Param::span("pause", Span(600)).spec,
    Param::off("strict").spec,
    EXEMPT.spec,
];

fn rules() -> [RuleSpecView; 3] {
    let one = |id, summary, default_level, params, param_docs| RuleSpecView {
        id,
        summary,
        default_level,
        params,
        param_docs,
    };
    let mixed = "share: A share.\npause: A pause.\nstrict: A switch.\nexempt: A list.";
    [
        one("iteration-cap", "Caps.", Level::Halt, &CAP, "max: Iterations."),
        one("mixed", "Mixes.", Level::Warn, &MIXED, mixed),
        one("untested-edit", "Tests.", Level::Block, &[], ""),
    ]
}

fn source(layer: Layer, text: &str) -> ConfigSource {
    let name = match layer {
        Layer::Default => "default.toml",
        Layer::User => "/home/u/.config/andon/config.toml",
        Layer::Repository => "andon.toml",
        Layer::CommandLine => "command line",
    };
    ConfigSource { layer, name: name.to_owned(), text: text.as_bytes().to_vec() }
}

fn read(text: &str) -> Result<Config, ConfigErrors> {
    load_with(&[source(Layer::Repository, text)], &rules())
}

#[test]
fn without_sources_the_defaults_of_the_design_hold() {
    let config = load_with(&[], &rules()).unwrap();
    assert_eq!(
        config.guard,
        Guard {
            ack: AckMode::Delete,
            ledger: None,
            applies_to: AppliesTo::Everyone,
            on_internal_error: OnInternalError::Warn,
            perpetual: Perpetual::No,
            session_gap: Span(21_600),
        }
    );
    let expected = TestSettings {
        at_commit: AtCommit::Refuse,
        command: None,
        format: None,
        full: FullRuns::Wanted,
        handed_in: HandedInRuns::Record,
        known_red: Vec::new(),
        max_reports: 50_000,
        reports: vec![],
        runner: None,
        scopes: TestScopes::default(),
        timeout: Some(Span(1_800)),
    };
    assert_eq!(config.test, expected);
    assert!(config.paths.api.is_empty() && config.normalize.is_empty());
    assert_eq!(config.rules["iteration-cap"].level, Level::Halt);
    assert_eq!(config.rules["iteration-cap"].count(&MAX), 100);
}

#[test]
fn documents_and_code_are_told_apart_by_default() {
    let config = load_with(&[], &rules()).unwrap();
    assert_eq!(config.paths.docs[..2], ["**/*.md", "**/*.rst"]);
    for path in [
        "LICENSE-MIT",
        "sub/COPYING",
        ".gitignore",
        "a/.mailmap",
        ".vscode/x.json",
        "a/b.svg",
        "notes.txt",
        ".github/workflows/ci.yml",
        "docs/spec/format.md",
        "docs/tests/a.png",
        "contests/a.md",
    ] {
        assert_eq!(config.paths.rules.class(path.as_bytes()), PathClass::Docs, "{path}");
    }
    for path in [
        ".gitattributes",
        "license.rs",
        "src/image.rs",
        "requirements.txt",
        "docs/requirements.txt",
        "CMakeLists.txt",
        "vscode/a.c",
        "tests/cases/a.txt",
        "web/test/logo.svg",
        "spec/a.md",
        "pkg/testdata/in.txt",
        "fixtures/a.png",
        "src/__snapshots__/a.md",
    ] {
        assert_eq!(config.paths.rules.class(path.as_bytes()), PathClass::Code, "{path}");
    }
    assert_eq!(config.paths.ignore, ["**/*.log", "**/*.timestamp-*.mjs", "**/*.swp", "**/*~"]);
    assert_eq!(config.paths.rules.class(b"docs/a.txt"), PathClass::Docs);
}

const SCOPES: &str = r#"
[test]
command = "make test"
reports = ["all.xml"]
[test.scopes.core]
paths = ["crates/core/**"]
command = "cargo test -p core"
timeout = "2m"
[test.scopes.cli]
paths = ["crates/cli/**"]
needs = ["core"]
command = ["cargo", "test", "-p", "cli"]
format = "exit"
reports = ["cli.xml"]
"#;

#[test]
fn scopes_have_settings_of_their_own() {
    let config = read(SCOPES).unwrap();
    assert_eq!(config.test.scopes.scopes.in_order(), ["core", "cli"]);
    let cli = config.of_scope("cli").unwrap();
    assert_eq!(cli.test.command.unwrap().display(), "cargo test -p cli");
    assert_eq!(
        (cli.test.timeout, cli.test.reports),
        (Some(Span(1_800)), vec!["all.xml".into(), "cli.xml".into()])
    );
    assert_eq!(cli.paths.rules.class(b"crates/core/a.rs"), PathClass::Code);
    assert_eq!((cli.test.format, cli.test.scopes.of.as_deref()), (Format::named("exit"), Some("cli")));
    let core = config.of_scope("core").unwrap();
    assert_eq!((core.test.format, core.test.scopes.of), (None, Some("core".to_owned())));
    assert_eq!(core.test.timeout, Some(Span(120)));
    assert_eq!(core.paths.rules.class(b"crates/cli/a.rs"), PathClass::Ignored);
    assert_eq!(core.paths.rules.class(b"crates/core/a.md"), PathClass::Docs);
    assert_eq!(config.of_scope("(rest)").unwrap().test.command.unwrap().display(), "make test");
    assert!(config.of_scope("nosuch").is_none());
    let shown: Vec<String> = config.entries().iter().map(ToString::to_string).collect();
    let needs = "test.scopes.cli.needs = [\"core\"]  # repository, andon.toml:11";
    assert!(shown.iter().any(|line| line == needs), "{shown:#?}");
}

#[test]
fn mistakes_in_scopes_are_named_with_their_lines() {
    for (text, expected) in [
        ("[test]\nscopes = 1\n", "andon.toml:2:10: `test.scopes` is a section, not a value"),
        ("[test.scopes]\na = 1\n", "andon.toml:2:5: scope `a` must be a table, not 1"),
        ("[test.scopes.a]\n", "andon.toml:1:14: scope `a` has no command"),
        ("[test.scopes.'a b']\ncommand='x'\n", "andon.toml:1:14: `a b` is no name for a scope"),
        ("[test.scopes.a]\npaths=['a/**']\n", "andon.toml:2: scope `a` has no command"),
        ("[test.scopes.a]\ncommand='x'\n", "andon.toml:2: scope `a` has no paths"),
        ("[test.scopes.a]\ncomand='x'\n", "andon.toml:2:1: unknown key `comand` in [test.scopes.a]"),
        (
            "[test.scopes.a]\npaths=['/x']\n",
            "andon.toml:2:8: `/x` in `test.scopes.a.paths` can match nothing",
        ),
        (
            "[test.scopes.a]\ncommand='x'\npaths=['a/**']\nneeds=['b']\n",
            "andon.toml:4: scope `a` needs `b`, which is not declared",
        ),
        (
            "[test.scopes.a]\ncommand='x'\npaths=['a/**']\nneeds=['b']\n\
             [test.scopes.b]\ncommand='x'\npaths=['b/**']\nneeds=['a']\n",
            "andon.toml:4: scopes need each other: a -> b -> a",
        ),
    ] {
        let said = read(text).unwrap_err().to_string();
        assert!(said.contains(expected), "{text}\n{said}");
    }
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
        format = "junit"
        reports = ["target/**/junit.xml"]
        timeout = "none"
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
    assert_eq!(config.guard.ack, AckMode::Resume);
    assert_eq!(config.guard.applies_to, AppliesTo::Agents);
    assert_eq!(config.guard.on_internal_error, OnInternalError::Block);
    assert_eq!(config.guard.session_gap, Span(5_400));
    assert_eq!(config.test.command.as_ref().map(TestCommand::display).as_deref(), Some("cargo test"));
    assert_eq!(config.test.format, Format::named("junit"));
    assert_eq!((config.test.reports.len(), config.test.timeout), (1, None));
    assert_eq!(config.paths.rules.class(b"README.md"), PathClass::Code);
    assert_eq!(config.paths.api, ["src/lib.rs"]);
    assert_eq!(config.rules["untested-edit"].level, Level::Off);
    assert_eq!(config.rules["iteration-cap"].level, Level::Block);
    assert_eq!(config.rules["iteration-cap"].count(&MAX), 16);
    let mixed = &config.rules["mixed"];
    assert_eq!(mixed.level, Level::Warn);
    assert_eq!(mixed.params["share"], ParamValue::Share(1.0));
    assert_eq!(mixed.params["pause"], ParamValue::Span(Span(3_600)));
    assert_eq!(mixed.params["strict"], ParamValue::Switch(true));
    assert_eq!(mixed.list(&EXEMPT), ["Release #"]);
    let pair = |name: &str, pattern: &str| (name.to_owned(), pattern.to_owned());
    assert_eq!(config.normalize, [pair("zulu", "z[0-9]+"), pair("alpha", "a+")]);
}

const DOCS_SHOWN: &str = "paths.docs = [\"**/*.md\", \"**/*.rst\", \"**/*.adoc\", \"**/*.txt\", \
     \"**/*.{png,jpg,jpeg,gif,svg,webp,ico}\", \"**/README\", \"**/CHANGELOG\", \"**/AUTHORS\", \"**/LICENSE*\", \"**/LICENCE*\", \"**/COPYING*\", \"**/NOTICE*\", \
     \"LICENSES/**\", \"**/.gitignore\", \"**/.mailmap\", \"**/.git-blame-ignore-revs\", \"**/CODEOWNERS\", \
     \"**/.editorconfig\", \".vscode/**\", \".idea/**\", \".zed/**\", \"**/*.code-workspace\", \".replit\", \
     \"replit.nix\", \".idx/**\", \"**/.prettierrc*\", \"**/.prettierignore\", \"**/.clang-format\", \
     \"**/rustfmt.toml\", \"**/.rustfmt.toml\", \"**/.stylua.toml\", \"!**/tests/**\", \"!**/test/**\", \"!**/spec/**\", \
     \"!**/testdata/**\", \"!**/fixtures/**\", \"!**/__snapshots__/**\", \"docs/**\", \".github/**\", \
     \"!**/{*requirements*,constraints*,CMakeLists,conanfile}.txt\", \"!**/requirements/**\"]  # default";

/// The output of `andon config show` then.
const SHOWN: [&str; 46] = [
    "guard.ack = \"resume\"  # user, /home/u/.config/andon/config.toml:2",
    "guard.ledger = (unset)  # default",
    "guard.applies_to = \"everyone\"  # default",
    "guard.on_internal_error = \"warn\"  # default",
    "guard.perpetual = false  # default",
    "guard.session_gap = \"3h\"  # repository, andon.toml:3",
    "test.at_commit = \"refuse\"  # default",
    "test.command = (unset)  # default",
    "test.format = \"auto\"  # default",
    "test.full = false  # default",
    "test.handed_in = \"record\"  # default",
    "test.known_red = []  # default",
    "test.max_reports = 50000  # default",
    "test.reports = []  # default",
    "test.runner = (unset)  # default",
    "test.timeout = \"30m\"  # default",
    DOCS_SHOWN,
    "paths.ignore = [\"**/*.log\", \"**/*.timestamp-*.mjs\", \"**/*.swp\", \"**/*~\"]  # default",
    "paths.api = []  # default",
    "rules.iteration-cap.level = \"warn\"  # repository, andon.toml:5",
    "rules.iteration-cap.max = 3  # command line, command line:1",
    "rules.mixed.level = \"warn\"  # default",
    "rules.mixed.exempt = [\"Revert\"]  # default",
    "rules.mixed.pause = \"10m\"  # default",
    "rules.mixed.share = 0.5  # default",
    "rules.mixed.strict = false  # default",
    "rules.untested-edit.level = \"block\"  # default",
    "usage.cached = \"separate\"  # default",
    "agents.waits = []  # default",
    "normalize.a = \"repository\"  # repository, andon.toml:9",
    "normalize.b = \"b\"  # user, /home/u/.config/andon/config.toml:6",
    "normalize.c = \"c\"  # repository, andon.toml:8",
    "on_stall.policy = \"interactive\"  # default",
    "on_stall.command = (unset)  # default",
    "on_stall.timeout = \"5m\"  # default",
    "advisor.command = (unset)  # default",
    "advisor.timeout = \"2m\"  # default",
    "fallback.providers = []  # default",
    "notify.again = \"30m\"  # default",
    "notify.bell = true  # default",
    "notify.command = (unset)  # default",
    "identity.files = [\"AGENTS.md\", \"CLAUDE.md\", \"GEMINI.md\", \".claude/**\", \".mcp.json\"]  # default",
    "identity.checksum = (unset)  # default",
    "identity.workflow_binding = (unset)  # default",
    "identity.authorized_roles = []  # default",
    "identity.pinned = []  # default",
];

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
    let shown: Vec<String> = config.entries().iter().map(KeyEntry::to_string).collect();
    assert_eq!(shown, SHOWN);
    assert_eq!(config.guard.session_gap, Span(10_800));
    assert_eq!(config.normalize[0], ("a".to_owned(), "repository".to_owned()));
    assert_eq!(config.origin("guard.applies_to"), SettingOrigin::Default);
}

#[test]
fn lists_scopes_and_numbers_are_bounded() {
    let list = |items: usize| format!("[test]\nreports = [{}]", "\"a\", ".repeat(items));
    let scopes = |number: usize| -> String {
        let scope =
            |name: usize| format!("[test.scopes.s{name}]\npaths = [\"p{name}/**\"]\ncommand = \"true\"\n");
        (0..number).map(scope).collect()
    };
    for (at, beyond) in [
        (list(256), list(257)),
        (scopes(256), scopes(257)),
        ("[test]\nmax_reports = 1".to_owned(), "[test]\nmax_reports = 0".to_owned()),
    ] {
        assert!(read(&at).is_ok(), "{:?}", read(&at).err());
        assert!(read(&beyond).is_err());
    }
    let error = read("[test]\nmax_reports = \"none\"").unwrap_err().to_string();
    assert_eq!(
        error,
        "andon.toml:2:15: `test.max_reports` must be a whole number from 1 to 1000000000, not \"none\"\n  help: write max_reports = 50000"
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
    std::fs::write(&user, vec![b'#'; MAX_BYTES]).unwrap();
    assert!(read_sources(root.path(), Some(&user)).is_ok());
    std::fs::write(&user, vec![b'#'; MAX_BYTES + 1]).unwrap();
    let error = read_sources(root.path(), Some(&user)).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: is larger than 1 MiB: 1048577 bytes", user.display()));
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

proptest! {
    #[test]
    fn any_bytes_load_or_fail(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = load(&[ConfigSource { layer: Layer::Repository, name: "andon.toml".to_owned(), text }]);
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
                let line = error.position().map_or(1, |at| at.line);
                prop_assert!(line >= 1 && line <= text.split('\n').count());
            }
        }
    }
}
