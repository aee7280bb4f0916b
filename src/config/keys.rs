//! Every section and key in one table: checks, defaults, `config show`, the schema and the template are
//! all made from it, so that none of them can fall behind.

pub(super) use super::kind::{Choice, Contents, Key, Kind, Section, Standing};
use super::value::Value;
use crate::domain::time::Span;
use testreport::Format;

/// The word for a format that is recognised.
const AUTO: &str = "auto";

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const fn here(name: &'static str) -> Choice {
    Choice { name, standing: Standing::Here }
}

/// The sections, in the order of the template.
pub(super) static SECTIONS: [Section; 12] = [
    Section { name: "guard", doc: "How the guard behaves.", contents: Contents::Keys(&GUARD) },
    Section { name: "test", doc: "How the tests are run.", contents: Contents::Keys(&TEST) },
    Section {
        name: "paths",
        doc: "Which paths are not code. Globs from the repository root; `*` stops at a slash, `**` does not.",
        contents: Contents::Keys(&PATHS),
    },
    Section {
        name: "rules",
        doc: "A level (off, note, warn, block, halt), a table of parameters, or both, for each rule.",
        contents: Contents::Rules,
    },
    Section {
        name: "usage",
        doc: "What the token counts of your clients mean (`andon observe usage`).",
        contents: Contents::Keys(&USAGE),
    },
    Section {
        name: "normalize",
        doc: "Patterns masked in diffs and failures before they are compared, applied after the built-in ones.",
        contents: Contents::Patterns,
    },
    Section {
        name: "workflow",
        doc: "Nodes, and who hands over to whom. Without it there is one node, and only `iteration-cap` bounds a run.",
        contents: Contents::Workflow,
    },
    Section {
        name: "on_stall",
        doc: "What happens when a loop stalls, beside the halt.",
        contents: Contents::Keys(&ON_STALL),
    },
    Section {
        name: "advisor",
        doc: "The program asked when a loop is stuck. The question is in .andon/ADVISOR_PROMPT.md in any case.",
        contents: Contents::Keys(&ADVISOR),
    },
    Section {
        name: "fallback",
        doc: "The next provider when one gets no further; see `andon advise`.",
        contents: Contents::Keys(&FALLBACK),
    },
    Section {
        name: "notify",
        doc: "Who is notified when a loop halts or needs a person. .andon/notifications.jsonl gets a line in any case.",
        contents: Contents::Keys(&NOTIFY),
    },
    Section {
        name: "identity",
        doc: "The agent's configuration, session and role. Enforced once something is pinned with `andon pin`.",
        contents: Contents::Keys(&IDENTITY),
    },
];

static GUARD: [Key; 5] = [
    Key {
        name: "ack",
        kind: Kind::Choice(&[
            here("delete"),
            here("resume"),
            Choice { name: "signed", standing: Standing::Planned },
        ]),
        default: || Value::Text("delete".to_owned()),
        doc: "What acknowledges a halt: deleting its file (or `andon resume`), or only `andon resume`.",
    },
    Key {
        name: "applies_to",
        kind: Kind::Choice(&[here("everyone"), here("agents")]),
        default: || Value::Text("everyone".to_owned()),
        doc: "Whose commits are refused; with `agents`, those of people are only recorded.",
    },
    Key {
        name: "on_internal_error",
        kind: Kind::Choice(&[here("warn"), here("block")]),
        default: || Value::Text("warn".to_owned()),
        doc: "What a hook does when Andon itself fails: warn and let pass, or refuse.",
    },
    Key {
        name: "perpetual",
        kind: Kind::Switch,
        default: || Value::Switch(false),
        doc: "Whether the loop is meant to run for ever. Escalations and PAUSE then only warn; other halts hold.",
    },
    Key {
        name: "session_gap",
        kind: Kind::Duration { min: Span(MINUTE), max: Span(365 * DAY) },
        default: || Value::Span(Span(6 * HOUR)),
        doc: "The pause after which a new run begins and counters start anew.",
    },
];

