//! Every section and key in one table: checks, defaults, `config show`, the schema and the template are
//! all made from it, so that none of them can fall behind. A key is declared once, with its type, and read by naming
//! the declaration, so that a misspelt one does not compile.

use super::setting::{Setting, SpanRange};
use super::settings::{AppliesTo, AtCommit, HandedInRuns, OnInternalError, Runner, ScopeAt};
use super::value::{AUTO, TestCommand};
use andon_core::domain::effect::{AckMode, OnStall, Provider};
use andon_core::domain::ids::{Digest, EntryId};
use andon_core::domain::{context::CachedTokens, identity::FileState, time::Span};
use testreport::Format;

pub(super) use super::setting::{Contents, Key, Kind, Section};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The sections, in the order of the template.
pub(super) static SECTIONS: [Section; 12] = [
    Section {
        name: "guard",
        doc: "How the guard behaves.",
        contents: Contents::Keys(&[
            &GUARD_ACK.key,
            &GUARD_LEDGER.key,
            &GUARD_APPLIES_TO.key,
            &GUARD_ON_INTERNAL_ERROR.key,
            &GUARD_PERPETUAL.key,
            &GUARD_SESSION_GAP.key,
        ]),
    },
    Section {
        name: "test",
        doc: "How the tests are run.",
        contents: Contents::Keys(&[
            &TEST_AT_COMMIT.key,
            &TEST_COMMAND.key,
            &TEST_FORMAT.key,
            &TEST_FULL.key,
            &TEST_HANDED_IN.key,
            &TEST_REPORTS.key,
            &TEST_RUNNER.key,
            &TEST_TIMEOUT.key,
        ]),
    },
    Section {
        name: "paths",
        doc: "Which paths are not code. Globs from the repository root; `*` stops at a slash, `**` does not.",
        contents: Contents::Keys(&[&PATHS_DOCS.key, &PATHS_IGNORE.key, &PATHS_API.key]),
    },
    Section {
        name: "rules",
        doc: "A level (off, note, warn, block, halt), a table of parameters, or both, for each rule.",
        contents: Contents::Rules,
    },
    Section {
        name: "usage",
        doc: "What the token counts of your clients mean (`andon observe usage`).",
        contents: Contents::Keys(&[&USAGE_CACHED.key]),
    },
    Section {
        name: "normalize",
        doc: "Patterns masked in diffs and failures before they are compared, and in tool calls before they are shown; applied after the built-in ones.",
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
        contents: Contents::Keys(&[&ON_STALL_POLICY.key, &ON_STALL_COMMAND.key, &ON_STALL_TIMEOUT.key]),
    },
    Section {
        name: "advisor",
        doc: "The program asked when a loop is stuck. The question is in .andon/ADVISOR_PROMPT.md in any case.",
        contents: Contents::Keys(&[&ADVISOR_COMMAND.key, &ADVISOR_TIMEOUT.key]),
    },
    Section {
        name: "fallback",
        doc: "The next provider when one gets no further; see `andon advise`.",
        contents: Contents::Keys(&[&FALLBACK_PROVIDERS.key]),
    },
    Section {
        name: "notify",
        doc: "Who is notified when a loop halts or needs a person. .andon/notifications.jsonl gets a line in any case.",
        contents: Contents::Keys(&[&NOTIFY_AGAIN.key, &NOTIFY_BELL.key, &NOTIFY_COMMAND.key]),
    },
    Section {
        name: "identity",
        doc: "The agent's configuration, session and role. Enforced once something is pinned with `andon pin`.",
        contents: Contents::Keys(&[
            &IDENTITY_FILES.key,
            &IDENTITY_CHECKSUM.key,
            &IDENTITY_WORKFLOW_BINDING.key,
            &IDENTITY_AUTHORIZED_ROLES.key,
            &IDENTITY_PINNED.key,
        ]),
    },
];

/// Most time that a program that is asked for help may take.
const HELP: SpanRange = SpanRange { min: Span(1), max: Span(HOUR) };

/// The default documentation patterns, one line of the first `andon.toml` each: texts, except those that a build or an
/// installation reads; licences; files of git and of its hosts; of editors and formatters; images. `.gitattributes` is code: it
/// decides what a checkout makes of the contents. This is the one list: `andon install` writes it, `andon config show` shows
/// it. Each pattern is of a shape that [`andon_core::domain::paths`] compares without an automaton.
pub(super) const DOCS: [&[&str]; 7] = [
    &["**/*.md", "docs/**", "**/*.rst", "**/*.adoc", "**/*.txt"],
    &[
        "!**/*requirements*.txt",
        "!**/constraints*.txt",
        "!**/CMakeLists.txt",
        "!**/requirements/**",
        "!**/conanfile.txt",
    ],
    &[
        "**/README",
        "**/CHANGELOG",
        "**/AUTHORS",
        "**/LICENSE*",
        "**/LICENCE*",
        "**/COPYING*",
        "**/NOTICE*",
        "LICENSES/**",
    ],
    &["**/.gitignore", "**/.mailmap", "**/.git-blame-ignore-revs", "**/CODEOWNERS", ".github/**"],
    &[
        "**/.editorconfig",
        ".vscode/**",
        ".idea/**",
        ".zed/**",
        "**/*.code-workspace",
        ".replit",
        "replit.nix",
        ".idx/**",
    ],
    &[
        "**/.prettierrc*",
        "**/.prettierignore",
        "**/.clang-format",
        "**/rustfmt.toml",
        "**/.rustfmt.toml",
        "**/.stylua.toml",
    ],
    &["**/*.png", "**/*.jpg", "**/*.jpeg", "**/*.gif", "**/*.svg", "**/*.webp", "**/*.ico"],
];

