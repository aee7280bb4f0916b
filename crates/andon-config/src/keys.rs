//! Every section and key in one table: types, checks, defaults, `config show`, the schema and the template are
//! all made from it, so that none of them can fall behind. A key is declared once, with its type, and read by the
//! function of its name, so that a misspelt one does not compile.

use std::collections::BTreeMap;

use super::setting::{FromValue as _, Range, words};
use super::settings::{
    AppliesTo, AtCommit, FullRuns, HandedInRuns, OnInternalError, Perpetual, Runner, ScopeAt, TestScopes,
};
use super::value::{AUTO, TestCommand, Values};
use andon_core::domain::{
    AckMode, Bell, CachedTokens, Digest, EntryId, FileState, OnStall, Param, PathRules, Provider, Span,
};
use testreport::Format;

pub(super) use super::setting::{Contents, Key, Kind, Section};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const fn range(min: u64, max: u64, default: u64) -> Range {
    Range { min: Span(min), max: Span(max), default: Span(default) }
}

const MAX_REPORTS: Param<u64> = Param::total("max_reports", 50_000, 1);

/// Documentation, and what is as little code: a kind of files a line.
pub(super) const DOCS: &str = include_str!("documentation.txt");

/// The table of a section's keys: name, kind and the text that says what it is for.
macro_rules! keys {
    ($section:expr; $($name:ident = $kind:ident $(($($argument:tt)*))?, $doc:literal;)*) => {
        &[$(Key { section: $section, name: stringify!($name), kind: Kind::$kind $(($($argument)*))?, doc: $doc }),*]
    };
}