static TEST: [Key; 7] = [
    Key {
        name: "command",
        kind: Kind::Command,
        default: || Value::Unset,
        doc: "What runs the tests: a text for `sh -c`, or a list of program and arguments.",
    },
    Key {
        name: "format",
        kind: Kind::Format,
        default: || Value::Text(AUTO.to_owned()),
        doc: "What output and reports are read as, such as \"junit\" or \"tap\"; \"auto\" recognises them by content.",
    },
    Key {
        name: "full",
        kind: Kind::Switch,
        default: || Value::Switch(false),
        doc: "Whether a passing run of fewer tests than the last full one proves nothing; otherwise it warns.",
    },
    Key {
        name: "handed_in",
        kind: Kind::Choice(&[here("record"), here("count")]),
        default: || Value::Text("record".to_owned()),
        doc: "What runs made elsewhere (`andon observe test_run`) are worth: only recorded, or as good as `andon test`.",
    },
    Key {
        name: "reports",
        kind: Kind::Globs,
        default: || Value::Texts(Vec::new()),
        doc: "Report files that the command writes, as globs from the repository root.",
    },
    Key {
        name: "runner",
        kind: Kind::Choice(&RUNNERS),
        default: || Value::Unset,
        doc: "The test runner. A command that is a list of arguments is then asked for a private report as well.",
    },
    Key {
        name: "timeout",
        kind: Kind::Limit { min: Span(1), max: Span(7 * DAY) },
        default: || Value::Span(Span(30 * MINUTE)),
        doc: "How long the tests may run; \"none\" for no limit.",
    },
];

static RUNNERS: [Choice; 10] = [
    here("cargo"),
    here("nextest"),
    here("pytest"),
    here("jest"),
    here("vitest"),
    here("go"),
    here("npm"),
    here("phpunit"),
    here("ctest"),
    here("gtest"),
];

/// What is documentation by default, a line of the first `andon.toml` each: texts, licences, files of git and of
/// editors, images. `.gitattributes` is code: it decides what a checkout makes of the contents. Each is of a shape that
/// [`crate::domain::paths`] compares without an automaton.
pub(super) const DOCS: [&[&str]; 4] = [
    &["**/*.md", "docs/**"],
    &["**/LICENSE*", "**/LICENCE*", "**/COPYING*", "**/NOTICE*", "LICENSES/**"],
    &[
        "**/.gitignore",
        "**/.mailmap",
        "**/.git-blame-ignore-revs",
        "**/.editorconfig",
        ".vscode/**",
        ".idea/**",
    ],
    &["**/*.png", "**/*.jpg", "**/*.jpeg", "**/*.gif", "**/*.svg", "**/*.webp", "**/*.ico"],
];

static PATHS: [Key; 3] = [
    Key {
        name: "docs",
        kind: Kind::Globs,
        default: || Value::Texts(DOCS.concat().iter().map(|glob| (*glob).to_owned()).collect()),
        doc: "Documentation: a commit of nothing else needs no tests.",
    },
    Key {
        name: "ignore",
        kind: Kind::Globs,
        default: || Value::Texts(vec!["**/*.log".to_owned()]),
        doc: "Neither code nor documentation; wins over `docs`.",
    },
    Key {
        name: "api",
        kind: Kind::Globs,
        default: || Value::Texts(Vec::new()),
        doc: "The declared API, whose changes should come with documentation.",
    },
];

static USAGE: [Key; 1] = [Key {
    name: "cached",
    kind: Kind::Choice(&[here("separate"), here("included")]),
    default: || Value::Text("separate".to_owned()),
    doc: "Whether `input_tokens` already include the cached ones; for clients that report no `context_tokens`.",
}];

/// How long a program that is asked for help may take.
const HELP: Kind = Kind::Duration { min: Span(1), max: Span(HOUR) };