pub(super) static GUARD_ACK: Setting<AckMode> = Setting::choice(
    "guard",
    "ack",
    "What answers a halt: deleting its file (or `andon resume`), only `andon resume`, or only the signature of a witness.",
);

pub(super) static GUARD_LEDGER: Setting<Option<EntryId>> = Setting::entry(
    "guard",
    "ledger",
    "The ledger whose witnesses answer halts, as `andon witness init` prints it. Goes with `ack = \"signed\"`.",
);

pub(super) static GUARD_APPLIES_TO: Setting<AppliesTo> = Setting::choice(
    "guard",
    "applies_to",
    "Whose commits are refused; with `agents`, those of people are only recorded.",
);

pub(super) static GUARD_ON_INTERNAL_ERROR: Setting<OnInternalError> = Setting::choice(
    "guard",
    "on_internal_error",
    "What a hook does when Andon itself fails: warn and let pass, or refuse.",
);

pub(super) static GUARD_PERPETUAL: Setting<bool> = Setting::off(
    "guard",
    "perpetual",
    "Whether the loop is meant to run forever. Escalations and PAUSE then only warn; other halts still stop it.",
);

pub(super) static GUARD_SESSION_GAP: Setting<Span> = Setting::span(
    "guard",
    "session_gap",
    SpanRange { min: Span(MINUTE), max: Span(365 * DAY) },
    Span(6 * HOUR),
    "The pause after which a new run begins and counts restart.",
);

pub(super) static TEST_AT_COMMIT: Setting<AtCommit> = Setting::choice(
    "test",
    "at_commit",
    "What a commit does whose tests did not run: it is refused, or the gate runs what is missing on what is committed.",
);

pub(super) static TEST_COMMAND: Setting<Option<TestCommand>> = Setting::command(
    "test",
    "command",
    "What runs the tests: a text for `sh -c`, or a list of program and arguments.",
);

pub(super) static TEST_FORMAT: Setting<Option<Format>> = Setting::format(
    "test",
    "format",
    "What output and reports are read as, such as \"junit\" or \"tap\"; \"auto\" recognises them by content.",
);

pub(super) static TEST_FULL: Setting<bool> = Setting::off(
    "test",
    "full",
    "Whether a passing run of fewer tests than the last full one proves nothing; otherwise it warns.",
);

pub(super) static TEST_HANDED_IN: Setting<HandedInRuns> = Setting::choice(
    "test",
    "handed_in",
    "What runs made elsewhere (`andon observe test_run`) are worth: only recorded, or as good as `andon test`.",
);

pub(super) static TEST_REPORTS: Setting<Vec<String>> = Setting::globs(
    "test",
    "reports",
    &[],
    "Report files that the command writes, as globs from the repository root.",
);

pub(super) static TEST_RUNNER: Setting<Option<Runner>> = Setting::optional_choice(
    "test",
    "runner",
    "The test runner. A command that is a list of arguments is then asked for a private report as well.",
);

pub(super) static TEST_TIMEOUT: Setting<Option<Span>> = Setting::limit(
    "test",
    "timeout",
    SpanRange { min: Span(1), max: Span(7 * DAY) },
    Span(30 * MINUTE),
    "How long the tests may run; \"none\" for no limit.",
);

/// The keys of each `[test.scopes.<name>]`.
pub(super) static SCOPE_KEYS: [&Key; 6] = [
    &SCOPE_PATHS.key,
    &SCOPE_COMMAND.key,
    &SCOPE_NEEDS.key,
    &SCOPE_AT.key,
    &SCOPE_REPORTS.key,
    &SCOPE_TIMEOUT.key,
];

static SCOPE_PATHS: Setting<Vec<String>> =
    Setting::globs("test.scopes", "paths", &[], "The scope's code, as globs from the repository root.");

static SCOPE_COMMAND: Setting<Option<TestCommand>> =
    Setting::command("test.scopes", "command", "What runs the tests of this scope.");

static SCOPE_NEEDS: Setting<Vec<String>> =
    Setting::texts("test.scopes", "needs", "The scopes whose code these tests read too.");

static SCOPE_AT: Setting<ScopeAt> = Setting::choice(
    "test.scopes",
    "at",
    "What asks for these tests: each commit that touches the scope, or only push, completion and check.",
);

static SCOPE_REPORTS: Setting<Vec<String>> = Setting::globs(
    "test.scopes",
    "reports",
    &[],
    "Report files of this scope's command; in addition, `test.reports`.",
);