/// Declares a section: its table, for each key a function that reads its value, and where it is asked for a type of all its
/// values, with what else belongs to it.
macro_rules! section {
    ($section:ident $about:literal; $($name:ident: $type:ty = $kind:ident $(($($argument:tt)*))?, $doc:literal;)*) => {
        pub(super) mod $section {
            use super::*;

            pub static KEYS: &[Key] = keys! { stringify!($section); $($name = $kind $(($($argument)*))?, $doc;)* };
            pub static SECTION: Section =
                Section { name: stringify!($section), doc: $about, contents: Contents::Keys(KEYS) };

            $(pub fn $name(values: &Values) -> $type {
                <$type>::from_value(Key::value(KEYS, stringify!($name), values))
            })*
        }
    };
    ($section:ident $about:literal => struct $Settings:ident ($($derived:ident),*) $(with $more:ident: $more_type:ty)?;
     $($name:ident: $type:ty = $kind:ident $(($($argument:tt)*))?, $doc:literal;)*) => {
        section! { $section $about; $($name: $type = $kind $(($($argument)*))?, $doc;)* }

        #[doc = $about]
        #[derive(Debug, Clone $(, $derived)*)]
        pub struct $Settings {
            $(#[doc = $doc] pub $name: $type,)*
            $(pub $more: $more_type,)?
        }

        impl $Settings {
            pub(super) fn read(values: &Values $(, $more: $more_type)?) -> Self {
                Self { $($name: $section::$name(values),)* $($more,)? }
            }
        }
    };
}

/// The sections, in the order of the template.
pub(super) static SECTIONS: [&Section; 13] = [
    &guard::SECTION,
    &test::SECTION,
    &paths::SECTION,
    &RULES,
    &usage::SECTION,
    &agents::SECTION,
    &NORMALIZE,
    &WORKFLOW,
    &on_stall::SECTION,
    &advisor::SECTION,
    &fallback::SECTION,
    &notify::SECTION,
    &identity::SECTION,
];

static RULES: Section = Section {
    name: "rules",
    doc: "A level (off, note, warn, block, halt), a table of parameters, or both, for each rule.",
    contents: Contents::Rules,
};
static NORMALIZE: Section = Section {
    name: "normalize",
    doc: "Patterns masked in diffs and failures before they are compared, and in tool calls before they are shown; applied after the built-in ones.",
    contents: Contents::Patterns,
};
static WORKFLOW: Section = Section {
    name: "workflow",
    doc: "Nodes, and who hands over to whom. Without it there is one node, and only `iteration-cap` bounds a run.",
    contents: Contents::Workflow,
};

section! {
    guard "How the guard behaves."
    => struct Guard (PartialEq, Eq);
    ack: AckMode = Choice(words::<AckMode>),
        "What answers a halt: deleting its file (or `andon resume`), only `andon resume`, or only the signature of a witness.";
    ledger: Option<EntryId> = Entry,
        "The ledger whose witnesses answer halts, as `andon witness init` prints it. Goes with `ack = \"signed\"`.";
    applies_to: AppliesTo = Choice(words::<AppliesTo>),
        "Whose commits are refused; with `agents`, those of people are only recorded.";
    on_internal_error: OnInternalError = Choice(words::<OnInternalError>),
        "What a hook does when Andon itself fails: warn and let pass, or refuse.";
    perpetual: Perpetual = Switch(false),
        "Whether the loop is meant to run forever. Escalations and PAUSE then only warn; other halts still stop it.";
    session_gap: Span = Duration(range(MINUTE, 365 * DAY, 6 * HOUR)),
        "The pause after which a new run begins and counts restart.";
}

section! {
    test "How the tests are run."
    => struct TestSettings (PartialEq, Eq) with scopes: TestScopes;
    at_commit: AtCommit = Choice(words::<AtCommit>),
        "What a commit does whose tests did not run: it is refused, or the gate runs what is missing on what is committed.";
    command: Option<TestCommand> = Command,
        "What runs the tests: a text for `sh -c`, or a list of program and arguments.";
    format: Option<Format> = Format,
        "What output and reports are read as; \"auto\" recognises them, \"exit\" asks for the exit code alone and for no test by name.";
    full: FullRuns = Switch(false),
        "Whether a passing run of fewer tests than the last full one proves nothing; otherwise it warns.";
    handed_in: HandedInRuns = Choice(words::<HandedInRuns>),
        "What runs made elsewhere (`andon observe test_run`) are worth: only recorded, or as good as `andon test`.";
    known_red: Vec<String> = Texts,
        "Tests that were red before the loop began, by id: while they fail, they halt nothing. One that passes counts again.";
    max_reports: u64 = Count(&MAX_REPORTS),
        "Most report files of one run; with more it is incomplete. Four times as many files are looked at to find them.";
    reports: Vec<String> = Globs(""),
        "Report files that the command writes, as globs from the repository root.";
    runner: Option<Runner> = OptionalChoice(words::<Runner>),
        "The test runner. A command that is a list of arguments is then asked for a private report as well.";
    timeout: Option<Span> = Limit(range(1, 7 * DAY, 30 * MINUTE)),
        "How long the tests may run; \"none\" for no limit.";
}

section! {
    paths "Which paths are not code. Globs from the repository root; `*` stops at a slash, `**` does not."
    => struct PathSettings () with rules: PathRules;
    docs: Vec<String> = Globs(DOCS), "Documentation: a commit of nothing else needs no tests.";
    ignore: Vec<String> = Globs("**/*.log **/*.timestamp-*.mjs **/*.swp **/*~"), "Neither code nor documentation; wins over `docs`.";
    api: Vec<String> = Globs(""), "The declared API, whose changes should come with documentation.";
}

section! {
    agents "What calls of agents' tools mean.";
    waits: Vec<String> = Texts,
        "Commands that wait for something, word by word, such as \"make status\" or \"./deploy wait *\": to repeat one is no loop.";
}

section! {
    usage "What the token counts of your clients mean (`andon observe usage`).";
    cached: CachedTokens = Choice(words::<CachedTokens>),
        "Whether `input_tokens` already include the cached ones; for clients that report no `context_tokens`.";
}

section! {
    on_stall "What happens when a loop stalls, beside the halt.";
    policy: OnStall = Choice(words::<OnStall>),
        "Nothing more, a PAUSE, or a program: `command` is started with the halt as JSON on standard input.";
    command: Option<Vec<String>> = Program, "The program of spawn_reviewer and retry_with_new_provider.";
    timeout: Span = Duration(range(1, HOUR, 5 * MINUTE)), "How long that program may take.";
}

section! {
    advisor "The program asked when a loop is stuck. The question is in .andon/ADVISOR_PROMPT.md in any case.";
    command: Option<Vec<String>> = Program,
        "Gets the question on standard input; its answer is written to .andon/ADVISOR_ANSWER.md.";
    timeout: Span = Duration(range(1, HOUR, 2 * MINUTE)), "How long it may take.";
}

section! {
    fallback "The next provider when one gets no further; see `andon advise`.";
    providers: Vec<Provider> = Providers,
        "Names in order, each with the conditions that lead to it: \"NAME on failed_gate, context_exhausted, stop_event\".";
}

section! {
    notify "Who is notified when a loop halts or needs a person. .andon/notifications.jsonl gets a line in any case.";
    again: Option<Span> = Limit(range(MINUTE, 30 * DAY, 30 * MINUTE)),
        "After how long without an answer a halt is reported again, by the next hook, turn or `andon status --exit-code`.";
    bell: Bell = Switch(true), "Whether a terminal's bell rings.";
    command: Option<Vec<String>> = Program,
        "Gets the notice as JSON on standard input and has five seconds; its failure changes nothing.";
}

section! {
    identity "The agent's configuration, session and role. Enforced once something is pinned with `andon pin`.";
    files: Vec<String> = Globs("AGENTS.md CLAUDE.md GEMINI.md .claude/** .mcp.json"),
        "The files of the agent's own configuration.";
    checksum: Option<Digest> = Checksum,
        "The checksum of these files, as `andon pin` writes it; a commit with another is refused.";
    workflow_binding: Option<String> = Text, "The session (ANDON_SESSION) that every commit must carry.";
    authorized_roles: Vec<String> = Texts,
        "The nodes (ANDON_NODE, or as `[workflow]` recognises them) that may commit; empty for all.";
    pinned: BTreeMap<String, FileState> = Pinned,
        "The pinned files, so that a difference can be named; written by `andon pin`.";
}

/// The keys of a scope.
pub(super) static SCOPE_KEYS: &[Key] = keys! { "test.scopes";
    paths = Globs(""), "The scope's code, as globs from the repository root.";
    command = Command, "What runs the tests of this scope.";
    needs = Texts, "The scopes whose code these tests read too.";
    at = Choice(words::<ScopeAt>),
        "What asks for these tests: each commit that touches the scope, or only push, completion and check.";
    format = Format, "What output and reports of this scope are read as; without it, `test.format`.";
    reports = Globs(""), "Report files of this scope's command; in addition, `test.reports`.";
    timeout = Limit(range(1, 7 * DAY, 30 * MINUTE)),
        "How long these tests may run; without it, `test.timeout`.";
};

/// The words of [`Kind::Format`].
pub(super) fn formats() -> impl Iterator<Item = &'static str> + Clone {
    std::iter::once(AUTO).chain(Format::names())
}

/// The section that has a key of that name.
pub(super) fn section_with(name: &str) -> Option<&'static str> {
    let has = |section: &&&Section| match section.contents {
        Contents::Keys(keys) => keys.iter().any(|key| key.name == name),
        Contents::Rules | Contents::Patterns | Contents::Workflow => false,
    };
    SECTIONS.iter().find(has).map(|section| section.name)
}