static ON_STALL: [Key; 3] = [
    Key {
        name: "policy",
        kind: Kind::Choice(&[
            here("interactive"),
            here("pause"),
            here("spawn_reviewer"),
            here("retry_with_new_provider"),
        ]),
        default: || Value::Text("interactive".to_owned()),
        doc: "Nothing more, a PAUSE, or a program: `command` is started with the halt as JSON on standard input.",
    },
    Key {
        name: "command",
        kind: Kind::Program,
        default: || Value::Unset,
        doc: "The program of spawn_reviewer and retry_with_new_provider.",
    },
    Key {
        name: "timeout",
        kind: HELP,
        default: || Value::Span(Span(5 * MINUTE)),
        doc: "How long that program may take.",
    },
];

static ADVISOR: [Key; 2] = [
    Key {
        name: "command",
        kind: Kind::Program,
        default: || Value::Unset,
        doc: "Gets the question on standard input; its answer is written to .andon/ADVISOR_ANSWER.md.",
    },
    Key {
        name: "timeout",
        kind: HELP,
        default: || Value::Span(Span(2 * MINUTE)),
        doc: "How long it may take.",
    },
];

static FALLBACK: [Key; 1] = [Key {
    name: "providers",
    kind: Kind::Providers,
    default: || Value::Texts(Vec::new()),
    doc: "Names in order, each with the conditions that lead to it: \"NAME on failed_gate, context_exhausted, stop_event\".",
}];

static NOTIFY: [Key; 2] = [
    Key {
        name: "bell",
        kind: Kind::Switch,
        default: || Value::Switch(true),
        doc: "Whether a terminal's bell rings.",
    },
    Key {
        name: "command",
        kind: Kind::Program,
        default: || Value::Unset,
        doc: "Gets the notice as JSON on standard input and has five seconds; its failure changes nothing.",
    },
];

static IDENTITY: [Key; 5] = [
    Key {
        name: "files",
        kind: Kind::Globs,
        default: || {
            let files = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".claude/**", ".mcp.json"];
            Value::Texts(files.map(str::to_owned).to_vec())
        },
        doc: "The files of the agent's own configuration.",
    },
    Key {
        name: "checksum",
        kind: Kind::Checksum,
        default: || Value::Unset,
        doc: "The checksum of these files, as `andon pin` writes it; a commit with another is refused.",
    },
    Key {
        name: "workflow_binding",
        kind: Kind::Text,
        default: || Value::Unset,
        doc: "The session (ANDON_SESSION) that every commit must carry.",
    },
    Key {
        name: "authorized_roles",
        kind: Kind::Texts,
        default: || Value::Texts(Vec::new()),
        doc: "The nodes (ANDON_NODE, or as `[workflow]` recognises them) that may commit; empty for all.",
    },
    Key {
        name: "pinned",
        kind: Kind::Pinned,
        default: || Value::Texts(Vec::new()),
        doc: "The pinned files, so that a difference can be named; written by `andon pin`.",
    },
];

/// The words of [`Kind::Format`].
pub(super) fn formats() -> impl Iterator<Item = &'static str> + Clone {
    std::iter::once(AUTO).chain(Format::names().iter().copied())
}

/// The key `section.name`, such as `guard.ack`.
pub(super) fn find(section: &str, name: &str) -> Option<&'static Key> {
    keys_of(section)?.iter().find(|key| key.name == name)
}

/// The section that has a key of that name.
pub(super) fn section_with(name: &str) -> Option<&'static str> {
    let has = |section: &&Section| {
        keys_of(section.name).is_some_and(|keys| keys.iter().any(|key| key.name == name))
    };
    SECTIONS.iter().find(has).map(|section| section.name)
}

fn keys_of(section: &str) -> Option<&'static [Key]> {
    match &SECTIONS.iter().find(|one| one.name == section)?.contents {
        Contents::Keys(keys) => Some(keys),
        Contents::Rules | Contents::Patterns | Contents::Workflow => None,
    }
}