static SCOPE_TIMEOUT: Setting<Option<Span>> = Setting::limit(
    "test.scopes",
    "timeout",
    SpanRange { min: Span(1), max: Span(7 * DAY) },
    Span(30 * MINUTE),
    "How long these tests may run; without it, `test.timeout`.",
);

pub(super) static PATHS_DOCS: Setting<Vec<String>> =
    Setting::globs("paths", "docs", &DOCS, "Documentation: a commit of nothing else needs no tests.");

pub(super) static PATHS_IGNORE: Setting<Vec<String>> =
    Setting::globs("paths", "ignore", &[&["**/*.log"]], "Neither code nor documentation; wins over `docs`.");

pub(super) static PATHS_API: Setting<Vec<String>> =
    Setting::globs("paths", "api", &[], "The declared API, whose changes should come with documentation.");

pub(super) static USAGE_CACHED: Setting<CachedTokens> = Setting::choice(
    "usage",
    "cached",
    "Whether `input_tokens` already include the cached ones; for clients that report no `context_tokens`.",
);

pub(super) static ON_STALL_POLICY: Setting<OnStall> = Setting::choice(
    "on_stall",
    "policy",
    "Nothing more, a PAUSE, or a program: `command` is started with the halt as JSON on standard input.",
);

pub(super) static ON_STALL_COMMAND: Setting<Option<Vec<String>>> =
    Setting::program("on_stall", "command", "The program of spawn_reviewer and retry_with_new_provider.");

pub(super) static ON_STALL_TIMEOUT: Setting<Span> =
    Setting::span("on_stall", "timeout", HELP, Span(5 * MINUTE), "How long that program may take.");

pub(super) static ADVISOR_COMMAND: Setting<Option<Vec<String>>> = Setting::program(
    "advisor",
    "command",
    "Gets the question on standard input; its answer is written to .andon/ADVISOR_ANSWER.md.",
);

pub(super) static ADVISOR_TIMEOUT: Setting<Span> =
    Setting::span("advisor", "timeout", HELP, Span(2 * MINUTE), "How long it may take.");

pub(super) static FALLBACK_PROVIDERS: Setting<Vec<Provider>> = Setting::providers(
    "fallback",
    "providers",
    "Names in order, each with the conditions that lead to it: \"NAME on failed_gate, context_exhausted, stop_event\".",
);

pub(super) static NOTIFY_BELL: Setting<bool> =
    Setting::on("notify", "bell", "Whether a terminal's bell rings.");

pub(super) static NOTIFY_AGAIN: Setting<Option<Span>> = Setting::limit(
    "notify",
    "again",
    SpanRange { min: Span(MINUTE), max: Span(30 * DAY) },
    Span(30 * MINUTE),
    "After how long without an answer a halt is reported again, by the next hook, turn or `andon status --exit-code`.",
);

pub(super) static NOTIFY_COMMAND: Setting<Option<Vec<String>>> = Setting::program(
    "notify",
    "command",
    "Gets the notice as JSON on standard input and has five seconds; its failure changes nothing.",
);

pub(super) static IDENTITY_FILES: Setting<Vec<String>> = Setting::globs(
    "identity",
    "files",
    &[&["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".claude/**", ".mcp.json"]],
    "The files of the agent's own configuration.",
);

pub(super) static IDENTITY_CHECKSUM: Setting<Option<Digest>> = Setting::checksum(
    "identity",
    "checksum",
    "The checksum of these files, as `andon pin` writes it; a commit with another is refused.",
);

pub(super) static IDENTITY_WORKFLOW_BINDING: Setting<Option<String>> = Setting::text(
    "identity",
    "workflow_binding",
    "The session (ANDON_SESSION) that every commit must carry.",
);

pub(super) static IDENTITY_AUTHORIZED_ROLES: Setting<Vec<String>> = Setting::texts(
    "identity",
    "authorized_roles",
    "The nodes (ANDON_NODE, or as `[workflow]` recognises them) that may commit; empty for all.",
);

pub(super) static IDENTITY_PINNED: Setting<Vec<(String, FileState)>> = Setting::pinned(
    "identity",
    "pinned",
    "The pinned files, so that a difference can be named; written by `andon pin`.",
);

/// The words of [`Kind::Format`].
pub(super) fn formats() -> impl Iterator<Item = &'static str> + Clone {
    std::iter::once(AUTO).chain(Format::names())
}

/// The section that has a key of that name.
pub(super) fn section_with(name: &str) -> Option<&'static str> {
    let has = |section: &&Section| {
        keys_of(section.name).is_some_and(|keys| keys.iter().any(|key| key.name == name))
    };
    SECTIONS.iter().find(has).map(|section| section.name)
}

fn keys_of(section: &str) -> Option<&'static [&'static Key]> {
    match &SECTIONS.iter().find(|one| one.name == section)?.contents {
        Contents::Keys(keys) => Some(keys),
        Contents::Rules | Contents::Patterns | Contents::Workflow => None,
    }
}
